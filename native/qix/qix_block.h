/* Posting blocks and their positions: up to 128 postings between bytes and arrays (layouts in qix_format.h).
 *
 * Decoders give NULL, or the reason why the bytes are no block; what they wrote is then meaningless. */
#ifndef QIX_BLOCK_H
#define QIX_BLOCK_H

#include "qix_bytes.h"
#include "qix_format.h"
#include "qix_pack.h"
#include "qix_reader.h"

typedef struct {
    uint32_t docids[QIX_BLOCK];
    uint32_t tfs[QIX_BLOCK];
    uint32_t codes[QIX_BLOCK]; /* length codes; set by decoders only if has_codes */
    uint32_t count;
    bool has_codes;
    bool has_docids; /* they are decoded */
    bool is_whole;   /* tfs (and codes, if it has them) are decoded, not the docids alone */
    uint8_t kind;    /* of packed_docids */
    uint8_t base;    /* of the packed codes */
    uint32_t any_tf; /* all tfs or-ed: below 256 if no tf is above 255 */
    qix_reader packed_docids;
    qix_packed packed_tfs, packed_codes;
} qix_block;

/* `previous` is the last docid before the block, or -1. Docids ascend from there; tfs are at least 1. Blocks of words,
 * whose scores need lengths, get their codes where the documents are dense. */
bool qix_block_encode(qix_bytes *out, int64_t previous, const qix_block *block, bool is_word);
bool qix_tail_encode(qix_bytes *out, int64_t previous, const qix_block *block);

/* `doc_count` bounds the docids. The reader must hold the block and nothing else. qix_block_open finds where the
 * parts are; qix_block_docids decodes the docids, qix_block_fill the rest; qix_block_decode does all, and so does
 * qix_tail_decode. An open block points into the bytes. */
const char *qix_block_open(qix_reader *r, qix_block *ret_block);
const char *qix_block_docids(qix_block *block, int64_t previous, uint32_t doc_count);
const char *qix_block_fill(qix_block *block);
/* The frequency (0: the bytes break the format) and, if the block has codes, the length code of one posting of a block
 * that is not whole. */
uint32_t qix_block_tf(const qix_block *block, uint32_t i);
uint8_t qix_block_code(const qix_block *block, uint32_t i);
const char *qix_block_decode(qix_reader *r, int64_t previous, uint32_t doc_count, qix_block *ret_block);
const char *qix_tail_decode(qix_reader *r, int64_t previous, uint32_t doc_count, uint32_t count, qix_block *ret_block);

/* Impact pairs: (frequency, length code) such that each posting is covered by one. */
typedef struct {
    uint8_t tf; /* qix_tf_code.h */
    uint8_t code;
} qix_pair;

/* The pairs of some postings. Where more than QIX_PAIRS are needed, the two neighbours are joined that lose least with
 * `norm_k`, the K of each length code. */
void qix_pairs_of(const uint32_t *tfs, const uint32_t *codes, uint32_t count, const double norm_k[256],
                  qix_pair ret_pairs[QIX_PAIRS]);

/* Positions of a block. `counts` says how many values each posting has, `values` are all of them, ascending in a
 * posting. */
bool qix_positions_encode(qix_bytes *out, const qix_block *block, const uint32_t *counts, const uint32_t *values);

#endif
