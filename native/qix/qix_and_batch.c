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

/* Replace a unit's part of a candidate's highest score, if `bound` says more. */
static bool lower(qix_and *a, qix_and_unit *unit, uint32_t slot, double bound)
{
    if (bound < unit->bounds[slot]) {
        a->sums[slot] += bound - unit->bounds[slot];
        unit->bounds[slot] = bound;
    }
    return may_enter(a, a->sums[slot]);
}

/* Note a frequency; false if the candidate cannot enter with it. */
static bool note_tf(qix_and *a, qix_and_list *list, uint32_t slot, uint32_t tf)
{
    list->tfs[slot] = tf;
    if (list->unit == QIX_NO_UNIT)
        return true;
    qix_and_unit *unit = &a->units[list->unit];
    if (tf < unit->tfs[slot])
        unit->tfs[slot] = tf;
    return !a->is_bounded ||
           lower(a, unit, slot, unit->factor * qix_norm(a->s->run.ranker, unit->tfs[slot], a->codes[slot]));
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
    qix_run *run = &a->s->run;
    const qix_block *block = &list->probe.block;
    uint32_t count = block->count, left = 0;
    double ratio = needed_ratio(a, unit, bound);
    for (uint32_t i = 0; i < count; i++) {
        a->live[left] = (uint8_t)i;
        left += ratio == 0.0 || block->tfs[i] >= run->ranker->norm_k[block->codes[i]] * ratio;
    }
    a->s->is_exact = a->s->is_exact && left == count;
    a->live_count = left;
}

/* The first list has every candidate. */
static bool begin(qix_and *a, uint32_t block, double bound)
{
    qix_and_list *list = &a->lists[a->order[0]];
    const qix_and_unit *unit = list->unit == QIX_NO_UNIT ? NULL : &a->units[list->unit];
    uint32_t left = 0;
    a->is_bounded = a->s->heap.threshold > 0.0;
    if (!qix_probe_fill(&a->s->run, &list->probe, block))
        return false;
    sift_first(a, list, unit, bound);
    if (a->live_count > 0 && !qix_probe_locate(&a->s->run, &list->probe, block))
        return false;
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i];
        if (qix_is_deleted(a->s, list->probe.block.docids[slot]))
            continue;
        a->sums[slot] = bound;
        a->codes[slot] = (uint8_t)list->probe.block.codes[slot];
        for (uint32_t u = 0; u < a->unit_count; u++) {
            a->units[u].tfs[slot] = UINT32_MAX;
            a->units[u].bounds[slot] = a->units[u].bound;
        }
        list->blocks[slot] = block;
        list->at[slot] = (uint8_t)slot;
        if (unit && !note_tf(a, list, slot, list->probe.block.tfs[slot]))
            a->s->is_exact = false;
        else
            a->live[left++] = (uint8_t)slot;
    }
    a->live_count = left;
    return true;
}

/* Keep the candidates that another list has. */
static bool narrow(qix_and *a, qix_and_list *list)
{
    qix_run *run = &a->s->run;
    qix_probe *probe = &list->probe;
    qix_and_unit *unit = list->unit == QIX_NO_UNIT ? NULL : &a->units[list->unit];
    const uint32_t *docids = a->lists[a->order[0]].probe.block.docids;
    uint32_t left = 0, block_count = probe->cursor->list.block_count;
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i], docid = docids[slot];
        uint32_t block = qix_probe_block(probe, docid);
        if (block == block_count)
            break;
        if (unit && a->is_bounded && !lower(a, unit, slot, unit->factor * qix_probe_norm(run, probe, block))) {
            a->s->is_exact = false;
            continue;
        }
        if (!qix_probe_locate(run, probe, block))
            return false;
        uint32_t at = qix_probe_find(probe, docid);
        if (probe->block.docids[at] != docid)
            continue;
        list->at[slot] = (uint8_t)at;
        list->blocks[slot] = block;
        uint32_t tf = unit ? qix_probe_tf(probe, at) : 1;
        if (tf == 0)
            return qix_and_fail(a, probe->block.packed_tfs.body, "frequency is above 2^32 - 1");
        if (unit && !note_tf(a, list, slot, tf))
            a->s->is_exact = false;
        else
            a->live[left++] = (uint8_t)slot;
    }
    a->live_count = left;
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

/* In the order of the query, so that the sum rounds as the oracle's does. */
static double score(qix_and *a, uint32_t slot)
{
    qix_run *run = &a->s->run;
    double sum = 0.0;
    for (uint32_t i = 0; i < a->child_count; i++) {
        const qix_and_child *child = &a->children[i];
        if (child->is_excluded)
            continue;
        const qix_and_unit *unit = child->unit == QIX_NO_UNIT ? NULL : &a->units[child->unit];
        sum +=
            unit ? unit->factor * qix_norm(run->ranker, unit->tfs[slot], a->codes[slot]) : qix_score(run, child->node);
    }
    return sum;
}

static void offer_live(qix_and *a)
{
    const uint32_t *docids = a->lists[a->order[0]].probe.block.docids;
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
