/* From the builder's memory to a segment: documents put in order, terms sorted, lists handed to the encoder. */
#include "qix_builder.h"
#include "qix_columns.h"
#include "qix_length.h"
#include "qix_position.h"
#include "qix_text.h"

typedef struct {
    uint32_t docid;
    uint32_t tf;
    uint32_t count;
    uint64_t positions_at; /* in positions */
} posting;

typedef struct {
    const qix_builder *builder;
    uint32_t *ordinals; /* of each docid */
    uint32_t *docids;   /* of each ordinal */
    uint8_t *codes;     /* of each docid */
    bool is_sorted;     /* docid is ordinal */
    qix_encoder *encoder;
    qix_bytes postings;  /* of the list at hand */
    qix_bytes positions; /* uint32_t */
} writer;

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

static bool order_documents(writer *w, uint32_t order)
{
    uint32_t n = w->builder->doc_count;
    const qix_document *docs = qix_builder_docs(w->builder);
    doc_key *keys = malloc(((size_t)n + 1) * sizeof *keys);
    if (!keys)
        return false;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = order == QIX_ORDER_ORIGIN ? (doc_key){docs[i].origin_id, docs[i].page_id, i} : (doc_key){0, i, i};
    qsort(keys, n, sizeof *keys, by_doc_key);
    w->is_sorted = true;
    for (uint32_t docid = 0; docid < n; docid++) {
        uint32_t ordinal = keys[docid].ordinal;
        w->ordinals[docid] = ordinal;
        w->docids[ordinal] = docid;
        w->codes[docid] = qix_length_encode(docs[ordinal].length);
        w->is_sorted = w->is_sorted && ordinal == docid;
    }
    free(keys);
    return true;
}

static qix_document row_of(const void *context, uint32_t docid)
{
    const writer *w = context;
    return qix_builder_docs(w->builder)[w->ordinals[docid]];
}

typedef struct {
    const uint8_t *key;
    uint32_t key_bytes;
    uint32_t entry;
} sorted_term;

static int by_key(const void *a, const void *b)
{
    const sorted_term *x = a, *y = b;
    int order = memcmp(x->key, y->key, x->key_bytes < y->key_bytes ? x->key_bytes : y->key_bytes);
    return order ? order : (x->key_bytes > y->key_bytes) - (x->key_bytes < y->key_bytes);
}

/* Read one document's positions: the body's come last in the chain and first in the segment. */
static bool read_positions(qix_bytes *out, qix_chain_reader *chain, uint32_t count)
{
    if (!qix_bytes_reserve(out, (size_t)count * sizeof(uint32_t)))
        return false;
    uint32_t *values = (uint32_t *)(void *)(out->data + out->used);
    uint32_t field = QIX_BODY_FIELD, word = 0, others = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t step = qix_chain_next(chain);
        if (step & 1) {
            field = qix_chain_next(chain);
            word = 0;
        }
        word += step >> 1;
        values[i] = qix_position_of(field, word);
        others += field != QIX_BODY_FIELD;
    }
    out->used += (size_t)count * sizeof *values;
    if (others == 0 || others == count)
        return true;
    uint32_t *head = malloc(others * sizeof *head);
    if (!head)
        return false;
    memcpy(head, values, others * sizeof *head);
    memmove(values, values + others, (count - others) * sizeof *values);
    memcpy(values + (count - others), head, others * sizeof *head);
    free(head);
    return true;
}

static bool load_list(writer *w, const qix_entry *entry, bool has_positions)
{
    qix_chain_reader postings = qix_chain_read(&w->builder->pool, &entry->postings);
    qix_chain_reader positions = qix_chain_read(&w->builder->pool, &entry->positions);
    uint32_t ordinal = UINT32_MAX; /* one before 0 */
    w->postings.used = w->positions.used = 0;
    for (uint32_t i = 0; i < entry->df; i++) {
        uint32_t step = qix_chain_next(&postings);
        ordinal += step >> 1;
        posting row = {.docid = w->docids[ordinal], .tf = 1, .count = 1};
        if (!(step & 1)) {
            row.tf = qix_chain_next(&postings);
            row.count = qix_chain_next(&postings);
        }
        row.positions_at = w->positions.used / sizeof(uint32_t);
        if (has_positions && !read_positions(&w->positions, &positions, row.count))
            return false;
        if (!qix_bytes_add(&w->postings, &row, sizeof row))
            return false;
    }
    return true;
}

static int by_docid(const void *a, const void *b)
{
    uint32_t x = ((const posting *)a)->docid, y = ((const posting *)b)->docid;
    return (x > y) - (x < y);
}

static qix_status write_list(writer *w, const sorted_term *term, qix_fault *fault)
{
    const qix_entry *entry = &w->builder->table.entries[term->entry];
    bool has_positions = w->builder->options.with_positions && term->key[0] == 0;
    if (!load_list(w, entry, has_positions))
        return qix_no_memory(fault);
    posting *postings = (posting *)(void *)w->postings.data;
    const uint32_t *positions = (const uint32_t *)(const void *)w->positions.data;
    if (!w->is_sorted)
        qsort(postings, entry->df, sizeof *postings, by_docid);
    qix_status status = qix_encode_list_begin(w->encoder, term->key, term->key_bytes, fault);
    for (uint32_t i = 0; i < entry->df && !status; i++)
        status = qix_encode_posting(w->encoder, postings[i].docid, postings[i].tf,
                                    has_positions ? positions + postings[i].positions_at : NULL,
                                    has_positions ? postings[i].count : 0, fault);
    return status ? status : qix_encode_list_end(w->encoder, fault);
}

static qix_status write_lists(writer *w, qix_fault *fault)
{
    const qix_table *table = &w->builder->table;
    sorted_term *terms = malloc(((size_t)table->count + 1) * sizeof *terms);
    if (!terms)
        return qix_no_memory(fault);
    for (uint32_t i = 0; i < table->count; i++)
        terms[i] = (sorted_term){w->builder->pool.data + table->entries[i].key_at, table->entries[i].key_bytes, i};
    qsort(terms, table->count, sizeof *terms, by_key);
    qix_status status = QIX_OK;
    for (uint32_t i = 0; i < table->count && !status; i++)
        status = write_list(w, &terms[i], fault);
    free(terms);
    return status;
}

static qix_status write_segment(writer *w, int fd, const char *folder, bool sync, qix_segment_info *ret_info,
                                qix_fault *fault)
{
    const qix_builder *b = w->builder;
    qix_segment_plan plan = {.doc_count = b->doc_count,
                             .analysis_version = QIX_ANALYSIS_VERSION,
                             .has_positions = b->options.with_positions,
                             .length_codes = w->codes};
    memcpy(plan.field_weights, b->options.field_weights, sizeof plan.field_weights);
    for (uint32_t i = 0; i < b->doc_count; i++)
        plan.total_length += qix_builder_docs(b)[i].length;
    qix_status status = qix_encoder_new(&plan, fd, folder, &w->encoder, fault);
    if (!status)
        status = qix_write_columns(w->encoder, b->doc_count, row_of, w, fault);
    if (!status)
        status = write_lists(w, fault);
    return status ? status : qix_encode_finish(w->encoder, sync, ret_info, fault);
}

qix_status qix_builder_write(qix_builder *b, int fd, const char *folder, uint32_t order, uint32_t sync,
                             qix_segment_info *ret_info, qix_fault *ret_fault)
{
    if (b->is_broken)
        return qix_fail(ret_fault, QIX_ERR_LIMIT, 0, "the builder ran out of memory before; make a new one");
    size_t n = (size_t)b->doc_count + 1;
    writer w = {.builder = b,
                .ordinals = malloc(n * sizeof(uint32_t)),
                .docids = malloc(n * sizeof(uint32_t)),
                .codes = malloc(n)};
    qix_status status = QIX_OK;
    if (!w.ordinals || !w.docids || !w.codes || !order_documents(&w, order))
        status = qix_no_memory(ret_fault);
    if (!status)
        status = write_segment(&w, fd, folder, sync != 0, ret_info, ret_fault);
    qix_encoder_free(w.encoder);
    qix_bytes_free(&w.postings);
    qix_bytes_free(&w.positions);
    free(w.ordinals);
    free(w.docids);
    free(w.codes);
    return status;
}
