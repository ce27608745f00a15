/* Lists of the builder, in key order: from its table, or from runs that it had spilled.
 *
 * A run is what the table held when memory was used up, in key order: of each term varints of key bytes, df, bytes of
 * postings and of positions, then these four. A list's bytes in a run go on where those of the run before ended, except
 * that the first ordinal of a run counts from 0. */
#include "qix_builder.h"

typedef struct {
    uint64_t head; /* the key's first eight bytes, highest first: most comparisons need no more */
    const uint8_t *key;
    uint32_t key_bytes;
    uint32_t entry;
} sorted_term;

/* What one run has next. */
typedef struct {
    qix_reader bytes; /* after it */
    const uint8_t *key;
    uint32_t key_bytes;
    qix_list_part part;
    bool has_key;
} run_reader;

struct qix_list_source {
    qix_builder *builder;
    /* memory */
    sorted_term *terms;
    uint32_t term_count, next_term;
    qix_bytes postings, positions;
    /* runs */
    qix_spool_map map;
    run_reader *runs;
    uint32_t run_count;
    qix_list_part *parts;
};

static int compare_keys(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes)
{
    int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int by_key(const void *a, const void *b)
{
    const sorted_term *x = a, *y = b;
    if (x->head != y->head)
        return x->head < y->head ? -1 : 1;
    return compare_keys(x->key, x->key_bytes, y->key, y->key_bytes);
}

/* All terms of the table in key order, their last postings in their chains; NULL when memory ends. */
static sorted_term *sort_terms(qix_builder *b)
{
    sorted_term *terms = malloc(((size_t)b->table.count + 1) * sizeof *terms);
    for (uint32_t i = 0; terms && i < b->table.count; i++) {
        if (!qix_close_posting(&b->pool, &b->table.entries[i])) {
            free(terms);
            return NULL;
        }
    }
    for (uint32_t i = 0; terms && i < b->table.count; i++) {
        const uint8_t *record = b->pool.data + b->table.entries[i].key_at;
        terms[i] = (sorted_term){.key = record + 2, .key_bytes = qix_load_u16(record), .entry = i};
        for (uint32_t j = 0; j < 8; j++)
            terms[i].head = terms[i].head << 8 | (j < terms[i].key_bytes ? terms[i].key[j] : 0);
    }
    if (terms)
        qsort(terms, b->table.count, sizeof *terms, by_key);
    return terms;
}

/* ---- spilling ---- */

static qix_status write_term(qix_builder *b, const sorted_term *term, qix_bytes *scratch, qix_fault *fault)
{
    const qix_entry *entry = &b->table.entries[term->entry];
    scratch->used = 0;
    if (!qix_chain_copy(&b->pool, &entry->postings, scratch))
        return qix_no_memory(fault);
    uint64_t postings = scratch->used;
    if (!qix_chain_copy(&b->pool, &entry->positions, scratch))
        return qix_no_memory(fault);
    uint8_t head[4 * QIX_VARINT64_BYTES];
    size_t used = qix_put_varint(head, term->key_bytes);
    used += qix_put_varint(head + used, entry->df);
    used += qix_put_varint(head + used, postings);
    used += qix_put_varint(head + used, scratch->used - postings);
    qix_status status = qix_spool_write(&b->lists, head, used, fault);
    if (!status)
        status = qix_spool_write(&b->lists, term->key, term->key_bytes, fault);
    return status ? status : qix_spool_write(&b->lists, scratch->data, scratch->used, fault);
}

static qix_status write_run(qix_builder *b, qix_fault *fault)
{
    sorted_term *terms = sort_terms(b);
    if (!terms)
        return qix_no_memory(fault);
    qix_bytes scratch = {0};
    qix_status status = qix_bytes_reserve(&scratch, 1) ? QIX_OK : qix_no_memory(fault);
    for (uint32_t i = 0; i < b->table.count && !status; i++)
        status = write_term(b, &terms[i], &scratch, fault);
    if (!status)
        status = qix_spool_flush(&b->lists, fault);
    if (!status)
        status = qix_spool_write(&b->rows, b->docs.data, b->docs.used, fault);
    if (!status)
        status = qix_spool_flush(&b->rows, fault);
    qix_bytes_free(&scratch);
    free(terms);
    return status;
}

qix_status qix_builder_spill(qix_builder *b, qix_fault *fault)
{
    uint64_t lists = qix_spool_bytes(&b->lists), rows = qix_spool_bytes(&b->rows);
    if (b->docs.used == 0)
        return QIX_OK;
    if (!qix_bytes_reserve(&b->run_starts, sizeof lists))
        return qix_no_memory(fault);
    qix_status status = write_run(b, fault);
    if (status) {
        qix_spool_cut(&b->lists, lists);
        qix_spool_cut(&b->rows, rows);
        return status;
    }
    qix_bytes_add(&b->run_starts, &lists, sizeof lists); /* there is room */
    qix_table_clear(&b->table);
    b->pool.used = 0;
    b->docs.used = 0;
    return QIX_OK;
}

/* ---- reading ---- */

static qix_status bad_run(qix_fault *fault)
{
    return qix_fail(fault, QIX_ERR_IO, 0, "a spool file is not what was written");
}

static qix_status read_run(run_reader *run, qix_fault *fault)
{
    qix_reader *r = &run->bytes;
    uint64_t postings, positions;
    run->has_key = qix_left(r) > 0;
    if (!run->has_key)
        return QIX_OK;
    if (!qix_read_varint32(r, &run->key_bytes) || !qix_read_varint32(r, &run->part.df) ||
        !qix_read_varint(r, &postings) || !qix_read_varint(r, &positions) || run->key_bytes == 0 ||
        run->key_bytes > QIX_KEY_BYTES_MAX || !qix_read_bytes(r, run->key_bytes, &run->key) ||
        !qix_read_bytes(r, postings, &run->part.postings.pos))
        return bad_run(fault);
    run->part.postings.end = r->pos;
    if (!qix_read_bytes(r, positions, &run->part.positions.pos))
        return bad_run(fault);
    run->part.positions.end = r->pos;
    return QIX_OK;
}

static qix_status open_runs(qix_list_source *s, qix_fault *fault)
{
    const qix_builder *b = s->builder;
    s->run_count = qix_run_count(b);
    s->runs = calloc(s->run_count, sizeof *s->runs);
    s->parts = calloc(s->run_count, sizeof *s->parts);
    if (!s->runs || !s->parts)
        return qix_no_memory(fault);
    qix_status status = qix_spool_map_open(&b->lists, &s->map, fault);
    const uint64_t *starts = (const uint64_t *)(const void *)b->run_starts.data;
    for (uint32_t i = 0; i < s->run_count && !status; i++) {
        uint64_t end = i + 1 < s->run_count ? starts[i + 1] : s->map.bytes;
        s->runs[i].bytes = (qix_reader){s->map.data + starts[i], s->map.data + end};
        status = read_run(&s->runs[i], fault);
    }
    return status;
}

static qix_status open_memory(qix_list_source *s, qix_fault *fault)
{
    s->terms = sort_terms(s->builder);
    s->term_count = s->builder->table.count;
    s->parts = calloc(1, sizeof *s->parts);
    /* Room for an empty list, so that readers have somewhere to point. */
    bool has_room = qix_bytes_reserve(&s->postings, 1) && qix_bytes_reserve(&s->positions, 1);
    return s->terms && s->parts && has_room ? QIX_OK : qix_no_memory(fault);
}

qix_status qix_list_source_new(qix_builder *builder, qix_list_source **ret_source, qix_fault *fault)
{
    qix_list_source *s = calloc(1, sizeof *s);
    if (!s)
        return qix_no_memory(fault);
    s->builder = builder;
    qix_status status = qix_run_count(builder) > 0 ? open_runs(s, fault) : open_memory(s, fault);
    if (status) {
        qix_list_source_free(s);
        return status;
    }
    *ret_source = s;
    return QIX_OK;
}

void qix_list_source_free(qix_list_source *s)
{
    if (!s)
        return;
    free(s->terms);
    qix_bytes_free(&s->postings);
    qix_bytes_free(&s->positions);
    qix_spool_map_close(&s->map);
    free(s->runs);
    free(s->parts);
    free(s);
}

static qix_status next_of_memory(qix_list_source *s, qix_built_list *ret, qix_fault *fault)
{
    ret->part_count = 0;
    if (s->next_term == s->term_count)
        return QIX_OK;
    const sorted_term *term = &s->terms[s->next_term++];
    const qix_entry *entry = &s->builder->table.entries[term->entry];
    s->postings.used = s->positions.used = 0;
    if (!qix_chain_copy(&s->builder->pool, &entry->postings, &s->postings) ||
        !qix_chain_copy(&s->builder->pool, &entry->positions, &s->positions))
        return qix_no_memory(fault);
    s->parts[0] = (qix_list_part){.df = entry->df,
                                  .postings = {s->postings.data, s->postings.data + s->postings.used},
                                  .positions = {s->positions.data, s->positions.data + s->positions.used}};
    *ret = (qix_built_list){term->key, term->key_bytes, 1, s->parts};
    return QIX_OK;
}

static qix_status next_of_runs(qix_list_source *s, qix_built_list *ret, qix_fault *fault)
{
    const run_reader *lowest = NULL;
    for (uint32_t i = 0; i < s->run_count; i++) {
        const run_reader *run = &s->runs[i];
        if (run->has_key && (!lowest || compare_keys(run->key, run->key_bytes, lowest->key, lowest->key_bytes) < 0))
            lowest = run;
    }
    ret->part_count = 0;
    if (!lowest)
        return QIX_OK;
    *ret = (qix_built_list){.key = lowest->key, .key_bytes = lowest->key_bytes, .parts = s->parts};
    qix_status status = QIX_OK;
    for (uint32_t i = 0; i < s->run_count && !status; i++) {
        run_reader *run = &s->runs[i];
        if (!run->has_key || compare_keys(run->key, run->key_bytes, ret->key, ret->key_bytes) != 0)
            continue;
        s->parts[ret->part_count++] = run->part;
        status = read_run(run, fault);
    }
    return status;
}

qix_status qix_list_source_next(qix_list_source *source, qix_built_list *ret_list, qix_fault *fault)
{
    return source->runs ? next_of_runs(source, ret_list, fault) : next_of_memory(source, ret_list, fault);
}

qix_status qix_list_source_settle(const qix_list_source *source, qix_status status, qix_fault *fault)
{
    return qix_spool_settle(&source->map, status, fault);
}
