/* Or of any nodes: windows of documents; in each, the lists whose bounds together cannot reach the threshold are only
 * asked about documents that the others have (MaxScore, Turtle and Flood 1995; with bounds per window as in Ding and
 * Suel 2011 and Grand et al. 2020). */
#include "qix_search.h"

typedef struct {
    uint32_t node;
    double bound;
    double below; /* sum of this bound and the lower ones, with slack */
} or_child;

typedef struct {
    or_child children[QIX_QUERY_NODES_MAX]; /* those that may match in the window, by rising bound */
    uint32_t count;
    uint32_t first_essential;
} or_window;

static void open_window(qix_search_state *s, uint32_t lo, uint32_t hi, or_window *w)
{
    const qix_cursor *root = &s->run.cursors[0];
    w->count = 0;
    for (uint32_t i = 0; i < root->child_count; i++) {
        or_child child = {.node = root->children[i], .bound = qix_bound(&s->run, root->children[i], lo, hi)};
        if (child.bound < 0.0)
            continue;
        uint32_t at = w->count++;
        for (; at > 0 && w->children[at - 1].bound > child.bound; at--)
            w->children[at] = w->children[at - 1];
        w->children[at] = child;
    }
    double sum = 0.0;
    w->first_essential = w->count;
    for (uint32_t i = 0; i < w->count; i++) {
        sum += w->children[i].bound;
        w->children[i].below = sum * QIX_BOUND_SLACK;
        if (w->first_essential == w->count && w->children[i].below >= s->heap.threshold)
            w->first_essential = i;
    }
}

static uint32_t next_essential(qix_search_state *s, const or_window *w, uint32_t target)
{
    uint32_t lowest = QIX_DOC_END;
    for (uint32_t i = w->first_essential; i < w->count; i++) {
        uint32_t docid = qix_seek(&s->run, w->children[i].node, target);
        lowest = docid < lowest ? docid : lowest;
    }
    return lowest;
}

/* Ask the other lists about a document, until it is certain that it cannot enter. */
static bool can_enter(qix_search_state *s, const or_window *w, uint32_t docid)
{
    double sum = 0.0;
    for (uint32_t i = w->count; i-- > 0;) {
        uint32_t node = w->children[i].node;
        if (i < w->first_essential && (sum + w->children[i].below) * QIX_BOUND_SLACK < s->heap.threshold)
            return false;
        if (qix_seek(&s->run, node, docid) == docid)
            sum += qix_score(&s->run, node);
    }
    return true;
}

/* In the order of the query, so that the sum rounds as the oracle's does. Children that cannot match in the window
 * stand outside it, if they have begun. */
static double sum_children(qix_search_state *s, uint32_t docid)
{
    const qix_cursor *root = &s->run.cursors[0];
    double sum = 0.0;
    for (uint32_t i = 0; i < root->child_count; i++) {
        const qix_cursor *child = &s->run.cursors[root->children[i]];
        if (child->has_begun && child->docid == docid)
            sum += qix_score(&s->run, root->children[i]);
    }
    return sum;
}

static void walk_or_window(qix_search_state *s, uint32_t lo, uint32_t hi)
{
    or_window w;
    open_window(s, lo, hi, &w);
    if (w.first_essential > 0)
        s->is_exact = false;
    for (uint32_t docid = next_essential(s, &w, lo); docid <= hi; docid = next_essential(s, &w, docid + 1)) {
        if (qix_is_deleted(s, docid))
            continue;
        s->match_count++;
        if (can_enter(s, &w, docid))
            qix_offer(s, docid, sum_children(s, docid));
    }
}

/* The first document behind a window that can match, as far as the cursors show. */
static uint32_t next_or_start(const qix_search_state *s, uint32_t hi)
{
    const qix_cursor *root = &s->run.cursors[0];
    uint32_t lowest = QIX_DOC_END;
    for (uint32_t i = 0; i < root->child_count; i++) {
        const qix_cursor *child = &s->run.cursors[root->children[i]];
        uint32_t start = child->has_begun && child->docid > hi ? child->docid : hi + 1;
        lowest = start < lowest ? start : lowest;
    }
    return lowest;
}

void qix_walk_or_tree(qix_search_state *s)
{
    for (uint32_t lo = 0; lo < s->run.segment->info.doc_count && !s->run.status;) {
        uint32_t hi = qix_window_end(s, lo);
        walk_or_window(s, lo, hi);
        lo = next_or_start(s, hi);
    }
}
