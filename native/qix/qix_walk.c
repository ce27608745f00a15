/* Any query tree: windows, skipped when their bound cannot reach the threshold; in them, document by document. */
#include "qix_search.h"

static void walk_window(qix_search_state *s, uint32_t lo, uint32_t hi)
{
    for (uint32_t docid = qix_seek(&s->run, 0, lo); docid <= hi; docid = qix_seek(&s->run, 0, docid + 1)) {
        if (qix_is_deleted(s, docid))
            continue;
        s->match_count++;
        qix_offer(s, docid, qix_score(&s->run, 0));
    }
}

static uint32_t walk_tree_window(qix_search_state *s, uint32_t lo, uint32_t hi)
{
    const qix_cursor *root = &s->run.cursors[0];
    double bound = qix_bound(&s->run, 0, lo, hi);
    if (bound >= 0.0 && bound >= s->heap.threshold)
        walk_window(s, lo, hi);
    else if (bound >= 0.0)
        s->is_exact = false;
    return root->has_begun && root->docid > hi ? root->docid : hi + 1;
}

void qix_walk_tree(qix_search_state *s)
{
    for (uint32_t lo = 0; lo < s->run.segment->info.doc_count && !s->run.status;)
        lo = walk_tree_window(s, lo, qix_window_end(s, lo));
}
