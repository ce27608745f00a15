/* From what the builder has to a segment: documents put in order, columns and lists handed to the encoder. */
#include "qix_build_list.h"
#include "qix_columns.h"
#include "qix_length.h"
#include "qix_text.h"

typedef qix_build_writer writer;

typedef struct {
    uint64_t major, minor;
    uint32_t ordinal;
} doc_key;

static int by_doc_key(const void *a, const void *b)
{
    const doc_key *x = a, *y = b;
    if (x->major != y->major)
        return x->major < y->major ? -1 : 1;
    return (x->minor > y->minor) - (x->minor < y->minor);
}

static bool is_sorted(const writer *w, uint32_t order)
{
    for (uint32_t i = 1; order == QIX_ORDER_ORIGIN && i < w->builder->doc_count; i++) {
        const qix_document *a = &w->rows[i - 1], *b = &w->rows[i];
        if (a->origin_id > b->origin_id || (a->origin_id == b->origin_id && a->page_id > b->page_id))
            return false;
    }
    return true;
}

static bool sort_documents(writer *w)
{
    uint32_t n = w->builder->doc_count;
    doc_key *keys = malloc(((size_t)n + 1) * sizeof *keys);
    w->ordinals = malloc(((size_t)n + 1) * sizeof *w->ordinals);
    w->docids = malloc(((size_t)n + 1) * sizeof *w->docids);
    if (!keys || !w->ordinals || !w->docids) {
        free(keys);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (doc_key){w->rows[i].origin_id, w->rows[i].page_id, i};
    qsort(keys, n, sizeof *keys, by_doc_key);
    for (uint32_t docid = 0; docid < n; docid++) {
        w->ordinals[docid] = keys[docid].ordinal;
        w->docids[keys[docid].ordinal] = docid;
    }
    free(keys);
    return true;
}

static uint32_t ordinal_of(const writer *w, uint32_t docid)
{
    return w->ordinals ? w->ordinals[docid] : docid;
}

static qix_status order_documents(writer *w, uint32_t order, qix_fault *fault)
{
    uint32_t n = w->builder->doc_count;
    w->is_sorted = is_sorted(w, order);
    w->codes = malloc((size_t)n + 1);
    if (!w->codes || (!w->is_sorted && !sort_documents(w)))
        return qix_no_memory(fault);
    for (uint32_t docid = 0; docid < n; docid++)
        w->codes[docid] = qix_length_encode(w->rows[ordinal_of(w, docid)].length);
    return QIX_OK;
}

static qix_document row_of(const void *context, uint32_t docid)
{
    const writer *w = context;
    return w->rows[ordinal_of(w, docid)];
}

static qix_status write_lists(writer *w, qix_fault *fault)
{
    qix_list_source *source;
    qix_status status = qix_list_source_new(w->builder, &source, fault);
    if (status)
        return status;
    qix_built_list list = {.part_count = 1};
    while (!status && list.part_count > 0) {
        status = qix_list_source_next(source, &list, fault);
        if (!status && list.part_count > 0)
            status = qix_build_list_write(w, &list, fault);
    }
    status = qix_list_source_settle(source, status, fault);
    qix_list_source_free(source);
    return status;
}

static qix_status write_segment(writer *w, int fd, const char *folder, bool sync, qix_segment_info *ret_info,
                                qix_fault *fault)
{
    const qix_builder *b = w->builder;
    qix_pace pace = {0};
    qix_segment_plan plan = {.pace = &pace,
                             .doc_count = b->doc_count,
                             .analysis_version = QIX_ANALYSIS_VERSION,
                             .has_positions = b->options.with_positions,
                             .length_codes = w->codes};
    memcpy(plan.field_weights, b->options.field_weights, sizeof plan.field_weights);
    for (uint32_t i = 0; i < b->doc_count; i++)
        plan.total_length += w->rows[i].length;
    qix_status status = qix_encoder_new(&plan, fd, folder, &w->encoder, fault);
    if (!status)
        status = qix_write_columns(w->encoder, b->doc_count, row_of, w, fault);
    if (!status)
        status = write_lists(w, fault);
    return status ? status : qix_encode_finish(w->encoder, sync, ret_info, fault);
}

/* Find the rows: in memory, or, if something was spilled, in the file to which the rest then goes. */
static qix_status open_rows(writer *w, qix_fault *fault)
{
    qix_builder *b = w->builder;
    w->rows = (const qix_document *)(const void *)b->docs.data;
    if (qix_run_count(b) == 0)
        return QIX_OK;
    qix_status status = qix_builder_spill(b, fault);
    if (!status)
        status = qix_spool_map_open(&b->rows, &w->row_map, fault);
    w->rows = (const qix_document *)(const void *)w->row_map.data;
    return status;
}

qix_status qix_builder_write(qix_builder *b, int fd, const char *folder, uint32_t order, uint32_t sync,
                             qix_segment_info *ret_info, qix_fault *ret_fault)
{
    if (b->is_broken)
        return qix_fail(ret_fault, QIX_ERR_LIMIT, 0, "the builder ran out of memory before; make a new one");
    writer w = {.builder = b};
    qix_status status = open_rows(&w, ret_fault);
    if (!status)
        status = order_documents(&w, order, ret_fault);
    if (!status)
        status = write_segment(&w, fd, folder, sync != 0, ret_info, ret_fault);
    status = qix_spool_settle(&w.row_map, status, ret_fault);
    qix_spool_map_close(&w.row_map);
    qix_encoder_free(w.encoder);
    qix_bytes_free(&w.postings);
    qix_bytes_free(&w.positions);
    free(w.ordinals);
    free(w.docids);
    free(w.codes);
    return status;
}
