/* Walking a part for its best documents: exact top k, by whichever of three ways fits the query.
 *
 *   one term      its blocks, skipping those whose pairs say that none can enter; scores go straight to the heap (J8)
 *   Or            windows of documents; in each, the lists whose bounds together cannot reach the threshold are only
 * asked about documents that the others have (MaxScore, Turtle and Flood 1995; with bounds per window as in Ding and
 * Suel 2011 and Grand et al. 2020) any other     windows, skipped when their bound cannot reach the threshold; in them,
 * document by document
 *
 * A window is one range of the range bounds, so that for common terms its bound is one byte. A window's bound decides
 * about that window alone (J29). Skipping needs a bound below the threshold: an equal score may win by its page id. */
#include "qix_search.h"

static void offer(qix_search_state *s, uint32_t docid, double score)
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

/* ---- one term ---- */

static void offer_block(qix_search_state *s, const qix_cursor *c)
{
    const qix_block *block = &c->block;
    for (uint32_t i = 0; i < block->count && !s->run.status; i++) {
        if (qix_is_deleted(s, block->docids[i]))
            continue;
        s->match_count++;
        offer(s, block->docids[i], c->factor * qix_norm(s->run.ranker, block->tfs[i], block->codes[i]));
    }
}

static void walk_term(qix_search_state *s, qix_cursor *c)
{
    if (!c->is_present)
        return;
    for (uint32_t block = 0; block < c->list.block_count && !s->run.status; block++) {
        double norm = c->list.is_long ? qix_pairs_norm(s->run.ranker, c->list.block_pairs + 2 * QIX_PAIRS * block)
                                      : c->short_norm;
        if (c->factor * norm * QIX_BOUND_SLACK < s->heap.threshold) {
            uint32_t left = c->list.df - block * QIX_BLOCK;
            s->match_count += s->tombstones ? 0 : left < QIX_BLOCK ? left : QIX_BLOCK;
            s->is_exact = s->is_exact && !s->tombstones;
            continue;
        }
        if (qix_cursor_load(&s->run, c, block))
            offer_block(s, c);
    }
}

/* ---- any tree ---- */

static void walk_window(qix_search_state *s, uint32_t lo, uint32_t hi)
{
    for (uint32_t docid = qix_seek(&s->run, 0, lo); docid <= hi; docid = qix_seek(&s->run, 0, docid + 1)) {
        if (qix_is_deleted(s, docid))
            continue;
        s->match_count++;
        offer(s, docid, qix_score(&s->run, 0));
    }
}

/* ---- Or ---- */

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
            offer(s, docid, sum_children(s, docid));
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

/* ---- all ways ---- */

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

void qix_walk_part(qix_search_state *s)
{
    qix_cursor *root = &s->run.cursors[0];
    if (root->kind == QIX_NODE_TERM && !root->is_restricted) {
        walk_term(s, root);
        return;
    }
    uint32_t doc_count = s->run.segment->info.doc_count;
    uint32_t range = (1u << s->run.segment->range_shift) - 1;
    for (uint32_t lo = 0; lo < doc_count && !s->run.status;) {
        uint32_t hi = (lo | range) < doc_count ? lo | range : doc_count - 1;
        if (root->kind == QIX_NODE_OR) {
            walk_or_window(s, lo, hi);
            lo = next_or_start(s, hi);
        } else {
            lo = walk_tree_window(s, lo, hi);
        }
    }
}
