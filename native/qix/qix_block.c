#include "qix_block.h"

#include "qix_kernels.h"

/* A bitmap is tried up to this many bytes: 128 documents in a longer one are smaller packed. */
#define BITMAP_BYTES_MAX 64u
/* Blocks that reach over more documents leave the length codes to the document table, where the few that are scored are
 * looked up: that makes an index of pages 2 %, one of random text 5 % smaller. */
#define LENGTHS_SPAN_MAX (32 * (int64_t)QIX_BLOCK)

static bool add_packed(qix_bytes *out, const uint32_t values[QIX_BLOCK])
{
    if (!qix_bytes_reserve(out, QIX_PACKED_BYTES_MAX))
        return false;
    out->used += qix_pack(out->data + out->used, values, QIX_BLOCK, QIX_PACK_FAST);
    return true;
}

static void gaps_of(const qix_block *block, int64_t previous, uint32_t *ret_gaps)
{
    for (uint32_t i = 0; i < block->count; i++) {
        ret_gaps[i] = (uint32_t)(block->docids[i] - previous - 1);
        previous = block->docids[i];
    }
}

/* Append the documents as whichever of the two kinds is smaller; sets ret_kind. */
static bool add_docids(qix_bytes *out, int64_t previous, const qix_block *block, uint8_t *ret_kind)
{
    uint32_t gaps[QIX_BLOCK];
    gaps_of(block, previous, gaps);
    size_t start = out->used;
    if (!add_packed(out, gaps))
        return false;
    *ret_kind = QIX_BLOCK_PACKED;
    uint64_t bitmap_bytes = (uint64_t)(block->docids[QIX_BLOCK - 1] - previous + 7) / 8;
    if (bitmap_bytes > BITMAP_BYTES_MAX || bitmap_bytes + 2 >= out->used - start)
        return true;
    uint8_t bits[2 + BITMAP_BYTES_MAX] = {0};
    qix_store_u16(bits, (uint16_t)bitmap_bytes);
    for (uint32_t i = 0; i < QIX_BLOCK; i++) {
        uint32_t bit = (uint32_t)(block->docids[i] - previous - 1);
        bits[2 + bit / 8] = (uint8_t)(bits[2 + bit / 8] | 1u << bit % 8);
    }
    out->used = start;
    *ret_kind = QIX_BLOCK_BITMAP;
    return qix_bytes_add(out, bits, (size_t)bitmap_bytes + 2);
}

bool qix_block_encode(qix_bytes *out, int64_t previous, const qix_block *block, bool is_word)
{
    bool with_lengths = is_word && block->docids[QIX_BLOCK - 1] - previous <= LENGTHS_SPAN_MAX;
    uint32_t rest[QIX_BLOCK];
    uint8_t base = UINT8_MAX;
    for (uint32_t i = 0; i < QIX_BLOCK; i++)
        base = block->codes[i] < base ? (uint8_t)block->codes[i] : base;
    size_t start = out->used;
    uint8_t head[3] = {0, with_lengths ? QIX_BLOCK_LENGTHS : 0, with_lengths ? base : 0};
    if (!qix_bytes_add(out, head, sizeof head) || !add_docids(out, previous, block, &head[0]))
        return false;
    out->data[start] = head[0];
    for (uint32_t i = 0; i < QIX_BLOCK; i++)
        rest[i] = block->tfs[i] - 1;
    if (!add_packed(out, rest))
        return false;
    if (!with_lengths)
        return true;
    for (uint32_t i = 0; i < QIX_BLOCK; i++)
        rest[i] = block->codes[i] - base;
    return add_packed(out, rest);
}

/* A tail of QIX_PACK_MIN postings or more: two packed arrays. */
static bool encode_long_tail(qix_bytes *out, const qix_block *block, const uint32_t *gaps)
{
    uint32_t rest[QIX_BLOCK];
    for (uint32_t i = 0; i < block->count; i++)
        rest[i] = block->tfs[i] - 1;
    if (!qix_bytes_reserve(out, (size_t)2 * QIX_PACKED_BYTES_MAX))
        return false;
    out->used += qix_pack(out->data + out->used, gaps, block->count, QIX_PACK_FAST);
    out->used += qix_pack(out->data + out->used, rest, block->count, QIX_PACK_FAST);
    return true;
}

bool qix_tail_encode(qix_bytes *out, int64_t previous, const qix_block *block)
{
    uint32_t gaps[QIX_BLOCK];
    gaps_of(block, previous, gaps);
    if (block->count >= QIX_PACK_MIN)
        return encode_long_tail(out, block, gaps);
    for (uint32_t i = 0; i < block->count; i++) {
        bool once = block->tfs[i] == 1;
        if (!qix_bytes_add_varint(out, (uint64_t)gaps[i] << 1 | once))
            return false;
        if (!once && !qix_bytes_add_varint(out, block->tfs[i]))
            return false;
    }
    return true;
}

static const char *decode_bitmap(const qix_reader *r, int64_t previous, uint32_t *ret_docids)
{
    const uint8_t *bits = r->pos;
    uint64_t bytes = qix_left(r);
    uint32_t found = 0;
    for (uint64_t at = 0; at < bytes; at += 8) {
        uint8_t part[8] = {0};
        memcpy(part, bits + at, bytes - at < 8 ? bytes - at : 8);
        for (uint64_t word = qix_load_u64(part); word; word &= word - 1) {
            if (found == QIX_BLOCK)
                return "bitmap has more than 128 documents";
            ret_docids[found++] = (uint32_t)(previous + 1 + (int64_t)at * 8 + __builtin_ctzll(word));
        }
    }
    return found == QIX_BLOCK ? NULL : "bitmap has fewer than 128 documents";
}

/* Whether the highest docid that these gaps can lead to fits 32 bits, from their widths alone. */
static bool sum_fits(const qix_packed *packed, int64_t previous)
{
    return (uint64_t)(previous + 1) + QIX_BLOCK + qix_packed_sum_most(packed) <= UINT32_MAX;
}

static const char *decode_gaps(qix_reader r, int64_t previous, uint32_t doc_count, uint32_t *ret_docids)
{
    qix_packed packed;
    if (!qix_packed_open(&r, &packed) || !qix_packed_read(&packed, ret_docids))
        return "packed documents break the format";
    if (sum_fits(&packed, previous)) {
        qix_kernels()->sum_gaps(ret_docids, (uint32_t)(previous + 1));
    } else {
        int64_t docid = previous;
        for (uint32_t i = 0; i < QIX_BLOCK; i++) {
            docid += (int64_t)ret_docids[i] + 1;
            ret_docids[i] = (uint32_t)docid;
        }
        if (docid >= doc_count)
            return "docid is not below the document count";
    }
    /* Gaps are not negative, so that the last document bounds all. */
    return ret_docids[QIX_BLOCK - 1] < doc_count ? NULL : "docid is not below the document count";
}

/* The bytes of a block's docids: of a bitmap the bits alone. */
static bool find_docids(qix_reader *r, uint8_t kind, qix_reader *ret_docids)
{
    const uint8_t *start = r->pos, *head;
    qix_packed packed;
    if (kind == QIX_BLOCK_BITMAP) {
        if (!qix_read_bytes(r, 2, &head) || !qix_read_bytes(r, qix_load_u16(head), &start))
            return false;
    } else if (!qix_packed_open(r, &packed)) {
        return false;
    }
    *ret_docids = (qix_reader){start, r->pos};
    return true;
}

const char *qix_block_open(qix_reader *r, qix_block *ret_block)
{
    const uint8_t *head;
    if (!qix_read_bytes(r, 3, &head) || head[0] > QIX_BLOCK_BITMAP || head[1] > QIX_BLOCK_LENGTHS)
        return "unknown kind of block";
    ret_block->kind = head[0];
    if (!find_docids(r, head[0], &ret_block->packed_docids))
        return "docids of a block end too early";
    ret_block->count = QIX_BLOCK;
    ret_block->has_docids = false;
    ret_block->is_whole = false;
    ret_block->has_codes = head[1] == QIX_BLOCK_LENGTHS;
    ret_block->base = head[2];
    if (!qix_packed_open(r, &ret_block->packed_tfs))
        return "packed frequencies break the format";
    if (ret_block->has_codes && !qix_packed_open(r, &ret_block->packed_codes))
        return "packed length codes break the format";
    return r->pos == r->end ? NULL : "bytes follow a block";
}

const char *qix_block_docids(qix_block *block, int64_t previous, uint32_t doc_count)
{
    const char *reason = block->kind == QIX_BLOCK_BITMAP
                             ? decode_bitmap(&block->packed_docids, previous, block->docids)
                             : decode_gaps(block->packed_docids, previous, doc_count, block->docids);
    if (!reason && block->docids[QIX_BLOCK - 1] >= doc_count)
        reason = "docid is not below the document count";
    block->has_docids = !reason;
    return reason;
}

const char *qix_block_fill(qix_block *block)
{
    if (!qix_packed_read(&block->packed_tfs, block->tfs))
        return "packed frequencies break the format";
    uint32_t any = 0, is_zero = 0;
    for (uint32_t i = 0; i < QIX_BLOCK; i++) {
        uint32_t tf = block->tfs[i] + 1;
        is_zero |= tf == 0;
        any |= tf;
        block->tfs[i] = tf;
    }
    if (is_zero)
        return "frequency is above 2^32 - 1";
    block->any_tf = any;
    block->is_whole = true;
    if (!block->has_codes)
        return NULL;
    if (!qix_packed_read(&block->packed_codes, block->codes))
        return "packed length codes break the format";
    any = 0;
    for (uint32_t i = 0; i < QIX_BLOCK; i++) {
        uint32_t rest = block->codes[i], code = rest + block->base;
        any |= rest | code;
        block->codes[i] = code;
    }
    return any <= UINT8_MAX ? NULL : "length code is above 255";
}

uint32_t qix_block_tf(const qix_block *block, uint32_t i)
{
    return qix_packed_at(&block->packed_tfs, i) + 1;
}

uint8_t qix_block_code(const qix_block *block, uint32_t i)
{
    return (uint8_t)(qix_packed_at(&block->packed_codes, i) + block->base);
}

const char *qix_block_decode(qix_reader *r, int64_t previous, uint32_t doc_count, qix_block *ret_block)
{
    const char *reason = qix_block_open(r, ret_block);
    if (!reason)
        reason = qix_block_docids(ret_block, previous, doc_count);
    return reason ? reason : qix_block_fill(ret_block);
}

/* The gaps and frequencies of a tail block. */
static const char *read_tail(qix_reader *r, uint32_t count, qix_block *ret_block)
{
    if (count >= QIX_PACK_MIN) {
        if (!qix_unpack_rest(r, count, ret_block->docids) || !qix_unpack_rest(r, count, ret_block->tfs))
            return "packed tail block breaks the format";
        for (uint32_t i = 0; i < count; i++)
            if (++ret_block->tfs[i] == 0)
                return "frequency is above 2^32 - 1";
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word;
        if (!qix_read_varint(r, &word) || word >> 1 > UINT32_MAX)
            return "tail block ends too early";
        ret_block->docids[i] = (uint32_t)(word >> 1);
        ret_block->tfs[i] = 1;
        if (!(word & 1) && (!qix_read_varint32(r, &ret_block->tfs[i]) || ret_block->tfs[i] < 2))
            return "frequency breaks the format";
    }
    return NULL;
}

const char *qix_tail_decode(qix_reader *r, int64_t previous, uint32_t doc_count, uint32_t count, qix_block *ret_block)
{
    const char *reason = read_tail(r, count, ret_block);
    if (reason)
        return reason;
    int64_t docid = previous;
    uint32_t any_tf = 0;
    for (uint32_t i = 0; i < count; i++) {
        docid += 1 + (int64_t)ret_block->docids[i];
        if (docid >= doc_count)
            return "docid is not below the document count";
        ret_block->docids[i] = (uint32_t)docid;
        any_tf |= ret_block->tfs[i];
    }
    ret_block->count = count;
    ret_block->has_codes = false;
    ret_block->has_docids = true;
    ret_block->is_whole = true;
    ret_block->any_tf = any_tf;
    return r->pos == r->end ? NULL : "bytes follow a block";
}
