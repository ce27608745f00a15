/* Merging: the live documents of several segments become one. Postings stream from the inputs to the encoder, a block
 * of each at a time; nothing is tokenised again. Memory is 30 bytes a document and the summaries of the longest list.
 */
#include "qix_merge.h"

#include <stdlib.h>

#include "qix_columns.h"
#include "qix_length.h"
#include "qix_order.h"

typedef struct {
    qix_merge_part *parts;
    uint32_t part_count;
    uint32_t doc_count; /* live */
    uint64_t *refs;     /* of each new docid: part << 32 | docid */
    uint8_t *codes;
    qix_segment_plan plan;
    qix_pace pace;
    uint32_t unpaced; /* postings since the last step */
    qix_encoder *encoder;
} merger;

/* Postings between two steps of the pace: a millisecond or less. */
#define STEP_POSTINGS 4096u

static uint32_t ref_part(uint64_t ref)
{
    return (uint32_t)(ref >> 32);
}

static uint32_t ref_docid(uint64_t ref)
{
    return (uint32_t)ref;
}

static qix_status at_part(qix_status status, uint32_t part, qix_fault *fault)
{
    if (status && fault)
        fault->part = part;
    return status;
}

/* The document table is read at random and without further checks: hash it first. */
static qix_status need_columns(const qix_segment *segment, qix_fault *fault)
{
    qix_status status = QIX_OK;
    for (uint32_t id = QIX_PAGE_IDS; id <= QIX_FLAGS && !status; id++)
        status = qix_need_section(segment, (enum qix_section_id)id, fault);
    return status;
}

static bool is_like(const qix_segment_info *a, const qix_segment_info *b)
{
    return a->analysis_version == b->analysis_version && a->has_positions == b->has_positions &&
           memcmp(a->field_weights, b->field_weights, sizeof a->field_weights) == 0;
}

static qix_status open_parts(merger *m, const qix_part *parts, qix_fault *fault)
{
    for (uint32_t i = 0; i < m->part_count; i++) {
        qix_merge_part *part = &m->parts[i];
        part->segment = parts[i].segment;
        part->tombstones = parts[i].tombstones;
        if (!is_like(&part->segment->info, &parts[0].segment->info))
            return qix_fail(fault, QIX_ERR_ARGUMENT, 0,
                            "segments differ in field weights, positions or analysis version");
        qix_status status = at_part(need_columns(part->segment, fault), i, fault);
        if (status)
            return status;
        uint32_t docs = part->segment->info.doc_count;
        part->new_docids = malloc(((size_t)docs + 1) * sizeof *part->new_docids);
        if (!part->new_docids)
            return qix_no_memory(fault);
        uint64_t live = m->doc_count;
        for (uint32_t docid = 0; docid < docs; docid++)
            live += !(part->tombstones && part->tombstones[docid / 8] >> (docid % 8) & 1);
        if (live >= UINT32_MAX)
            return qix_fail(fault, QIX_ERR_LIMIT, 0, "a segment holds fewer than 2^32 documents");
        m->doc_count = (uint32_t)live;
    }
    return QIX_OK;
}

static bool by_origin(const void *context, uint64_t a, uint64_t b)
{
    const merger *m = context;
    const qix_segment *x = m->parts[ref_part(a)].segment, *y = m->parts[ref_part(b)].segment;
    uint32_t x_origin = qix_load_u32(x->section[QIX_ORIGINS] + 4 * (uint64_t)ref_docid(a));
    uint32_t y_origin = qix_load_u32(y->section[QIX_ORIGINS] + 4 * (uint64_t)ref_docid(b));
    if (x_origin != y_origin)
        return x_origin < y_origin;
    return qix_page_of(x, ref_docid(a)) <= qix_page_of(y, ref_docid(b));
}

/* Collect the live documents and put them in order. */
static qix_status order_documents(merger *m, uint32_t order, qix_fault *fault)
{
    uint64_t *scratch = malloc(((size_t)m->doc_count + 1) * sizeof *scratch);
    m->refs = malloc(((size_t)m->doc_count + 1) * sizeof *m->refs);
    m->codes = malloc((size_t)m->doc_count + 1);
    if (!scratch || !m->refs || !m->codes) {
        free(scratch);
        return qix_no_memory(fault);
    }
    uint32_t live = 0;
    for (uint32_t i = 0; i < m->part_count; i++)
        for (uint32_t docid = 0; docid < m->parts[i].segment->info.doc_count; docid++) {
            const uint8_t *dead = m->parts[i].tombstones;
            m->parts[i].new_docids[docid] = QIX_DEAD;
            if (!(dead && dead[docid / 8] >> (docid % 8) & 1))
                m->refs[live++] = (uint64_t)i << 32 | docid;
        }
    if (order == QIX_ORDER_ORIGIN)
        qix_sort_refs(m->refs, scratch, m->doc_count, by_origin, m);
    free(scratch);
    return QIX_OK;
}

/* Give each live document its new docid and see which parts keep their order. */
static void number_documents(merger *m)
{
    for (uint32_t docid = 0; docid < m->doc_count; docid++) {
        const qix_merge_part *part = &m->parts[ref_part(m->refs[docid])];
        uint32_t old = ref_docid(m->refs[docid]);
        uint32_t length = qix_load_u32(part->segment->section[QIX_LENGTHS] + 4 * (uint64_t)old);
        part->new_docids[old] = docid;
        m->codes[docid] = qix_length_encode(length);
        m->plan.total_length += length;
    }
    for (uint32_t i = 0; i < m->part_count; i++) {
        qix_merge_part *part = &m->parts[i];
        int64_t last = -1;
        part->keeps_order = true;
        for (uint32_t old = 0; old < part->segment->info.doc_count; old++) {
            if (part->new_docids[old] == QIX_DEAD)
                continue;
            part->keeps_order = part->keeps_order && part->new_docids[old] > last;
            last = part->new_docids[old];
        }
    }
}

static qix_document row_of(const void *context, uint32_t docid)
{
    const merger *m = context;
    qix_document row = {0};
    /* Cannot fail: the columns have been hashed and the docid is one of the segment's. */
    qix_get_document(m->parts[ref_part(m->refs[docid])].segment, ref_docid(m->refs[docid]), &row, NULL);
    return row;
}

static int compare_keys(const qix_term_walk *a, const qix_term_walk *b)
{
    int order = memcmp(a->key, b->key, a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes);
    return order ? order : (a->key_bytes > b->key_bytes) - (a->key_bytes < b->key_bytes);
}

/* The parts whose key is the lowest; gives how many, 0 at the end of all dictionaries. */
static uint32_t lowest_key(merger *m, uint32_t *ret_members)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->part_count; i++) {
        if (!m->parts[i].has_key)
            continue;
        int order = count ? compare_keys(&m->parts[i].walk, &m->parts[ret_members[0]].walk) : 0;
        if (order < 0)
            count = 0;
        if (order <= 0)
            ret_members[count++] = i;
    }
    return count;
}

/* Hand the postings of one key to the encoder, lowest new docid first. */
static qix_status merge_postings(merger *m, const uint32_t *members, uint32_t count, qix_fault *fault)
{
    for (;;) {
        uint32_t lowest = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++) {
            const qix_merge_part *part = &m->parts[members[i]];
            if (part->has_row && (lowest == UINT32_MAX || part->row.docid < m->parts[lowest].row.docid))
                lowest = members[i];
        }
        if (lowest == UINT32_MAX)
            return QIX_OK;
        qix_merge_part *part = &m->parts[lowest];
        qix_status status = qix_encode_posting(m->encoder, part->row.docid, part->row.tf, qix_merge_positions(part),
                                               part->row.position_count, fault);
        if (!status)
            status = at_part(qix_merge_list_next(part, fault), lowest, fault);
        if (!status && ++m->unpaced == STEP_POSTINGS) {
            m->unpaced = 0;
            status = qix_pace_step(&m->pace, 0, fault);
        }
        if (status)
            return status;
    }
}

static qix_status merge_key(merger *m, const uint32_t *members, uint32_t count, qix_fault *fault)
{
    const qix_term_walk *walk = &m->parts[members[0]].walk;
    qix_status status = qix_encode_list_begin(m->encoder, walk->key, walk->key_bytes, fault);
    for (uint32_t i = 0; i < count && !status; i++)
        status = at_part(qix_merge_list_open(&m->parts[members[i]], fault), members[i], fault);
    if (!status)
        status = merge_postings(m, members, count, fault);
    if (!status)
        status = qix_encode_list_end(m->encoder, fault);
    for (uint32_t i = 0; i < count && !status; i++) {
        qix_merge_part *part = &m->parts[members[i]];
        qix_pace_progress(&m->pace, part->walk.term.postings_bytes + part->walk.term.positions_bytes);
        status = at_part(qix_terms_next(&part->walk, &part->has_key, fault), members[i], fault);
    }
    return status;
}

static qix_status merge_terms(merger *m, qix_fault *fault)
{
    uint32_t *members = malloc((m->part_count + 1) * sizeof *members);
    if (!members)
        return qix_no_memory(fault);
    qix_status status = QIX_OK;
    for (uint32_t i = 0; i < m->part_count && !status; i++) {
        qix_merge_part *part = &m->parts[i];
        status = at_part(qix_terms_seek(part->segment, (const uint8_t *)"", 0, &part->walk, &part->has_key, fault), i,
                         fault);
    }
    for (uint32_t count; !status && (count = lowest_key(m, members)) > 0;)
        status = merge_key(m, members, count, fault);
    free(members);
    return status;
}

static qix_status run_merge(merger *m, const qix_part *parts, int fd, const char *folder, uint32_t order, bool sync,
                            qix_segment_info *ret_info, qix_fault *fault)
{
    qix_status status = open_parts(m, parts, fault);
    if (!status)
        status = order_documents(m, order, fault);
    if (status)
        return status;
    number_documents(m);
    const qix_segment_info *like = &parts[0].segment->info;
    m->plan.doc_count = m->doc_count;
    m->plan.analysis_version = like->analysis_version;
    m->plan.has_positions = like->has_positions;
    m->plan.length_codes = m->codes;
    m->plan.pace = &m->pace;
    memcpy(m->plan.field_weights, like->field_weights, sizeof m->plan.field_weights);
    status = qix_encoder_new(&m->plan, fd, folder, &m->encoder, fault);
    if (!status)
        status = qix_write_columns(m->encoder, m->doc_count, row_of, m, fault);
    if (!status)
        status = merge_terms(m, fault);
    return status ? status : qix_encode_finish(m->encoder, sync, ret_info, fault);
}

/* Whatever came of it, a part that lost bytes meanwhile is what is wrong. */
static qix_status settle_parts(const merger *m, qix_status status, qix_fault *fault)
{
    for (uint32_t i = 0; i < m->part_count; i++)
        if (m->parts[i].segment && qix_settle(m->parts[i].segment, QIX_OK, fault))
            return at_part(QIX_ERR_CORRUPT, i, fault);
    return status;
}

/* Lists are read once, and positions are copied once more at the end. */
static uint64_t total_bytes(const qix_part *parts, uint32_t part_count)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < part_count; i++)
        total += parts[i].segment->section_bytes[QIX_POSTINGS] + 2 * parts[i].segment->section_bytes[QIX_POSITIONS];
    return total;
}

qix_status qix_merge(const qix_part *parts, uint32_t part_count, int fd, const char *folder, uint32_t order,
                     uint32_t sync, qix_control *control, qix_segment_info *ret_info, qix_fault *ret_fault)
{
    if (part_count < 1 || part_count > QIX_PARTS_MAX)
        return qix_fail(ret_fault, QIX_ERR_ARGUMENT, 0, "a merge takes 1 to 1024 segments");
    merger m = {.parts = calloc(part_count, sizeof *m.parts), .part_count = part_count};
    qix_pace_begin(&m.pace, control, total_bytes(parts, part_count));
    qix_status status =
        m.parts ? run_merge(&m, parts, fd, folder, order, sync != 0, ret_info, ret_fault) : qix_no_memory(ret_fault);
    if (m.parts)
        status = settle_parts(&m, status, ret_fault);
    for (uint32_t i = 0; m.parts && i < part_count; i++) {
        free(m.parts[i].new_docids);
        qix_bytes_free(&m.parts[i].rows);
        qix_bytes_free(&m.parts[i].values);
    }
    qix_encoder_free(m.encoder);
    free(m.parts);
    free(m.refs);
    free(m.codes);
    return status;
}
