/* What a conjunction asks of every document, worked out once a part: shared by qix_and.c, which plans and walks, and
 * qix_and_batch.c, which narrows the documents of one block. */
#ifndef QIX_AND_H
#define QIX_AND_H

#include "qix_kernels.h"
#include "qix_places.h"
#include "qix_probe.h"
#include "qix_search.h"

/* Lists that are intersected; what a query has beyond them is asked about the documents that these have. */
#define QIX_AND_LISTS_MAX 64u
#define QIX_NO_UNIT UINT32_MAX
#define QIX_NO_LIST UINT32_MAX
/* Places of the rarest word of a phrase that are compared at once; more are walked (qix_phrase.c). */
#define QIX_AND_PLACES_MAX 4096u

/* A list that every match is in. `tfs`, `blocks` and `at` say where each candidate is in it; in a block of the rarest
 * list a candidate is at its own number. */
typedef struct {
    qix_probe probe;
    qix_places places;
    uint32_t unit;    /* that needs its frequencies, or QIX_NO_UNIT */
    uint32_t repeats; /* a list of the same word that comes earlier in the order, or QIX_NO_LIST */
    uint32_t offset;  /* in a phrase */
    double norm;      /* highest frequency part in the whole list */
    uint32_t tfs[QIX_BLOCK];
    uint32_t blocks[QIX_BLOCK];
    uint8_t at[QIX_BLOCK];
} qix_and_list;

/* A part of the score: a term, or the words of a phrase (of one, if only its fields need positions). */
typedef struct {
    uint32_t node;
    double factor; /* 0 within a filter */
    bool is_placed;
    uint32_t fields;
    uint32_t first, count;            /* its lists */
    uint32_t low_offset, high_offset; /* of its words */
    double bound;                     /* of any document of the block at hand */
    float bounds[QIX_BLOCK];          /* of each candidate, if is_placed */
    uint32_t tfs[QIX_BLOCK];          /* lowest frequency found so far, if is_placed */
} qix_and_unit;

/* Ascending (candidate, place) with QIX_KEYS_SLACK behind them, and where each candidate's are. */
typedef struct {
    uint32_t count;
    uint32_t starts[QIX_BLOCK], ends[QIX_BLOCK];
    uint32_t keys[QIX_AND_PLACES_MAX + QIX_KEYS_SLACK];
} qix_and_keys;

/* A child of the root, in the order of the query. */
typedef struct {
    uint32_t unit; /* or QIX_NO_UNIT: the node is asked by seeking */
    uint32_t node;
    bool is_excluded;
} qix_and_child;

/* Candidates are the documents of one block of the rarest list, by their index in it. */
typedef struct {
    qix_search_state *s;
    qix_and_list *lists;
    uint16_t order[QIX_AND_LISTS_MAX]; /* by rising frequency */
    uint32_t list_count;
    qix_and_unit *units;
    uint32_t unit_count;
    qix_and_child children[QIX_QUERY_NODES_MAX];
    uint32_t child_count;

    float sums[QIX_BLOCK]; /* highest score that each can have */
    float floor;           /* below it, none can enter; low enough for how floats round */
    float curve[2];        /* K of a length is curve[0] + curve[1] * length, rounded */
    uint8_t codes[QIX_BLOCK];
    uint8_t live[QIX_BLOCK]; /* ascending */
    uint32_t live_count;
    bool is_bounded; /* the heap is full, so that bounds are kept */
    qix_and_keys keys[2];
    uint32_t places[QIX_AND_PLACES_MAX]; /* of one candidate: where a phrase may begin */
} qix_and;

/* Offer the documents of a block of the first list that match and can enter. `bound` is of any of them. */
void qix_and_offer_block(qix_and *a, uint32_t block, double bound);

/* Count a placed unit in the live candidates, and drop those that it is not in; false on a fault. */
bool qix_and_count(qix_and *a, qix_and_unit *unit);

/* The sum of two weighted frequencies. */
static inline uint32_t qix_add_tf(uint32_t tf, uint32_t weight)
{
    return tf > UINT32_MAX - weight ? UINT32_MAX : tf + weight;
}

/* Frequency of a placed unit in candidate `slot`, from the word that is there least; 0 also on a fault. */
uint32_t qix_and_phrase_tf(qix_and *a, const qix_and_unit *unit, uint32_t slot, uint32_t docid);

/* Keep a fault; false. */
static inline bool qix_and_fail(qix_and *a, const uint8_t *at, const char *reason)
{
    qix_run *run = &a->s->run;
    qix_run_fail(run, qix_corrupt(run->fault, qix_offset_of(run->segment, at), reason));
    return false;
}

#endif
