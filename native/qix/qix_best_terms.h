/* The best few terms of many, kept in a heap, then written out best first. */
#ifndef QIX_BEST_TERMS_H
#define QIX_BEST_TERMS_H

#include "qix_segment.h"

typedef struct {
    uint32_t edits; /* fewer are better, then a higher df, then the order of keys */
    uint32_t df;
    uint32_t key_bytes;
    uint64_t index;
    uint8_t key[QIX_KEY_BYTES_MAX];
} qix_listed_term;

typedef struct {
    qix_listed_term *rows;
    qix_listed_term **heap; /* the worst is on top */
    uint32_t limit, count;
} qix_best_terms;

/* `limit` is 1 to QIX_LIST_TERMS_MAX. Whatever it returns, qix_best_free is to be called. */
qix_status qix_best_init(qix_best_terms *best, uint32_t limit, qix_fault *fault);
/* Keep the term that the walk stands at if it is among the best so far. */
void qix_best_offer(qix_best_terms *best, const qix_term_walk *walk, uint32_t edits);
/* Write the terms, best first, in the layout of qix_list_terms; they are no longer kept. */
void qix_best_write(qix_best_terms *best, uint8_t *ret_keys, uint32_t *ret_ends, uint32_t *ret_dfs,
                    uint32_t *ret_count);
void qix_best_free(qix_best_terms *best);

#endif
