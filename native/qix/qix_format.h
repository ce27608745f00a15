/* QIX, the file format of an index segment. This header is its description; docs refer here.
 *
 * A segment is one immutable file. All integers are little endian. Offsets named "payload" count from the end of the
 * header, all others say from where. The file is: header, payload (sections one after the other), digest table.
 *
 * HEADER (QIX_HEADER_BYTES)
 *   offset size  meaning
 *        0    8  magic: 51 49 58 0D 0A 1A 0A 00 ("QIX", then bytes that a text conversion would change)
 *        8    4  format version, QIX_FORMAT_VERSION
 *       12    4  header bytes, QIX_HEADER_BYTES
 *       16    8  file bytes, as a whole
 *       24    8  payload bytes
 *       32   32  root digest: SHA-256 of this header with the root digest as zeros, then the digest table
 *       64    4  analysis version (qix_text.h) of the terms
 *       68    4  document count n, below 2^32 - 1
 *       72    8  total length: the sum of section LENGTHS
 *       80    8  term count, all namespaces
 *       88    4  flags: QIX_HAS_POSITIONS
 *       92    4  chunk count: ceil(payload bytes / QIX_CHUNK_BYTES)
 *       96   10  weights of the five fields, 2 bytes each, in the order of qix_field
 *      106    1  range shift: a range bound covers 2^shift documents
 *      107    1  zero
 *      108    4  section count, QIX_SECTION_COUNT
 *      112   24  k1, b and average length with which the range bounds were computed, as IEEE doubles
 *      136   56  zero
 *      192  ...  section table, one entry of QIX_SECTION_ENTRY_BYTES each, ascending ids:
 *                id (4), zero (4), file offset (8, a multiple of QIX_SECTION_ALIGN), bytes (8)
 *      ...       zeros to the end of the header
 *
 * Between sections lie zeros, fewer than QIX_SECTION_ALIGN. The payload is hashed in chunks of QIX_CHUNK_BYTES (the
 * last may be shorter); the digest table holds the SHA-256 of each, 32 bytes a chunk, and ends the file.
 *
 * DOCUMENT TABLE: one section a column, n entries each, indexed by docid
 *   PAGE_IDS 8, strictly distinct        LENGTHS 4, weighted length      ORIGINS 4
 *   PAGE_ORDER 4: docids by page id      LENGTH_CODES 1 (qix_length.h)   LANGUAGES 2, (first letter << 8) | second, or
 * 0 STATIC_RANKS 2                       DATES 8, signed unix seconds    FLAGS 2
 *
 * TERM DICTIONARY. A key is one byte of namespace and the term's bytes; keys ascend bytewise. TERMS holds blocks of
 * QIX_DICT_BLOCK keys (the last may be shorter). An entry is
 *   varint shared (bytes in common with the key before it; 0 for the first of a block), varint suffix bytes, suffix,
 *   varint df (>= 1), varint posting bytes, varint position bytes
 * A varint is 7 bits a byte, lowest first, the top bit set on all but the last byte. The lists lie in key order, so a
 * list's offset is the block's base plus the sizes before it. TERM_INDEX has QIX_TERM_INDEX_BYTES a block:
 *   first 8 bytes of the block's first key (zero filled), then three 8-byte offsets into TERMS, POSTINGS, POSITIONS
 *
 * POSTINGS. A list of df < QIX_BLOCK is one tail block. A longer one, with m = ceil(df / QIX_BLOCK) blocks, is
 *   list header (QIX_LIST_HEADER_BYTES):
 *     0  8  impact pairs of the whole list
 *     8  6  for k = 10, 100 and 1000, 2 bytes each: a number h such that at least k postings of the list have a
 *           frequency part tf / (tf + K) of at least h / 65535 with the k1, b and average of the header; 0: none is known
 *    14  1  1 if the list has range bounds
 *    15  1  zero
 *    16  8  offset of the range bounds in RANGE_BOUNDS, or 0
 *    24  8  zero
 *   m x 4  last docid of each block
 *   m x 4  offset of each block from the start of the list
 *   m x 4  offset of each block's positions from the start of the list's positions (0 without positions)
 *   m x 8  impact pairs of each block
 *   the blocks: QIX_BLOCK postings each, then a tail block if df is not a multiple
 * Impact pairs are QIX_PAIRS x (frequency, length code), 1 byte each. Every posting covered has a frequency <= and a
 * length code >= those of at least one pair, so the best score of the pairs bounds the block under any average length.
 * The frequency is a code: below 128 itself; from there (8 + code % 8) << ((code - 128) / 8 + 4), rounded up; 255 stands
 * for any. Unused pairs repeat the first.
 *
 * A full block: kind (1: QIX_BLOCK_PACKED or QIX_BLOCK_BITMAP), flags (1: QIX_BLOCK_LENGTHS), base length code (1);
 *   gaps: a packed array of docid - previous docid - 1 (previous of the list's first: -1, so that its gap is its
 * docid); or, in a bitmap, bytes (2) and bits: bit i is docid previous + 1 + i, previous being the block's before this
 * one frequencies - 1: packed array with QIX_BLOCK_LENGTHS: length codes - base: packed array. A block without is scored with
 * LENGTH_CODES. A tail block, of t postings: if t < QIX_PACK_MIN, t times varint (gap << 1 | (frequency == 1)), and
 * unless the bit is set, varint frequency; else a packed array of gaps and one of frequencies - 1.
 *
 * A packed array of c values, QIX_PACK_MIN to 128: width w (1, at most 32), exception count e (1, at most c), if e > 0
 * the width h of high parts (1, at most 32 - w); the body: the low w bits of each value; e indexes (1 each, ascending);
 * the high parts of the values at these indexes, which lie above the low bits, h bits each. Bits follow each other,
 * lowest first, and end in a whole byte. But the body of 128 values is w groups of four 32-bit words: value i lies in
 * lane i % 4, at bit (i / 4) * w of the lane, where a lane is the words of that place in all groups.
 *
 * POSITIONS of a block of t postings: flags (1: QIX_POSITIONS_COUNTS); with it, how many positions each posting has (a
 * sequence), else that is the frequency. Then, as one sequence of all postings: of each the first position, then
 * differences - 1. In a sequence each 128 values are a packed array, and so is the rest, of fewer than 128, unless it
 * is of fewer than QIX_PACK_MIN, which are varints. A
 * position is (slot << QIX_POSITION_BITS) | word, slot 0 for the body and field + 1 for the others.
 *
 * RANGE_BOUNDS of a list: ceil(n / 2^shift) bytes; byte q: no document of the range has a frequency part tf / (tf + K)
 * above q / 255 with the k1, b and average of the header; 0: the list has no document there.
 *
 * EXAMPLE. The tail block of a list with docids 3, 4, 9 and frequencies 1, 5, 1: gaps 3, 0, 4, hence
 *   07 (3 << 1 | 1), 00 05 (0 << 1, then 5), 09 (4 << 1 | 1). The header of a file begins
 *   51 49 58 0D 0A 1A 0A 00  05 00 00 00  00 10 00 00.
 *
 * HISTORY
 *   4  the first version that jird wrote
 *   5  the k-th best of a list is a frequency part, no longer a pair, and is filled in; packed arrays have high parts
 *      for exceptions, and may have fewer than 128 values, which tail blocks and the rest of positions use; blocks
 *      without length codes may be of words; frequencies of pairs above 127 are codes */
#ifndef QIX_FORMAT_H
#define QIX_FORMAT_H

#define QIX_MAGIC "QIX\r\n\x1a\n"
#define QIX_HEADER_BYTES 4096u
#define QIX_ROOT_OFFSET 32u
#define QIX_SECTION_TABLE_OFFSET 192u
#define QIX_SECTION_ENTRY_BYTES 24u
#define QIX_SECTION_ALIGN 64u
#define QIX_CHUNK_BYTES (1u << 20)
#define QIX_DIGEST_BYTES 32u

#define QIX_HAS_POSITIONS 1u

#define QIX_BLOCK 128u
/* Fewer values than this are varints. */
#define QIX_PACK_MIN 8u
#define QIX_PAIRS 4u
#define QIX_LIST_HEADER_BYTES 32u
#define QIX_BLOCK_SUMMARY_BYTES 20u /* three offsets of 4 and the pairs */
#define QIX_BLOCK_PACKED 0u
#define QIX_BLOCK_BITMAP 1u
#define QIX_BLOCK_LENGTHS 1u
#define QIX_POSITIONS_COUNTS 1u
#define QIX_POSITION_BITS 20u

#define QIX_DICT_BLOCK 16u
#define QIX_TERM_INDEX_BYTES 32u
#define QIX_KEY_HEAD_BYTES 8u
/* A namespace byte and a term of the tokenizer's longest. */
#define QIX_KEY_BYTES_MAX 513u

/* 1,024 documents a range: few enough bytes that a scan of them costs less than decoding one block. */
#define QIX_RANGE_SHIFT 10u
/* Lists shorter than this have no range bounds: their blocks' pairs say the same for fewer bytes. */
#define QIX_RANGE_DF_MIN 1024u
#define QIX_RANGE_ONE 255.0

/* The k whose k-th best frequency part a list header has, where, and what stands for 1. */
#define QIX_KTH_COUNT 3u
#define QIX_KTH_OFFSET 8u
#define QIX_KTH_ONE 65535.0
static const unsigned qix_kth_k[QIX_KTH_COUNT] = {10, 100, 1000};

enum qix_section_id {
    QIX_PAGE_IDS = 1,
    QIX_PAGE_ORDER,
    QIX_LENGTHS,
    QIX_LENGTH_CODES,
    QIX_STATIC_RANKS,
    QIX_ORIGINS,
    QIX_LANGUAGES,
    QIX_DATES,
    QIX_FLAGS,
    QIX_POSTINGS,
    QIX_POSITIONS,
    QIX_TERMS,
    QIX_TERM_INDEX,
    QIX_RANGE_BOUNDS,
    QIX_SECTION_END
};
#define QIX_SECTION_COUNT ((unsigned)QIX_SECTION_END - 1u)

#endif
