/* The state of one search, shared by the two files that run it: qix_search.c sets it up, qix_walk.c walks a part. */
#ifndef QIX_SEARCH_H
#define QIX_SEARCH_H

#include "qix_heap.h"
#include "qix_snapshot.h"

typedef struct {
    const qix_snapshot *snapshot;
    qix_run run;
    qix_heap heap;
    const uint8_t *tombstones; /* of the part at hand */
    uint64_t match_count;
    bool is_exact; /* nothing was skipped that might have matched */
} qix_search_state;

/* Offer every document of the part that can enter the heap. */
void qix_walk_part(qix_search_state *s);

static inline bool qix_is_deleted(const qix_search_state *s, uint32_t docid)
{
    return s->tombstones && s->tombstones[docid / 8] >> (docid % 8) & 1;
}

#endif
