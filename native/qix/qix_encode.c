/* What a segment has once: the document table, the dictionary, the header. Lists are in qix_encode_list.c. */
#include "qix_encoder.h"
#include "qix_rank.h"
#include "qix_reader.h"

/* The parameters that range bounds are computed with; a reader with others widens them (qix_cursor.c). */
#define RANGE_K1 1.2
#define RANGE_B 0.75

qix_status qix_encoder_new(const qix_segment_plan *plan, int fd, const char *folder, qix_encoder **ret_encoder,
                           qix_fault *fault)
{
    qix_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return qix_no_memory(fault);
    e->plan = plan;
    e->average = plan->doc_count ? (double)plan->total_length / plan->doc_count : 0.0;
    qix_norm_table(RANGE_K1, RANGE_B, e->average, e->norm_k);
    qix_spool_init(&e->positions, folder, plan->pace);
    qix_spool_init(&e->terms, folder, plan->pace);
    qix_spool_init(&e->term_index, folder, plan->pace);
    qix_spool_init(&e->range_bounds, folder, plan->pace);
    qix_status status = qix_out_open(&e->out, fd, plan->pace, fault);
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

qix_status qix_encoder_add_term(qix_encoder *e, uint64_t list_bytes, qix_fault *fault)
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
