#include "qix_encode.h"

#include "qix_rank.h"
#include "qix_reader.h"

/* The parameters that range bounds are computed with; a reader with others widens them (qix_cursor.c). */
#define RANGE_K1 1.2
#define RANGE_B 0.75

struct qix_encoder {
    const qix_segment_plan *plan;
    qix_out out;
    qix_spool positions, terms, term_index, range_bounds;
    uint64_t postings_bytes;
    uint64_t term_count;
    bool postings_begun;
    double average;
    double norm_k[256];
    uint8_t key[QIX_KEY_BYTES_MAX], last_key[QIX_KEY_BYTES_MAX];
    uint32_t key_bytes, last_key_bytes;
    /* the list at hand */
    bool has_positions, with_lengths;
    uint32_t df;
    int64_t previous; /* last docid of the block before the open one */
    uint64_t positions_start;
    qix_block block; /* filled up to block.count */
    uint32_t counts[QIX_BLOCK];
    qix_bytes values;  /* uint32_t: positions of the open block */
    qix_bytes payload; /* closed blocks */
    qix_bytes last_docids, block_offsets, position_offsets, pairs, ranges;
    uint32_t list_tfs[256]; /* highest frequency at each length code of the list */
    double range_norm;      /* highest frequency part in the open range */
};

qix_status qix_encoder_new(const qix_segment_plan *plan, int fd, const char *folder, qix_encoder **ret_encoder,
                           qix_fault *fault)
{
    qix_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return qix_no_memory(fault);
    e->plan = plan;
    e->average = plan->doc_count ? (double)plan->total_length / plan->doc_count : 0.0;
    qix_norm_table(RANGE_K1, RANGE_B, e->average, e->norm_k);
    qix_spool_init(&e->positions, folder);
    qix_spool_init(&e->terms, folder);
    qix_spool_init(&e->term_index, folder);
    qix_spool_init(&e->range_bounds, folder);
    qix_status status = qix_out_open(&e->out, fd, fault);
    if (status) {
        qix_encoder_free(e);
        return status;
    }
    *ret_encoder = e;
    return QIX_OK;
}

void qix_encoder_free(qix_encoder *e)
{
    if (!e)
        return;
    qix_out_free(&e->out);
    qix_spool_free(&e->positions);
    qix_spool_free(&e->terms);
    qix_spool_free(&e->term_index);
    qix_spool_free(&e->range_bounds);
    qix_bytes *lists[] = {&e->values,           &e->payload, &e->last_docids, &e->block_offsets,
                          &e->position_offsets, &e->pairs,   &e->ranges};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        qix_bytes_free(lists[i]);
    free(e);
}

qix_status qix_encode_column_begin(qix_encoder *e, enum qix_section_id id, qix_fault *fault)
{
    return qix_out_begin(&e->out, id, fault);
}

qix_status qix_encode_column_add(qix_encoder *e, const uint8_t *data, uint64_t bytes, qix_fault *fault)
{
    return qix_out_write(&e->out, data, bytes, fault);
}

void qix_encode_column_end(qix_encoder *e, enum qix_section_id id)
{
    qix_out_end(&e->out, id);
}

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

static qix_status close_block(qix_encoder *e, qix_fault *fault)
{
    qix_block *block = &e->block;
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
    e->counts[i] = position_count;
    e->df++;
    if (e->list_tfs[code] < tf)
        e->list_tfs[code] = tf;
    double norm = tf / (tf + e->norm_k[code]);
    if (!step_range(e, docid))
        return qix_no_memory(fault);
    if (norm > e->range_norm)
        e->range_norm = norm;
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

/* A block of the dictionary begins: say where its key and its lists are. The list at hand is written, so step back. */
static qix_status add_term_index(qix_encoder *e, uint64_t list_bytes, qix_fault *fault)
{
    uint8_t record[QIX_TERM_INDEX_BYTES] = {0};
    memcpy(record, e->key, e->key_bytes < QIX_KEY_HEAD_BYTES ? e->key_bytes : QIX_KEY_HEAD_BYTES);
    qix_store_u64(record + 8, qix_spool_bytes(&e->terms));
    qix_store_u64(record + 16, e->postings_bytes - list_bytes);
    qix_store_u64(record + 24, e->positions_start);
    return qix_spool_write(&e->term_index, record, sizeof record, fault);
}

static qix_status add_term(qix_encoder *e, uint64_t list_bytes, qix_fault *fault)
{
    bool first = e->term_count % QIX_DICT_BLOCK == 0;
    qix_status status = first ? add_term_index(e, list_bytes, fault) : QIX_OK;
    uint32_t shared = 0;
    while (!first && shared < e->last_key_bytes && shared < e->key_bytes && e->key[shared] == e->last_key[shared])
        shared++;
    uint8_t entry[5 * QIX_VARINT64_BYTES + QIX_KEY_BYTES_MAX];
    size_t n = qix_put_varint(entry, shared);
    n += qix_put_varint(entry + n, e->key_bytes - shared);
    memcpy(entry + n, e->key + shared, e->key_bytes - shared);
    n += e->key_bytes - shared;
    n += qix_put_varint(entry + n, e->df);
    n += qix_put_varint(entry + n, list_bytes);
    n += qix_put_varint(entry + n, qix_spool_bytes(&e->positions) - e->positions_start);
    memcpy(e->last_key, e->key, e->key_bytes);
    e->last_key_bytes = e->key_bytes;
    e->term_count++;
    return status ? status : qix_spool_write(&e->terms, entry, n, fault);
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
    return status ? status : add_term(e, list_bytes, fault);
}

static void fill_header(const qix_encoder *e, uint8_t *header)
{
    const qix_segment_plan *plan = e->plan;
    qix_store_u32(header + 64, plan->analysis_version);
    qix_store_u32(header + 68, plan->doc_count);
    qix_store_u64(header + 72, plan->total_length);
    qix_store_u64(header + 80, e->term_count);
    qix_store_u32(header + 88, plan->has_positions ? QIX_HAS_POSITIONS : 0);
    for (uint32_t i = 0; i < QIX_FIELD_COUNT; i++)
        qix_store_u16(header + 96 + 2 * i, (uint16_t)plan->field_weights[i]);
    header[106] = QIX_RANGE_SHIFT;
    qix_store_double(header + 112, RANGE_K1);
    qix_store_double(header + 120, RANGE_B);
    qix_store_double(header + 128, e->average);
}

static void fill_info(const qix_encoder *e, qix_segment_info *ret)
{
    const qix_segment_plan *plan = e->plan;
    *ret = (qix_segment_info){
        .file_bytes = QIX_HEADER_BYTES + e->out.payload_bytes + e->out.digests.used,
        .total_length = plan->total_length,
        .term_count = e->term_count,
        .doc_count = plan->doc_count,
        .chunk_count = (uint32_t)(e->out.digests.used / QIX_DIGEST_BYTES),
        .analysis_version = plan->analysis_version,
        .has_positions = plan->has_positions,
    };
    memcpy(ret->field_weights, plan->field_weights, sizeof ret->field_weights);
}

qix_status qix_encode_finish(qix_encoder *e, bool sync, qix_segment_info *ret_info, qix_fault *fault)
{
    qix_status status = e->postings_begun ? QIX_OK : qix_out_begin(&e->out, QIX_POSTINGS, fault);
    qix_out_end(&e->out, QIX_POSTINGS);
    qix_spool *spools[] = {&e->positions, &e->terms, &e->term_index, &e->range_bounds};
    for (uint32_t i = 0; i < 4 && !status; i++)
        status = qix_spool_copy(spools[i], &e->out, (enum qix_section_id)(QIX_POSITIONS + i), fault);
    uint8_t header[QIX_HEADER_BYTES] = {0};
    fill_header(e, header);
    if (!status)
        status = qix_out_finish(&e->out, header, sync, fault);
    if (!status)
        fill_info(e, ret_info);
    return status;
}
