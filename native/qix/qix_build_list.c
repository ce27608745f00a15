/* One list of the builder on its way to the encoder.
 *
 * Where documents keep the order in which they came, postings stream. Else a list is read for a range of documents at a
 * time, as many as fit ROWS_BYTES_MAX, sorted, and read again for the next range: memory stays the same however long it is. */
#include "qix_build_list.h"
#include "qix_position.h"

/* Postings of a list that are sorted at a time take about an eighth of the builder's memory, within these bounds; most
 * lists take less as a whole. */
#define ROWS_BYTES_MIN (1u << 16)
#define ROWS_BYTES_MAX (32u << 20)
#define ROWS_PART 8u

typedef qix_build_writer writer;
typedef qix_build_posting posting;

static qix_status bad_list(qix_fault *fault)
{
    return qix_fail(fault, QIX_ERR_IO, 0, "a spool file is not what was written");
}

/* Move the positions of other fields behind those of the body, which come last in the chain and first in a segment. */
static bool put_body_first(uint32_t *values, uint32_t others, uint32_t count)
{
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

/* Append one document's positions to w->positions. */
static qix_status read_positions(writer *w, qix_reader *r, uint32_t count, qix_fault *fault)
{
    if (count > qix_left(r))
        return bad_list(fault);
    if (!qix_bytes_reserve(&w->positions, (size_t)count * sizeof(uint32_t)))
        return qix_no_memory(fault);
    uint32_t *values = (uint32_t *)(void *)(w->positions.data + w->positions.used);
    uint32_t field = QIX_BODY_FIELD, word = 0, others = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t step;
        if (!qix_read_varint32(r, &step) || (step & 1 && !qix_read_varint32(r, &field)))
            return bad_list(fault);
        word = (step & 1 ? 0 : word) + (step >> 1);
        values[i] = qix_position_of(field, word);
        others += field != QIX_BODY_FIELD;
    }
    w->positions.used += (size_t)count * sizeof *values;
    return put_body_first(values, others, count) ? QIX_OK : qix_no_memory(fault);
}

/* Read the next posting of a part, but for its positions; *ordinal is that of the one before. */
static qix_status read_posting(const writer *w, qix_reader *r, uint32_t *ordinal, posting *ret, qix_fault *fault)
{
    uint32_t step;
    ret->tf = ret->count = 1;
    if (!qix_read_varint32(r, &step) ||
        (!(step & 1) && (!qix_read_varint32(r, &ret->tf) || !qix_read_varint32(r, &ret->count))))
        return bad_list(fault);
    *ordinal += step >> 1;
    if (*ordinal >= w->builder->doc_count || ret->tf == 0)
        return bad_list(fault);
    ret->docid = w->docids ? w->docids[*ordinal] : *ordinal;
    return QIX_OK;
}

typedef qix_status (*use_fn)(writer *w, const posting *row, bool has_positions, qix_fault *fault);

/* Hand each posting of a list to `use`, its positions appended to w->positions. */
static qix_status read_list(writer *w, const qix_built_list *list, bool has_positions, use_fn use, qix_fault *fault)
{
    qix_status status = QIX_OK;
    for (uint32_t i = 0; i < list->part_count && !status; i++) {
        qix_reader postings = list->parts[i].postings, positions = list->parts[i].positions;
        uint32_t ordinal = UINT32_MAX; /* one before 0 */
        for (uint32_t left = list->parts[i].df; left > 0 && !status; left--) {
            posting row;
            status = read_posting(w, &postings, &ordinal, &row, fault);
            row.positions_at = w->positions.used / sizeof(uint32_t);
            if (!status && has_positions)
                status = read_positions(w, &positions, row.count, fault);
            if (!status)
                status = use(w, &row, has_positions, fault);
        }
    }
    return status;
}

static qix_status encode(writer *w, const posting *row, bool has_positions, qix_fault *fault)
{
    const uint32_t *positions = (const uint32_t *)(const void *)w->positions.data;
    return qix_encode_posting(w->encoder, row->docid, row->tf, has_positions ? positions + row->positions_at : NULL,
                              has_positions ? row->count : 0, fault);
}

static qix_status stream(writer *w, const posting *row, bool has_positions, qix_fault *fault)
{
    w->positions.used = 0; /* the encoder copies them */
    return encode(w, row, has_positions, fault);
}

/* ---- documents in another order ---- */

/* Keep the posting if its document is in the range at hand. */
static qix_status collect(writer *w, const posting *row, bool has_positions, qix_fault *fault)
{
    (void)has_positions;
    if (row->docid < w->range_from || row->docid >= w->range_to) {
        w->positions.used = row->positions_at * sizeof(uint32_t);
        return QIX_OK;
    }
    return qix_bytes_add(&w->postings, row, sizeof *row) ? QIX_OK : qix_no_memory(fault);
}

static int by_docid(const void *a, const void *b)
{
    uint32_t x = ((const posting *)a)->docid, y = ((const posting *)b)->docid;
    return (x > y) - (x < y);
}

static qix_status write_range(writer *w, const qix_built_list *list, bool has_positions, qix_fault *fault)
{
    w->postings.used = w->positions.used = 0;
    qix_status status = read_list(w, list, has_positions, collect, fault);
    size_t count = w->postings.used / sizeof(posting);
    posting *rows = (posting *)(void *)w->postings.data;
    if (!status && count > 1)
        qsort(rows, count, sizeof *rows, by_docid);
    for (size_t i = 0; i < count && !status; i++)
        status = encode(w, &rows[i], has_positions, fault);
    return status;
}

static uint64_t rows_bytes(const qix_builder *b)
{
    uint64_t bytes = b->options.memory_bytes ? b->options.memory_bytes / ROWS_PART : ROWS_BYTES_MAX;
    return bytes < ROWS_BYTES_MIN ? ROWS_BYTES_MIN : bytes > ROWS_BYTES_MAX ? ROWS_BYTES_MAX : bytes;
}

static qix_status write_sorted(writer *w, const qix_built_list *list, bool has_positions, qix_fault *fault)
{
    uint64_t bytes = 0, docs = w->builder->doc_count;
    for (uint32_t i = 0; i < list->part_count; i++)
        bytes += list->parts[i].df * sizeof(posting) + sizeof(uint32_t) * qix_left(&list->parts[i].positions);
    uint64_t ranges = bytes / rows_bytes(w->builder) + 1, width = docs / ranges + 1;
    qix_status status = QIX_OK;
    for (uint64_t from = 0; from < docs && !status; from += width) {
        w->range_from = (uint32_t)from;
        w->range_to = (uint32_t)(docs - from > width ? from + width : docs);
        status = write_range(w, list, has_positions, fault);
    }
    return status;
}

qix_status qix_build_list_write(writer *w, const qix_built_list *list, qix_fault *fault)
{
    bool has_positions = w->builder->options.with_positions && list->key[0] == 0;
    qix_status status = qix_encode_list_begin(w->encoder, list->key, list->key_bytes, fault);
    w->positions.used = 0;
    if (!status)
        status = w->is_sorted ? read_list(w, list, has_positions, stream, fault)
                              : write_sorted(w, list, has_positions, fault);
    return status ? status : qix_encode_list_end(w->encoder, fault);
}
