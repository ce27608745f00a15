/* A heap of pointers into rows: what moves is a pointer, never a key. */
#include "qix_best_terms.h"

#include <stdlib.h>

static bool is_worse(const qix_listed_term *a, const qix_listed_term *b)
{
    if (a->edits != b->edits)
        return a->edits > b->edits;
    return a->df != b->df ? a->df < b->df : a->index > b->index;
}

static void sift_down(qix_listed_term **heap, uint32_t count, uint32_t at)
{
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_worse(heap[child + 1], heap[child]))
            child++;
        if (!is_worse(heap[child], heap[at]))
            return;
        qix_listed_term *swapped = heap[at];
        heap[at] = heap[child];
        heap[child] = swapped;
    }
}

static void sift_up(qix_listed_term **heap, uint32_t at)
{
    while (at > 0 && is_worse(heap[at], heap[(at - 1) / 2])) {
        qix_listed_term *swapped = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swapped;
        at = (at - 1) / 2;
    }
}

qix_status qix_best_init(qix_best_terms *best, uint32_t limit, qix_fault *fault)
{
    *best = (qix_best_terms){.limit = limit};
    best->rows = malloc(limit * sizeof *best->rows);
    best->heap = malloc(limit * sizeof *best->heap);
    return best->rows && best->heap ? QIX_OK : qix_no_memory(fault);
}

void qix_best_offer(qix_best_terms *best, const qix_term_walk *walk, uint32_t edits)
{
    bool is_full = best->count == best->limit;
    qix_listed_term *row = is_full ? best->heap[0] : &best->rows[best->count];
    if (is_full) {
        const qix_listed_term offered = {.edits = edits, .df = walk->term.df, .index = walk->index};
        if (!is_worse(row, &offered))
            return;
    }
    row->edits = edits;
    row->df = walk->term.df;
    row->index = walk->index;
    row->key_bytes = walk->key_bytes;
    memcpy(row->key, walk->key, walk->key_bytes);
    if (is_full) {
        sift_down(best->heap, best->count, 0);
    } else {
        best->heap[best->count] = row;
        sift_up(best->heap, best->count++);
    }
}

void qix_best_write(qix_best_terms *best, uint8_t *ret_keys, uint32_t *ret_ends, uint32_t *ret_dfs, uint32_t *ret_count)
{
    qix_listed_term **heap = best->heap;
    uint32_t end = 0;
    for (uint32_t left = best->count; left > 1;) { /* the worst goes behind the others */
        qix_listed_term *worst = heap[0];
        heap[0] = heap[--left];
        heap[left] = worst;
        sift_down(heap, left, 0);
    }
    for (uint32_t i = 0; i < best->count; i++) {
        memcpy(ret_keys + end, heap[i]->key, heap[i]->key_bytes);
        ret_ends[i] = end += heap[i]->key_bytes;
        ret_dfs[i] = heap[i]->df;
    }
    *ret_count = best->count;
    best->count = 0;
}

void qix_best_free(qix_best_terms *best)
{
    free(best->rows);
    free(best->heap);
}
