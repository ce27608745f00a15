/* The state of one search, shared by what runs it: qix_search.c sets it up, a plan (qix_plan.h) walks a part.
 *
 * Skipping documents needs a bound below the threshold: an equal score may win by its page id. A bound of a window or a
 * block decides about that window or block alone (J29). */
#ifndef QIX_SEARCH_H
#define QIX_SEARCH_H

#include "qix_heap.h"
#include "qix_snapshot.h"

typedef struct {
    const qix_snapshot *snapshot;
    qix_run run;
    qix_heap heap;
    const qix_snapshot_part *part; /* at hand */
    const uint8_t *tombstones;     /* of it */
    uint64_t match_count;
    bool is_exact; /* nothing was skipped that might have matched */
    uint32_t plan; /* qix_plan.h */
} qix_search_state;

/* Look up the query's terms in every part, weigh them, and link the cursors. `terms` has room for every node in every
 * part, part after part (df 0 where a term is absent), `slots` for every node. */
qix_status qix_prepare(qix_search_state *s, qix_term *terms, uint16_t *slots);

/* Begin with a part that has documents: open the cursors of the query's terms in it. */
qix_status qix_enter_part(qix_search_state *s, uint32_t part, const qix_term *terms);

/* Put a live document of the part into the heap, if its score lets it in. */
static inline void qix_offer(qix_search_state *s, uint32_t docid, double score)
{
    if (score < s->heap.threshold)
        return;
    const qix_segment *segment = s->run.segment;
    const uint8_t *page = segment->section[QIX_PAGE_IDS] + 8 * (uint64_t)docid;
    qix_status status = qix_need(segment, page, 8, s->run.fault);
    if (status)
        qix_run_fail(&s->run, status);
    else
        qix_heap_push(&s->heap, (qix_hit){score, qix_load_u64(page)});
}

/* What at least k live postings of a term's list score, or 0 (qix_threshold.c): a search whose hits are the documents of
 * that list, and maybe more, can begin with this threshold. */
double qix_kth_score(const qix_search_state *s, const qix_cursor *cursor);

static inline void qix_raise_threshold(qix_search_state *s, double score)
{
    if (score > s->heap.threshold)
        s->heap.threshold = score;
}

/* The last document of the window that begins at `lo`: a range of the range bounds, so that for common terms a window's
 * bound is one byte. */
static inline uint32_t qix_window_end(const qix_search_state *s, uint32_t lo)
{
    uint32_t doc_count = s->run.segment->info.doc_count;
    uint32_t end = lo | ((1u << s->run.segment->range_shift) - 1);
    return end < doc_count ? end : doc_count - 1;
}

static inline bool qix_is_deleted(const qix_search_state *s, uint32_t docid)
{
    return s->tombstones && s->tombstones[docid / 8] >> (docid % 8) & 1;
}

#endif
