/* One window of an Or of terms: MaxScore (Turtle and Flood 1995), term by term.
 *
 * Lists are parted by their bounds in the window: those whose bounds together stay below the threshold are not
 * essential, since a document must be in one of the others to enter. The essential lists' scores are added up, list after
 * list, into an array over the window (one alone is filtered directly). What could still enter with the bounds of the
 * other lists is looked up there, highest bound first, until it cannot. */
#include "qix_or.h"

/* From so many candidates on, decoding a whole block costs less than reading single postings of it; and finding docids
 * through an array over the window less than searching the block for each. */
#define FILL_MIN 6u
#define PLACES_MIN 12u

/* The highest score of a block's postings. */
static float block_bound(qix_or *o, qix_or_list *list, uint32_t block)
{
    const qix_list *of = &list->cursor->list;
    if (!of->is_long)
        return list->bound;
    if (list->bounded_block != block) {
        const uint8_t *pairs = of->block_pairs + 2 * QIX_PAIRS * (uint64_t)block;
        list->bounded_block = block;
        list->block_bound = list->weight * qix_pairs_norm32(o->search->run.ranker, pairs);
    }
    return list->block_bound;
}

static uint32_t find_block(const qix_or_list *list, uint32_t target)
{
    const qix_list *of = &list->cursor->list;
    if (of->is_long)
        return qix_list_find(of, list->near, target);
    return list->cursor->block.docids[of->df - 1] < target ? 1 : 0;
}

/* The first posting of a block with a docid >= target, or count. */
static uint32_t find_posting(const qix_block *block, uint32_t target)
{
    if (block->count == QIX_BLOCK)
        return qix_kernels()->count_below(block->docids, target);
    uint32_t low = 0, high = block->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (block->docids[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- essential lists ---- */

/* A block's postings with frequencies that the table of norms does not have. */
static void add_large(qix_or *o, const qix_or_list *list, uint32_t from, uint32_t to)
{
    const qix_block *block = &list->cursor->block;
    for (uint32_t i = from; i < to; i++) {
        uint32_t at = block->docids[i] - o->lo;
        o->window[at] += list->weight * qix_norm32(o->search->run.ranker, block->tfs[i], block->codes[i]);
        o->marks[at / QIX_MARK_DOCS] = 1;
    }
}

static uint32_t pick_large(const qix_or *o, const qix_or_list *list, uint32_t from, uint32_t to, float least,
                           uint32_t found)
{
    const qix_block *block = &list->cursor->block;
    for (uint32_t i = from; i < to; i++) {
        float score = list->weight * qix_norm32(o->search->run.ranker, block->tfs[i], block->codes[i]);
        o->docids[found] = block->docids[i];
        o->scores[found] = score;
        found += score >= least;
    }
    return found;
}

/* Add up the block's postings from..to - 1, or, if the list is alone, pick those that are high enough. */
static uint32_t take_postings(qix_or *o, const qix_or_list *list, uint32_t from, uint32_t to, bool is_alone,
                              float least, uint32_t found)
{
    const qix_block *block = &list->cursor->block;
    const float *norms = &o->search->run.ranker->norm32[0][0];
    bool is_small = block->any_tf < QIX_NORM_TFS;
    if (is_alone && is_small)
        return found + qix_kernels()->pick_postings(block->docids + from, block->tfs + from, block->codes + from,
                                                    to - from, norms, list->weight, least, o->docids + found,
                                                    o->scores + found);
    if (is_alone)
        return pick_large(o, list, from, to, least, found);
    if (is_small)
        qix_kernels()->add_scores(block->docids + from, block->tfs + from, block->codes + from, to - from, norms,
                                  list->weight, o->lo, o->window, o->marks);
    else
        add_large(o, list, from, to);
    return found;
}

/* Go through a list's blocks in the window; a block whose bound cannot reach `least` is not decoded. */
static uint32_t take_list(qix_or *o, qix_or_list *list, bool is_alone, float least, uint32_t *ret_postings)
{
    qix_cursor *c = list->cursor;
    uint32_t found = 0;
    for (uint32_t block = find_block(list, o->lo); block < c->list.block_count; block++) {
        if (block > 0 && qix_list_last(&c->list, block - 1) >= o->hi)
            break;
        list->near = block;
        if (block_bound(o, list, block) < least) {
            o->is_whole = false;
            continue;
        }
        if (!qix_cursor_load(&o->search->run, c, block))
            return 0;
        uint32_t from = c->block.docids[0] < o->lo ? find_posting(&c->block, o->lo) : 0;
        uint32_t to = c->block.docids[c->block.count - 1] > o->hi ? find_posting(&c->block, o->hi + 1) : c->block.count;
        found = take_postings(o, list, from, to, is_alone, least, found);
        *ret_postings += to - from;
    }
    return found;
}

/* Fill docids and scores with the candidates of the essential lists; gives how many. */
static uint32_t take_essential(qix_or *o, uint32_t *ret_touched)
{
    float all = o->below[o->present_count], others = o->below[o->essential];
    if (o->essential + 1 == o->present_count)
        return take_list(o, o->present[o->essential], true, o->least - others, ret_touched);
    for (uint32_t i = o->essential; i < o->present_count; i++)
        take_list(o, o->present[i], false, o->least - (all - o->present[i]->bound), ret_touched);
    uint32_t docs = (o->hi - o->lo + 8 * QIX_MARK_DOCS) / (8 * QIX_MARK_DOCS) * (8 * QIX_MARK_DOCS);
    float least = o->least - others;
    return qix_kernels()->sweep_window(o->window, o->marks, docs, o->lo, least > 0.0f ? least : QIX_LEAST_SCORE,
                                       o->docids, o->scores, ret_touched);
}

/* ---- the other lists ---- */

/* Whether the decoded block is the one that would hold the document. */
static bool is_at(const qix_cursor *c, uint32_t docid)
{
    return c->block_index != QIX_NO_BLOCK && c->block.docids[0] <= docid &&
           docid <= c->block.docids[c->block.count - 1];
}

/* The block that would hold a document, or block_count. */
uint32_t qix_or_block_of(qix_or_list *list, uint32_t docid)
{
    if (is_at(list->cursor, docid))
        return list->cursor->block_index;
    uint32_t block = find_block(list, docid);
    list->near = block;
    return block;
}

/* Find a document in a block of a list; false if it is not there. */
bool qix_or_look_up(qix_or *o, qix_or_list *list, uint32_t block, uint32_t docid, uint32_t *ret_tf, uint8_t *ret_code)
{
    qix_cursor *c = list->cursor;
    if (!qix_cursor_load_docids(&o->search->run, c, block))
        return false;
    uint32_t at = find_posting(&c->block, docid);
    if (at == c->block.count || c->block.docids[at] != docid)
        return false;
    qix_status status = qix_list_posting(&c->list, &c->block, at, ret_tf, ret_code, o->search->run.fault);
    if (status)
        qix_run_fail(&o->search->run, status);
    return status == QIX_OK;
}

/* Add to candidates what a block with frequencies and codes gives them; docids that it does not have get nothing, from
 * the table's first entry, without a branch: which ones it has cannot be predicted. */
static void add_found(qix_or *o, const qix_or_list *list, const uint32_t *docids, float *scores, uint32_t count)
{
    const qix_block *block = &list->cursor->block;
    const float *norms = &o->search->run.ranker->norm32[0][0];
    /* Two documents of a longer stretch could share a place. */
    bool has_places = count >= PLACES_MIN && block->docids[block->count - 1] - block->docids[0] < QIX_OR_WINDOW_DOCS;
    for (uint32_t i = 0; has_places && i < block->count; i++)
        o->places[block->docids[i] % QIX_OR_WINDOW_DOCS] = (uint8_t)i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = has_places ? o->places[docids[i] % QIX_OR_WINDOW_DOCS] : find_posting(block, docids[i]);
        at = at < block->count ? at : 0;
        uint32_t entry = block->docids[at] == docids[i] ? block->tfs[at] << 8 | block->codes[at] : 0;
        scores[i] += list->weight * norms[entry];
    }
}

/* The same one by one: for few candidates, and frequencies that the table does not have. */
static void look_up_each(qix_or *o, qix_or_list *list, uint32_t block, const uint32_t *docids, float *scores,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tf;
        uint8_t code;
        if (qix_or_look_up(o, list, block, docids[i], &tf, &code))
            scores[i] += list->weight * qix_norm32(o->search->run.ranker, tf, code);
    }
}

/* Ask one block about candidates within its documents. */
static void ask_block(qix_or *o, qix_or_list *list, uint32_t block, const uint32_t *docids, float *scores,
                      uint32_t count)
{
    if (count < FILL_MIN) {
        look_up_each(o, list, block, docids, scores, count);
        return;
    }
    if (!qix_cursor_load(&o->search->run, list->cursor, block))
        return;
    if (list->cursor->block.any_tf < QIX_NORM_TFS)
        add_found(o, list, docids, scores, count);
    else
        look_up_each(o, list, block, docids, scores, count);
}

/* Keep the candidates from..to - 1 that reach `least`, behind the `kept` that are kept already; gives how many are. */
static uint32_t keep(qix_or *o, uint32_t kept, uint32_t from, uint32_t to, float least)
{
    for (uint32_t i = from; i < to; i++) {
        float score = o->scores[i];
        o->docids[kept] = o->docids[i];
        o->scores[kept] = score;
        kept += score >= least;
    }
    return kept;
}

/* Ask present[i] about all candidates, block by block; gives how many can still enter with the lists below it. */
static uint32_t ask_list(qix_or *o, uint32_t i, uint32_t count)
{
    qix_or_list *list = o->present[i];
    uint32_t kept = 0, block_count = list->cursor->list.block_count;
    float least = o->least - o->below[i];
    for (uint32_t from = 0, to; from < count && !o->search->run.status; from = to) {
        uint32_t block = qix_or_block_of(list, o->docids[from]);
        if (block == block_count)
            return keep(o, kept, from, count, least);
        uint32_t last = list->cursor->list.is_long ? qix_list_last(&list->cursor->list, block) : QIX_DOC_END;
        for (to = from + 1; to < count && o->docids[to] <= last;)
            to++;
        uint32_t asked = keep(o, kept, from, to, least - block_bound(o, list, block));
        if (asked > kept)
            ask_block(o, list, block, o->docids + kept, o->scores + kept, asked - kept);
        kept = keep(o, kept, kept, asked, least);
    }
    return kept;
}

/* Count the matches of a window, of which `touched` were added up and `count` are candidates. */
static void count_matches(const qix_or *o, uint32_t touched, uint32_t count)
{
    qix_search_state *s = o->search;
    /* Deleted documents are seen among candidates alone. */
    s->is_exact = s->is_exact && o->is_whole && (!s->tombstones || touched == count);
    if (!s->is_exact)
        return;
    s->match_count += touched;
    for (uint32_t i = 0; s->tombstones && i < count; i++)
        s->match_count -= qix_is_deleted(s, o->docids[i]);
}

void qix_or_walk_window(qix_or *o)
{
    qix_search_state *s = o->search;
    uint32_t touched = 0;
    o->is_whole = o->essential == 0;
    uint32_t count = take_essential(o, &touched);
    count_matches(o, touched, count);
    for (uint32_t i = o->essential; i-- > 0 && !s->run.status;)
        count = ask_list(o, i, count);
    for (uint32_t i = 0; i < count && !s->run.status; i++)
        if (o->scores[i] >= o->least && !qix_is_deleted(s, o->docids[i]))
            qix_or_keep(o, o->docids[i], o->scores[i]);
}
