/* Cursors: a query tree walking through one segment, document by document.
 *
 * Each node of the query has a cursor. qix_seek moves one to its first document at or after a target; targets never
 * decrease. qix_score is asked only where every cursor below stands on the document or behind it is known not to match.
 * qix_bound says how high a score can be in a range of documents, from summaries alone.
 * A fault is kept in the run and ends every cursor; the driver looks at it once. */
#ifndef QIX_CURSOR_H
#define QIX_CURSOR_H

#include "qix_query.h"
#include "qix_segment.h"

#define QIX_DOC_END UINT32_MAX
#define QIX_NO_BLOCK UINT32_MAX
/* What qix_bound gives when no document of the range can match. */
#define QIX_NO_MATCH (-1.0)
/* Sums of bounds and of scores may round differently: 32 additions of doubles err by less than 2^-47. */
#define QIX_BOUND_SLACK (1.0 + 1e-12)
#define QIX_NORM_TFS 256u

/* What scoring needs of a snapshot. */
typedef struct {
    double norm_k[256];
    float norm32[QIX_NORM_TFS][256]; /* tf / (tf + K), rounded: for finding what may enter, never for a result */
    float pair_norm32[256][256];     /* of impact pairs, by their bytes */
} qix_ranker;

typedef struct {
    uint8_t kind;
    bool is_present; /* of a term: in this segment's dictionary */
    bool is_restricted;
    bool needs_positions; /* restricted, or of a phrase */
    uint32_t docid;       /* where it stands; meaningless before the first seek */
    bool has_begun;
    uint64_t cost; /* documents that it may have to visit */
    double factor; /* weight * idf */

    /* terms */
    qix_list list;
    qix_block block;
    uint32_t block_index;
    uint32_t at;          /* posting in the block */
    uint32_t bound_block; /* where the last bound was looked for */
    double short_norm;    /* highest frequency part of a short list */
    qix_positions positions;
    uint32_t positions_block;

    /* restricted terms and phrases: weighted frequency in the document it stands on */
    uint32_t tf;

    /* And: positive children, cheapest first, then the excluded. Or, Phrase, Filter: children in order. */
    uint16_t *children;
    uint32_t child_count;
    uint32_t excluded_count;
} qix_cursor;

typedef struct {
    const qix_query *query;
    const qix_segment *segment;
    const qix_ranker *ranker;
    double range_factor; /* makes this segment's range bounds safe under the ranker's parameters */
    qix_cursor *cursors;
    /* what was decoded (again, if a block was read twice), and what the lists of the query hold */
    uint64_t postings_decoded, postings_total;
    uint64_t blocks_decoded, blocks_total;
    qix_status status;
    qix_fault *fault;
} qix_run;

/* A division costs less than a look at a table that is not in the cache: few postings come as far as this. */
static inline double qix_norm(const qix_ranker *ranker, uint32_t tf, uint32_t code)
{
    return tf / (tf + ranker->norm_k[code]);
}

static inline float qix_norm32(const qix_ranker *ranker, uint32_t tf, uint32_t code)
{
    return tf < QIX_NORM_TFS ? ranker->norm32[tf][code] : (float)(tf / (tf + ranker->norm_k[code]));
}

/* Keep the first fault. */
static inline uint32_t qix_run_fail(qix_run *run, qix_status status)
{
    if (!run->status)
        run->status = status;
    return QIX_DOC_END;
}

/* ---- lists: qix_cursor.c ---- */

/* Begin with a term's list; `term` is NULL if this segment has none. */
void qix_cursor_open(qix_run *run, qix_cursor *cursor, const qix_term *term);
/* Let targets begin again from 0. */
void qix_cursor_rewind(qix_cursor *cursor);
/* Load a block and stand before its first posting; false on a fault. */
bool qix_cursor_load(qix_run *run, qix_cursor *cursor, uint32_t block);
/* Load a block's docids alone (its rest by qix_list_fill or qix_list_posting). */
bool qix_cursor_load_docids(qix_run *run, qix_cursor *cursor, uint32_t block);
/* The first block whose last document is >= target, or block_count. `near` is any block; looking begins there. */
uint32_t qix_list_find(const qix_list *list, uint32_t near, uint32_t target);
uint32_t qix_cursor_seek(qix_run *run, qix_cursor *cursor, uint32_t target);
/* Highest frequency part of the postings that QIX_PAIRS pairs cover. */
double qix_pairs_norm(const qix_ranker *ranker, const uint8_t *pairs);
float qix_pairs_norm32(const qix_ranker *ranker, const uint8_t *pairs);
/* Highest frequency part of any posting in documents lo..hi, or QIX_NO_MATCH. */
double qix_cursor_norm_bound(qix_run *run, qix_cursor *cursor, uint32_t lo, uint32_t hi);
/* A walk over the positions of the posting that the cursor stands on. */
bool qix_cursor_positions(qix_run *run, qix_cursor *cursor, qix_position_walk *ret_walk);
static inline uint32_t qix_cursor_code(const qix_cursor *cursor)
{
    return cursor->block.codes[cursor->at];
}

/* ---- trees: qix_tree.c ---- */

uint32_t qix_seek(qix_run *run, uint32_t node, uint32_t target);
double qix_score(qix_run *run, uint32_t node);
double qix_bound(qix_run *run, uint32_t node, uint32_t lo, uint32_t hi);

/* ---- phrases: qix_phrase.c ---- */

uint32_t qix_phrase_seek(qix_run *run, uint32_t node, uint32_t target);
/* Weighted frequency of a term in some fields, in the posting that it stands on. */
uint32_t qix_restricted_tf(qix_run *run, qix_cursor *cursor, uint32_t fields);

#endif
