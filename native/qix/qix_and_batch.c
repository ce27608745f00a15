/* The documents of one block of the rarest list, narrowed list by list.
 *
 * Each candidate has a highest possible score, which falls as its frequencies become known; it is dropped as soon as
 * that cannot enter. So blocks of the other lists are decoded only where a candidate is left that their bound lets in,
 * and frequencies are read one by one. */
#include "qix_and.h"

/* Above this part of 1, rounding could matter; candidates are then looked at one by one. */
#define NEEDED_PART_MAX 0.999999
#define NEEDED_SLACK (1.0 - 1e-9)

/* Whether a score that is at most `sum` may enter. Sums were made in another order than scores, hence the slack. */
static bool may_enter(const qix_and *a, double sum)
{
    return sum * QIX_BOUND_SLACK >= a->s->heap.threshold;
}

static qix_and_unit *unit_of(qix_and *a, const qix_and_list *list)
{
    return list->unit == QIX_NO_UNIT ? NULL : &a->units[list->unit];
}

/* How often the first list's term must be in a document for the document to enter, for each unit of its K. A frequency
 * part tf / (tf + K) is at least n where tf >= K * n / (1 - n). 0 keeps all. */
static double needed_ratio(const qix_and *a, const qix_and_unit *unit, double bound)
{
    if (!a->is_bounded || !unit || !(unit->factor > 0.0))
        return 0.0;
    double part = (a->s->heap.threshold / QIX_BOUND_SLACK - (bound - unit->bound)) / unit->factor;
    if (part <= 0.0 || part > NEEDED_PART_MAX)
        return 0.0;
    return part / (1.0 - part) * NEEDED_SLACK;
}

/* Keep what can enter by the first list alone, whose documents are not decoded for that. */
static void sift_first(qix_and *a, const qix_and_list *list, const qix_and_unit *unit, double bound)
{
    const double *norm_k = a->s->run.ranker->norm_k;
    const qix_block *block = &list->probe.block;
    uint32_t count = block->count, left = 0;
    double ratio = needed_ratio(a, unit, bound);
    for (uint32_t i = 0; i < count; i++) {
        a->live[left] = (uint8_t)i;
        left += ratio == 0.0 || block->tfs[i] >= norm_k[block->codes[i]] * ratio;
    }
    a->s->is_exact = a->s->is_exact && left == count;
    a->live_count = left;
}

static void drop_deleted(qix_and *a, const uint32_t *docids)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < a->live_count; i++) {
        a->live[left] = a->live[i];
        left += !qix_is_deleted(a->s, docids[a->live[i]]);
    }
    a->live_count = left;
}

/* Drop candidates that can no longer enter. */
static void drop_low(qix_and *a)
{
    uint32_t left = 0;
    if (!a->is_bounded)
        return;
    for (uint32_t i = 0; i < a->live_count; i++) {
        a->live[left] = a->live[i];
        left += may_enter(a, a->sums[a->live[i]]);
    }
    a->s->is_exact = a->s->is_exact && left == a->live_count;
    a->live_count = left;
}

/* Put a list's frequencies of the candidates in place of their bounds. */
static void note_tfs(qix_and *a, const qix_and_list *list, const qix_and_unit *unit)
{
    const qix_ranker *ranker = a->s->run.ranker;
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i];
        a->sums[slot] += unit->factor * qix_norm(ranker, list->tfs[slot], a->codes[slot]) - unit->bound;
    }
}

/* A phrase is nowhere more frequent than its rarest word. */
static void note_lowest_tfs(qix_and *a, const qix_and_list *list, qix_and_unit *unit)
{
    const qix_ranker *ranker = a->s->run.ranker;
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i], tf = list->tfs[slot];
        if (tf >= unit->tfs[slot])
            continue;
        double before = unit->bounds[slot];
        unit->tfs[slot] = tf;
        unit->bounds[slot] = unit->factor * qix_norm(ranker, tf, a->codes[slot]);
        a->sums[slot] += unit->bounds[slot] - before;
    }
}

static void note(qix_and *a, const qix_and_list *list, qix_and_unit *unit)
{
    if (!unit)
        return;
    if (unit->is_placed)
        note_lowest_tfs(a, list, unit);
    else
        note_tfs(a, list, unit);
    drop_low(a);
}

/* What is known of phrases before their lists say more. */
static void begin_placed(qix_and *a)
{
    for (uint32_t u = 0; u < a->unit_count; u++) {
        qix_and_unit *unit = &a->units[u];
        for (uint32_t i = 0; unit->is_placed && i < a->live_count; i++) {
            unit->tfs[a->live[i]] = UINT32_MAX;
            unit->bounds[a->live[i]] = unit->bound;
        }
    }
}

/* The first list has every candidate. */
static bool begin(qix_and *a, uint32_t index, double bound)
{
    qix_and_list *list = &a->lists[a->order[0]];
    qix_and_unit *unit = unit_of(a, list);
    const qix_block *block = &list->probe.block;
    a->is_bounded = a->s->heap.threshold > 0.0;
    if (!qix_probe_fill(&a->s->run, &list->probe, index))
        return false;
    sift_first(a, list, unit, bound);
    if (a->live_count == 0)
        return true;
    if (!qix_probe_docids(&a->s->run, &list->probe, index))
        return false;
    if (a->s->tombstones)
        drop_deleted(a, block->docids);
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i];
        a->sums[slot] = bound;
        a->codes[slot] = (uint8_t)block->codes[slot];
        list->tfs[slot] = block->tfs[slot];
        list->blocks[slot] = index;
        list->at[slot] = (uint8_t)slot;
    }
    begin_placed(a);
    note(a, list, unit);
    return true;
}

/* Candidates live[from..to] lie in one block of a list. Keep, from a->live[kept] on, those that may enter with the
 * highest frequency part that the block has. */
static uint32_t keep_promising(qix_and *a, const qix_and_unit *unit, double norm, uint32_t from, uint32_t to,
                               uint32_t kept)
{
    double bound = unit ? unit->factor * norm : 0.0;
    bool is_lower = unit && bound < unit->bound;
    for (uint32_t i = from; i < to; i++) {
        uint32_t slot = a->live[i];
        a->live[kept] = (uint8_t)slot;
        if (!is_lower) {
            kept++;
            continue;
        }
        double now = unit->is_placed ? unit->bounds[slot] : unit->bound;
        kept += bound >= now || may_enter(a, a->sums[slot] - now + bound);
    }
    return kept;
}

/* Keep, from live[kept] on, those of live[from..to] that are in the block which the probe has located. */
static uint32_t keep_found(qix_and *a, qix_and_list *list, const uint32_t *docids, uint32_t from, uint32_t to,
                           uint32_t kept)
{
    const qix_probe *probe = &list->probe;
    for (uint32_t i = from; i < to && probe->has_bits; i++) {
        uint32_t slot = a->live[i];
        a->live[kept] = (uint8_t)slot;
        kept += qix_probe_has(probe, docids[slot]);
    }
    for (uint32_t i = from; i < to && !probe->has_bits; i++) {
        uint32_t slot = a->live[i], at = qix_probe_find(probe, docids[slot]);
        list->at[slot] = (uint8_t)at;
        a->live[kept] = (uint8_t)slot;
        kept += probe->block.docids[at] == docids[slot];
    }
    return kept;
}

/* Where in the list the candidates live[from..to] are, and how often the term is in them. */
static bool read_postings(qix_and *a, qix_and_list *list, const uint32_t *docids, uint32_t from, uint32_t to)
{
    const qix_probe *probe = &list->probe;
    for (uint32_t i = from; i < to; i++) {
        uint32_t slot = a->live[i];
        if (probe->has_bits)
            list->at[slot] = (uint8_t)qix_probe_rank(probe, docids[slot]);
        list->blocks[slot] = probe->index;
        uint32_t tf = qix_probe_tf(probe, list->at[slot]);
        if (tf == 0)
            return qix_and_fail(a, list->probe.block.packed_tfs.body, "frequency is above 2^32 - 1");
        list->tfs[slot] = tf;
    }
    return true;
}

/* The end of the candidates from `from` on that would be in the same block. */
static uint32_t end_of_block(const qix_and *a, const qix_list *list, uint32_t block, const uint32_t *docids,
                             uint32_t from)
{
    if (!list->is_long)
        return a->live_count;
    uint32_t last = qix_list_last(list, block), to = from + 1;
    while (to < a->live_count && docids[a->live[to]] <= last)
        to++;
    return to;
}

/* Candidates live[from..to] that are to be looked for in one block. */
typedef struct {
    uint32_t block;
    uint32_t from, to;
} group;

/* Sort the candidates into groups by the block that would hold them, without those that cannot enter with it. All blocks
 * are known before the first is read, so that their bytes can be on the way together. */
static uint32_t make_groups(qix_and *a, qix_and_list *list, const uint32_t *docids, group ret_groups[QIX_BLOCK])
{
    qix_probe *probe = &list->probe;
    const qix_and_unit *unit = unit_of(a, list);
    const qix_list *of = &probe->cursor->list;
    uint32_t count = 0, kept = 0;
    for (uint32_t from = 0, to; from < a->live_count; from = to) {
        uint32_t block = qix_probe_block(probe, docids[a->live[from]]);
        if (block == of->block_count)
            break;
        to = end_of_block(a, of, block, docids, from);
        double norm = unit && a->is_bounded ? qix_probe_norm(&a->s->run, probe, block) : 1.0;
        uint32_t end = keep_promising(a, unit, norm, from, to, kept);
        a->s->is_exact = a->s->is_exact && end - kept == to - from;
        if (end > kept) {
            ret_groups[count++] = (group){block, kept, end};
            qix_probe_prefetch(probe, block);
        }
        kept = end;
    }
    return count;
}

/* Keep the candidates that another list has. */
static bool narrow(qix_and *a, qix_and_list *list)
{
    const uint32_t *docids = a->lists[a->order[0]].probe.block.docids;
    group groups[QIX_BLOCK];
    uint32_t count = make_groups(a, list, docids, groups), kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!qix_probe_ready(&a->s->run, &list->probe, groups[i].block))
            return false;
        uint32_t found = keep_found(a, list, docids, groups[i].from, groups[i].to, kept);
        if (list->unit != QIX_NO_UNIT && !read_postings(a, list, docids, kept, found))
            return false;
        kept = found;
    }
    a->live_count = kept;
    note(a, list, unit_of(a, list));
    return true;
}

/* ---- survivors ---- */

/* Count phrases; false if one is nowhere. */
static bool place(qix_and *a, uint32_t slot, uint32_t docid)
{
    for (uint32_t u = 0; u < a->unit_count; u++) {
        qix_and_unit *unit = &a->units[u];
        if (!unit->is_placed)
            continue;
        unit->tfs[slot] = qix_and_phrase_tf(a, unit, slot, docid);
        if (unit->tfs[slot] == 0)
            return false;
    }
    return true;
}

static bool passes(qix_and *a, uint32_t docid)
{
    qix_run *run = &a->s->run;
    for (uint32_t i = 0; i < a->child_count; i++) {
        const qix_and_child *child = &a->children[i];
        if (child->unit == QIX_NO_UNIT && (qix_seek(run, child->node, docid) == docid) == child->is_excluded)
            return false;
    }
    return !run->status;
}

static double unit_score(const qix_and *a, const qix_and_unit *unit, uint32_t slot)
{
    uint32_t tf = unit->is_placed ? unit->tfs[slot] : a->lists[unit->first].tfs[slot];
    return unit->factor * qix_norm(a->s->run.ranker, tf, a->codes[slot]);
}

/* In the order of the query, so that the sum rounds as the oracle's does. */
static double score(qix_and *a, uint32_t slot)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < a->child_count; i++) {
        const qix_and_child *child = &a->children[i];
        if (child->unit != QIX_NO_UNIT)
            sum += unit_score(a, &a->units[child->unit], slot);
        else if (!child->is_excluded)
            sum += qix_score(&a->s->run, child->node);
    }
    return sum;
}

static void offer_live(qix_and *a)
{
    const uint32_t *docids = a->lists[a->order[0]].probe.block.docids;
    for (uint32_t i = 0; i < a->live_count; i++)
        __builtin_prefetch(a->s->run.segment->section[QIX_PAGE_IDS] + 8 * (uint64_t)docids[a->live[i]]);
    for (uint32_t i = 0; i < a->live_count && !a->s->run.status; i++) {
        uint32_t slot = a->live[i];
        if (a->is_bounded && !may_enter(a, a->sums[slot])) {
            a->s->is_exact = false;
            continue;
        }
        if (!passes(a, docids[slot]) || !place(a, slot, docids[slot]))
            continue;
        a->s->match_count++;
        qix_offer(a->s, docids[slot], score(a, slot));
    }
}

void qix_and_offer_block(qix_and *a, uint32_t block, double bound)
{
    if (!begin(a, block, bound))
        return;
    for (uint32_t i = 1; i < a->list_count && a->live_count > 0; i++)
        if (!narrow(a, &a->lists[a->order[i]]))
            return;
    offer_live(a);
}
