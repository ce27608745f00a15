/* Or of terms, found window by window: what qix_or.c (which windows, in which order), qix_or_window.c (one window)
 * and qix_or_best.c (what it leaves) share.
 *
 * Scores are first added up as floats, as parts of the highest factor of a term so that none is above the number of
 * terms. What these sums let through is scored again in doubles and in the order of the query, so that results are those
 * of scoring every document. `slack` is more than the floats can be wrong by, and `least` is the threshold less it. */
#ifndef QIX_OR_H
#define QIX_OR_H

#include "qix_kernels.h"
#include "qix_search.h"

/* Ranges of a window at most, and documents: 4,096 floats and what is read beside them fit the first cache. */
#define QIX_OR_WINDOW_RANGES 4u
#define QIX_OR_WINDOW_SHIFT 12u
#define QIX_OR_WINDOW_DOCS (1u << QIX_OR_WINDOW_SHIFT)
#define QIX_NO_BOUND (-1.0f)
/* Below every score: 0 is what documents have that no list holds. */
#define QIX_LEAST_SCORE 1e-37f

typedef struct {
    qix_cursor *cursor;
    float weight;          /* factor, as a part of the highest */
    const uint8_t *bounds; /* a byte for each range; 0: the list has no document there */
    float bound_scale;     /* a byte times this bounds the scores of its range */
    float bound;           /* of the window at hand */
    uint32_t near;         /* a block near which the next is looked for */
    uint32_t bounded_block;
    float block_bound; /* of that block */
} qix_or_list;

typedef struct {
    uint32_t docid;
    float score;
} qix_or_found;

typedef struct {
    qix_search_state *search;
    qix_or_list *lists; /* in the order of the query */
    uint32_t list_count;
    double scale; /* the highest factor */
    float slack, least;

    uint32_t range_shift, range_count;
    float *sums; /* of the lists' bounds in each range */

    /* the window at hand */
    uint32_t lo, hi;
    qix_or_list **present; /* lists that may have documents in it, by rising bound */
    float *below;          /* sum of the bounds of present[0..i - 1] */
    uint32_t present_count, essential;
    bool is_whole; /* every posting in it was added up */

    float *window; /* QIX_OR_WINDOW_DOCS zeros between windows */
    uint8_t *marks;
    uint32_t *docids; /* candidates: QIX_OR_WINDOW_DOCS, and a block's more */
    float *scores;
    /* what may be among the best (qix_or_best.c) */
    float *best; /* a heap of the k best scores, the lowest first */
    uint32_t best_count;
    qix_or_found *found;
    uint32_t found_count, found_capacity;

    uint8_t *places; /* where a block has a document of the window; whatever was there before is checked */
} qix_or;

/* The smallest byte whose 255th part is not below a frequency part; at least 1. */
static inline uint8_t qix_byte_above(float norm)
{
    uint32_t byte = (uint32_t)(norm * (float)QIX_RANGE_ONE) + 1;
    return byte < 255 ? (uint8_t)byte : 255;
}

/* Keep the documents of window lo..hi that can enter. */
void qix_or_walk_window(qix_or *o);

/* The block that would hold a document, or block_count. */
uint32_t qix_or_block_of(qix_or_list *list, uint32_t docid);
/* Find a document in a block of a list; false if it is not there. */
bool qix_or_look_up(qix_or *o, qix_or_list *list, uint32_t block, uint32_t docid, uint32_t *ret_tf, uint8_t *ret_code);

/* Keep a live document that may be among the best. */
void qix_or_keep(qix_or *o, uint32_t docid, float score);
/* Score what has been kept, and offer it. */
void qix_or_flush(qix_or *o);

/* Bring `least` up to the heap's threshold. */
static inline void qix_or_set_least(qix_or *o)
{
    double threshold = o->search->heap.threshold;
    float least = threshold > 0.0 ? (float)(threshold / o->scale) - o->slack : QIX_NO_BOUND;
    if (least > o->least)
        o->least = least;
}

#endif
