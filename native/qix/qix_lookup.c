/* Look-ups in an open segment: pages, rows of the document table, and the commonest terms with a prefix. */
#include <stdlib.h>

#include "qix_segment.h"

/* Every docid is checked: the order was right when the file was opened, and someone may have written to it since. */
static qix_status find_page(const qix_segment *segment, uint64_t page_id, uint32_t *ret_docid, qix_fault *ret_fault)
{
    uint32_t low = 0, high = segment->info.doc_count;
    *ret_docid = UINT32_MAX;
    const uint8_t *order = segment->section[QIX_PAGE_ORDER];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *at = order + 4 * (uint64_t)middle;
        qix_status status = qix_need(segment, at, 4, ret_fault);
        uint32_t docid = qix_load_u32(at);
        if (!status && docid >= segment->info.doc_count)
            status = qix_corrupt(ret_fault, qix_offset_of(segment, at), "page order names no document");
        if (!status)
            status = qix_need(segment, segment->section[QIX_PAGE_IDS] + 8 * (uint64_t)docid, 8, ret_fault);
        if (status)
            return status;
        uint64_t page = qix_page_of(segment, docid);
        if (page == page_id) {
            *ret_docid = docid;
            return QIX_OK;
        }
        if (page < page_id)
            low = middle + 1;
        else
            high = middle;
    }
    return QIX_OK;
}

qix_status qix_find_page(const qix_segment *segment, uint64_t page_id, uint32_t *ret_docid, qix_fault *ret_fault)
{
    uint32_t docid;
    qix_status status = qix_settle(segment, find_page(segment, page_id, &docid, ret_fault), ret_fault);
    if (!status)
        *ret_docid = docid;
    return status;
}

/* A row's bytes in a column of `width` bytes, hashed. */
static const uint8_t *cell(const qix_segment *segment, enum qix_section_id id, uint32_t docid, uint32_t width,
                           qix_status *status, qix_fault *fault)
{
    const uint8_t *at = segment->section[id] + (uint64_t)width * docid;
    if (!*status)
        *status = qix_need(segment, at, width, fault);
    return at;
}

qix_status qix_get_document(const qix_segment *segment, uint32_t docid, qix_document *ret_doc, qix_fault *ret_fault)
{
    if (docid >= segment->info.doc_count)
        return qix_fail(ret_fault, QIX_ERR_ARGUMENT, docid, "docid is not below the document count");
    qix_status status = QIX_OK;
    qix_document doc = {
        .page_id = qix_load_u64(cell(segment, QIX_PAGE_IDS, docid, 8, &status, ret_fault)),
        .date_s = (int64_t)qix_load_u64(cell(segment, QIX_DATES, docid, 8, &status, ret_fault)),
        .origin_id = qix_load_u32(cell(segment, QIX_ORIGINS, docid, 4, &status, ret_fault)),
        .length = qix_load_u32(cell(segment, QIX_LENGTHS, docid, 4, &status, ret_fault)),
        .language = qix_load_u16(cell(segment, QIX_LANGUAGES, docid, 2, &status, ret_fault)),
        .static_rank = qix_load_u16(cell(segment, QIX_STATIC_RANKS, docid, 2, &status, ret_fault)),
        .flags = qix_load_u16(cell(segment, QIX_FLAGS, docid, 2, &status, ret_fault)),
    };
    status = qix_settle(segment, status, ret_fault);
    if (!status)
        *ret_doc = doc;
    return status;
}

qix_status qix_get_page_ids(const qix_segment *segment, uint64_t *ret_page_ids, qix_fault *ret_fault)
{
    qix_status status = qix_need_section(segment, QIX_PAGE_IDS, ret_fault);
    for (uint32_t docid = 0; docid < segment->info.doc_count && !status; docid++)
        ret_page_ids[docid] = qix_page_of(segment, docid);
    return qix_settle(segment, status, ret_fault);
}

/* ---- the commonest terms with a prefix ---- */

typedef struct {
    uint32_t df;
    uint32_t key_bytes;
    uint64_t index; /* among all keys: the order of ties */
    uint8_t key[QIX_KEY_BYTES_MAX];
} listed_term;

static bool is_rarer(const listed_term *a, const listed_term *b)
{
    return a->df != b->df ? a->df < b->df : a->index > b->index;
}

static void sift_down(listed_term **heap, uint32_t count, uint32_t at)
{
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_rarer(heap[child + 1], heap[child]))
            child++;
        if (!is_rarer(heap[child], heap[at]))
            return;
        listed_term *swapped = heap[at];
        heap[at] = heap[child];
        heap[child] = swapped;
    }
}

static void sift_up(listed_term **heap, uint32_t at)
{
    while (at > 0 && is_rarer(heap[at], heap[(at - 1) / 2])) {
        listed_term *swapped = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swapped;
        at = (at - 1) / 2;
    }
}

static void copy_term(listed_term *into, const qix_term_walk *walk)
{
    into->df = walk->term.df;
    into->index = walk->index;
    into->key_bytes = walk->key_bytes;
    memcpy(into->key, walk->key, walk->key_bytes);
}

/* Keep the `limit` best in a heap of pointers into `rows`; the rarest is on top. */
static qix_status collect(const qix_segment *segment, const uint8_t *prefix, uint32_t prefix_bytes, uint32_t limit,
                          listed_term *rows, listed_term **heap, uint32_t *ret_count, qix_fault *fault)
{
    qix_term_walk walk;
    bool found;
    uint32_t count = 0;
    qix_status status = qix_terms_seek(segment, prefix, prefix_bytes, &walk, &found, fault);
    while (!status && found && walk.key_bytes >= prefix_bytes && memcmp(walk.key, prefix, prefix_bytes) == 0) {
        if (count < limit) {
            heap[count] = &rows[count];
            copy_term(heap[count], &walk);
            sift_up(heap, count++);
        } else if (walk.term.df > heap[0]->df) {
            copy_term(heap[0], &walk);
            sift_down(heap, count, 0);
        }
        status = qix_terms_next(&walk, &found, fault);
    }
    *ret_count = count;
    return status;
}

qix_status qix_list_terms(const qix_segment *segment, const uint8_t *prefix, uint32_t prefix_bytes, uint32_t limit,
                          uint8_t *ret_keys, uint32_t *ret_ends, uint32_t *ret_dfs, uint32_t *ret_count,
                          qix_fault *ret_fault)
{
    if (limit < 1 || limit > QIX_LIST_TERMS_MAX || prefix_bytes > QIX_KEY_BYTES_MAX)
        return qix_fail(ret_fault, QIX_ERR_ARGUMENT, 0, "limit must be 1 to 10000, and the prefix at most 512 bytes");
    listed_term *rows = malloc(limit * sizeof *rows);
    listed_term **heap = malloc(limit * sizeof *heap);
    uint32_t count = 0, end = 0;
    qix_status status = rows && heap ? collect(segment, prefix, prefix_bytes, limit, rows, heap, &count, ret_fault)
                                     : qix_no_memory(ret_fault);
    status = qix_settle(segment, status, ret_fault);
    for (uint32_t left = count; left > 1 && !status;) { /* the rarest goes behind the others */
        listed_term *rarest = heap[0];
        heap[0] = heap[--left];
        heap[left] = rarest;
        sift_down(heap, left, 0);
    }
    for (uint32_t i = 0; i < count && !status; i++) {
        memcpy(ret_keys + end, heap[i]->key, heap[i]->key_bytes);
        ret_ends[i] = end += heap[i]->key_bytes;
        ret_dfs[i] = heap[i]->df;
    }
    if (!status)
        *ret_count = count;
    free(rows);
    free(heap);
    return status;
}
