/* Posting lists on their way into a segment: postings collect into blocks, blocks into a list. */
#include "qix_encoder.h"
#include "qix_rank.h"
#include "qix_reader.h"

qix_status qix_encode_list_begin(qix_encoder *e, const uint8_t *key, uint32_t key_bytes, qix_fault *fault)
{
    if (!e->postings_begun) {
        e->postings_begun = true;
        qix_status status = qix_out_begin(&e->out, QIX_POSTINGS, fault);
        if (status)
            return status;
    }
    memcpy(e->key, key, key_bytes);
    e->key_bytes = key_bytes;
    /* Namespace 0 is the words of the text; keywords are once in a document and nowhere. */
    e->with_lengths = key[0] == 0;
    e->has_positions = e->plan->has_positions && key[0] == 0;
    e->df = 0;
    e->previous = -1;
    e->positions_start = qix_spool_bytes(&e->positions);
    e->block.count = 0;
    e->range_norm = 0.0;
    e->values.used = e->payload.used = e->ranges.used = e->pairs.used = 0;
    e->last_docids.used = e->block_offsets.used = e->position_offsets.used = 0;
    memset(e->list_tfs, 0, sizeof e->list_tfs);
    return QIX_OK;
}

static bool add_u32(qix_bytes *bytes, uint64_t value)
{
    uint8_t raw[4];
    qix_store_u32(raw, (uint32_t)value);
    return value <= UINT32_MAX && qix_bytes_add(bytes, raw, sizeof raw);
}

static bool add_pairs(qix_bytes *bytes, const qix_pair pairs[QIX_PAIRS])
{
    uint8_t raw[2 * QIX_PAIRS];
    for (uint32_t i = 0; i < QIX_PAIRS; i++) {
        raw[2 * i] = pairs[i].tf;
        raw[2 * i + 1] = pairs[i].code;
    }
    return qix_bytes_add(bytes, raw, sizeof raw);
}

/* Write the open block's positions. Their encoding goes through e->payload's end, which is cut back. */
static qix_status close_positions(qix_encoder *e, qix_fault *fault)
{
    size_t start = e->payload.used;
    if (!qix_positions_encode(&e->payload, &e->block, e->counts, (const uint32_t *)(const void *)e->values.data))
        return qix_no_memory(fault);
    size_t bytes = e->payload.used - start;
    e->payload.used = start;
    e->values.used = 0;
    return qix_spool_write(&e->positions, e->payload.data + start, bytes, fault);
}

/* A little below the number of steps, so that rounding never lifts a part into the step above it. */
#define NORM_STEPS_BELOW ((QIX_NORM_STEPS - 1) * (1.0 - 1e-12))

/* A list of one tail block has no k-th best, so that it is not counted. */
static void count_norms(qix_encoder *e)
{
    if (e->df < QIX_BLOCK)
        return;
    if (e->df == QIX_BLOCK)
        memset(e->norm_counts, 0, sizeof e->norm_counts);
    for (uint32_t i = 0; i < e->block.count; i++)
        e->norm_counts[(uint32_t)(e->norms[i] * NORM_STEPS_BELOW)]++;
}

/* The k-th best frequency part of the list, rounded down to what the list header can say; 0 if it has fewer. */
static uint16_t kth_best(const qix_encoder *e, uint32_t k)
{
    uint32_t step = QIX_NORM_STEPS, found = 0;
    while (step > 0 && found < k)
        found += e->norm_counts[--step];
    double norm = found < k ? 0.0 : (double)step / (QIX_NORM_STEPS - 1);
    return (uint16_t)(norm * QIX_KTH_ONE);
}

static qix_status close_block(qix_encoder *e, qix_fault *fault)
{
    qix_block *block = &e->block;
    count_norms(e);
    uint64_t positions_at = e->has_positions ? qix_spool_bytes(&e->positions) - e->positions_start : 0;
    qix_pair pairs[QIX_PAIRS];
    qix_pairs_of(block->tfs, block->codes, block->count, e->norm_k, pairs);
    if (e->payload.used > UINT32_MAX || positions_at > UINT32_MAX)
        return qix_fail(fault, QIX_ERR_LIMIT, 0, "a posting list is larger than 4 GiB; write smaller segments");
    if (!add_u32(&e->last_docids, block->docids[block->count - 1]) || !add_u32(&e->block_offsets, e->payload.used) ||
        !add_u32(&e->position_offsets, positions_at) || !add_pairs(&e->pairs, pairs))
        return qix_no_memory(fault);
    bool done = block->count == QIX_BLOCK ? qix_block_encode(&e->payload, e->previous, block, e->with_lengths)
                                          : qix_tail_encode(&e->payload, e->previous, block);
    if (!done)
        return qix_no_memory(fault);
    qix_status status = e->has_positions ? close_positions(e, fault) : QIX_OK;
    e->previous = block->docids[block->count - 1];
    block->count = 0;
    return status;
}

/* The smallest byte whose bound is not below the highest part; 0 only for a range without documents. */
static uint8_t range_byte(double norm)
{
    double scaled = ceil(norm * QIX_RANGE_ONE);
    uint32_t byte = scaled < 1.0 ? 1 : scaled > QIX_RANGE_ONE ? (uint32_t)QIX_RANGE_ONE : (uint32_t)scaled;
    while (byte < 255 && byte / QIX_RANGE_ONE < norm)
        byte++;
    return norm > 0.0 ? (uint8_t)byte : 0;
}

/* Bring e->ranges up to the range of `docid`: bytes of the ranges before it are final. */
static bool step_range(qix_encoder *e, uint32_t docid)
{
    uint64_t range = docid >> QIX_RANGE_SHIFT;
    while (e->ranges.used < range) {
        uint8_t byte = range_byte(e->range_norm);
        if (!qix_bytes_add(&e->ranges, &byte, 1))
            return false;
        e->range_norm = 0.0;
    }
    return true;
}

qix_status qix_encode_posting(qix_encoder *e, uint32_t docid, uint32_t tf, const uint32_t *positions,
                              uint32_t position_count, qix_fault *fault)
{
    qix_block *block = &e->block;
    uint32_t i = block->count++;
    uint8_t code = e->plan->length_codes[docid];
    block->docids[i] = docid;
    block->tfs[i] = tf;
    block->codes[i] = code;
    e->norms[i] = tf / (tf + e->norm_k[code]);
    e->counts[i] = position_count;
    e->df++;
    if (e->list_tfs[code] < tf)
        e->list_tfs[code] = tf;
    if (!step_range(e, docid))
        return qix_no_memory(fault);
    if (e->norms[i] > e->range_norm)
        e->range_norm = e->norms[i];
    if (e->has_positions && !qix_bytes_add(&e->values, positions, position_count * sizeof *positions))
        return qix_no_memory(fault);
    return block->count == QIX_BLOCK ? close_block(e, fault) : QIX_OK;
}

static qix_status write_postings(qix_encoder *e, const void *data, size_t bytes, qix_fault *fault)
{
    e->postings_bytes += bytes;
    return qix_out_write(&e->out, data, bytes, fault);
}

/* Whether the list's range bounds are worth their bytes, and if so their offset. */
static qix_status add_range_bounds(qix_encoder *e, bool *ret_has, uint64_t *ret_offset, qix_fault *fault)
{
    uint64_t ranges = ((uint64_t)e->plan->doc_count + (1u << QIX_RANGE_SHIFT) - 1) >> QIX_RANGE_SHIFT;
    *ret_has = e->df >= QIX_RANGE_DF_MIN && e->df >= 4 * ranges;
    *ret_offset = 0;
    if (!*ret_has)
        return QIX_OK;
    *ret_offset = qix_spool_bytes(&e->range_bounds);
    if (!step_range(e, e->plan->doc_count - 1))
        return qix_no_memory(fault);
    uint8_t byte = range_byte(e->range_norm);
    if (!qix_bytes_add(&e->ranges, &byte, 1))
        return qix_no_memory(fault);
    return qix_spool_write(&e->range_bounds, e->ranges.data, e->ranges.used, fault);
}

static void list_pairs(const qix_encoder *e, qix_pair ret_pairs[QIX_PAIRS])
{
    uint32_t tfs[256], codes[256], count = 0;
    for (uint32_t code = 0; code < 256; code++)
        if (e->list_tfs[code]) {
            tfs[count] = e->list_tfs[code];
            codes[count++] = code;
        }
    qix_pairs_of(tfs, codes, count, e->norm_k, ret_pairs);
}

static qix_status write_long_list(qix_encoder *e, uint64_t *ret_bytes, qix_fault *fault)
{
    uint8_t head[QIX_LIST_HEADER_BYTES] = {0};
    qix_pair pairs[QIX_PAIRS];
    bool has_ranges;
    uint64_t ranges_at;
    qix_status status = add_range_bounds(e, &has_ranges, &ranges_at, fault);
    list_pairs(e, pairs);
    for (uint32_t i = 0; i < QIX_PAIRS; i++) {
        head[2 * i] = pairs[i].tf;
        head[2 * i + 1] = pairs[i].code;
    }
    for (uint32_t i = 0; i < QIX_KTH_COUNT; i++)
        qix_store_u16(head + QIX_KTH_OFFSET + 2 * i, kth_best(e, qix_kth_k[i]));
    head[14] = has_ranges;
    qix_store_u64(head + 16, ranges_at);
    size_t blocks = e->last_docids.used / 4;
    uint64_t before = QIX_LIST_HEADER_BYTES + (uint64_t)QIX_BLOCK_SUMMARY_BYTES * blocks;
    if (before + e->payload.used > UINT32_MAX)
        return qix_fail(fault, QIX_ERR_LIMIT, 0, "a posting list is larger than 4 GiB; write smaller segments");
    for (size_t i = 0; i < blocks; i++) {
        uint8_t *at = e->block_offsets.data + 4 * i;
        qix_store_u32(at, qix_load_u32(at) + (uint32_t)before);
    }
    const qix_bytes parts[] = {{.data = head, .used = sizeof head},
                               e->last_docids,
                               e->block_offsets,
                               e->position_offsets,
                               e->pairs,
                               e->payload};
    *ret_bytes = before + e->payload.used;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
        status = write_postings(e, parts[i].data, parts[i].used, fault);
    return status;
}

qix_status qix_encode_list_end(qix_encoder *e, qix_fault *fault)
{
    if (e->df == 0)
        return QIX_OK;
    qix_status status = e->block.count > 0 ? close_block(e, fault) : QIX_OK;
    uint64_t list_bytes = e->payload.used;
    if (!status)
        status = e->df < QIX_BLOCK ? write_postings(e, e->payload.data, e->payload.used, fault)
                                   : write_long_list(e, &list_bytes, fault);
    return status ? status : qix_encoder_add_term(e, list_bytes, fault);
}
