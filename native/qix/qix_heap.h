/* The k best hits so far: a heap whose root is the worst of them (J24, J25). Ties go to the lower page id. */
#ifndef QIX_HEAP_H
#define QIX_HEAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    double score;
    uint64_t page_id;
} qix_hit;

typedef struct {
    qix_hit *hits;
    uint32_t count;
    uint32_t capacity;
    double threshold; /* a lower score cannot enter; an equal one can */
} qix_heap;

static inline bool qix_hit_is_worse(qix_hit a, qix_hit b)
{
    return a.score != b.score ? a.score < b.score : a.page_id > b.page_id;
}

/* Offer a hit. */
void qix_heap_push(qix_heap *heap, qix_hit hit);
/* Put the hits in order, best first. The heap is no heap afterwards. */
void qix_heap_sort(qix_heap *heap);

#endif
