#include "qix_heap.h"

static void sift_down(qix_hit *hits, uint32_t count, uint32_t at)
{
    qix_hit hit = hits[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && qix_hit_is_worse(hits[child + 1], hits[child]))
            child++;
        if (!qix_hit_is_worse(hits[child], hit))
            break;
        hits[at] = hits[child];
        at = child;
    }
    hits[at] = hit;
}

static void sift_up(qix_hit *hits, uint32_t at)
{
    qix_hit hit = hits[at];
    while (at > 0 && qix_hit_is_worse(hit, hits[(at - 1) / 2])) {
        hits[at] = hits[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    hits[at] = hit;
}

void qix_heap_push(qix_heap *heap, qix_hit hit)
{
    if (heap->count < heap->capacity) {
        heap->hits[heap->count] = hit;
        sift_up(heap->hits, heap->count++);
    } else if (heap->capacity > 0 && qix_hit_is_worse(heap->hits[0], hit)) {
        heap->hits[0] = hit;
        sift_down(heap->hits, heap->count, 0);
    }
    if (heap->count == heap->capacity && heap->capacity > 0 && heap->hits[0].score > heap->threshold)
        heap->threshold = heap->hits[0].score;
}

void qix_heap_sort(qix_heap *heap)
{
    for (uint32_t left = heap->count; left > 1;) {
        qix_hit worst = heap->hits[0];
        heap->hits[0] = heap->hits[--left];
        heap->hits[left] = worst;
        sift_down(heap->hits, left, 0);
    }
}
