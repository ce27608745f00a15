/* The documents of one block of the rarest list, narrowed list by list.
 *
 * Each candidate has a highest possible score, which falls as its frequencies become known; it is dropped as soon as
 * that cannot enter. So blocks of the other lists are decoded only where a candidate is left that their bound lets in,
 * and frequencies are read one by one. */
#include "qix_and.h"

#include <math.h>

#include "qix_kernels.h"

/* Sums of floats that are at most a block's bound err by far less than this part of it. */
#define FLOAT_SLACK 1e-5
/* Frequencies from here on are no floats. */
#define TF_LIMIT (1u << 24)
/* So many frequencies of a block, or more, are unpacked with all others. */
#define READ_ALL_MIN 6u

static bool may_enter(const qix_and *a, float sum)
{
    return sum >= a->floor;
}

static qix_and_unit *unit_of(qix_and *a, const qix_and_list *list)
{
    return list->unit == QIX_NO_UNIT ? NULL : &a->units[list->unit];
}

static double norm_of(const qix_and *a, uint32_t tf, uint32_t slot)
{
    return tf / (tf + a->s->run.ranker->norm_k[a->codes[slot]]);
}

static void list_live(qix_and *a, uint64_t mask, uint32_t first)
{
    for (; mask; mask &= mask - 1)
        a->live[a->live_count++] = (uint8_t)(first + (uint32_t)__builtin_ctzll(mask));
}

/* Keep what can enter by the first list alone, whose documents are not decoded for that. */
static void sift_first(qix_and *a, const qix_and_list *list, const qix_and_unit *unit, double bound)
{
    const qix_block *block = &list->probe.block;
    uint64_t mask[2] = {UINT64_MAX, UINT64_MAX};
    if (unit && block->any_tf < TF_LIMIT)
        qix_kernels()->bound_postings(block->tfs, block->codes, a->curve, (float)unit->factor,
                                      (float)(bound - unit->bound), a->floor, a->sums, mask);
    else
        for (uint32_t i = 0; i < QIX_BLOCK; i++)
            a->sums[i] = (float)bound;
    if (block->count < QIX_BLOCK) {
        mask[0] &= block->count < 64 ? (UINT64_C(1) << block->count) - 1 : UINT64_MAX;
        mask[1] &= block->count < 64 ? 0 : (UINT64_C(1) << (block->count - 64)) - 1;
    }
    a->live_count = 0;
    list_live(a, mask[0], 0);
    list_live(a, mask[1], 64);
    a->s->is_exact = a->s->is_exact && a->live_count == block->count;
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
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i];
        a->sums[slot] += (float)(unit->factor * norm_of(a, list->tfs[slot], slot) - unit->bound);
    }
}

/* A phrase is nowhere more frequent than its rarest word. */
static void note_lowest_tfs(qix_and *a, const qix_and_list *list, qix_and_unit *unit)
{
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i], tf = list->tfs[slot];
        if (tf >= unit->tfs[slot])
            continue;
        float bound = (float)(unit->factor * norm_of(a, tf, slot));
        a->sums[slot] += bound - unit->bounds[slot];
        unit->tfs[slot] = tf;
        unit->bounds[slot] = bound;
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

/* What is known of phrases by the first list alone. */
static void begin_placed(qix_and *a, const qix_and_list *first)
{
    for (uint32_t u = 0; u < a->unit_count; u++) {
        qix_and_unit *unit = &a->units[u];
        bool has_tf = first->unit == u;
        for (uint32_t i = 0; unit->is_placed && i < a->live_count; i++) {
            uint32_t slot = a->live[i], tf = first->probe.block.tfs[slot];
            unit->tfs[slot] = has_tf ? tf : UINT32_MAX;
            unit->bounds[slot] = (float)(has_tf ? unit->factor * norm_of(a, tf, slot) : unit->bound);
        }
    }
}

/* The first list has every candidate. */
static bool begin(qix_and *a, uint32_t index, double bound)
{
    qix_run *run = &a->s->run;
    qix_and_list *list = &a->lists[a->order[0]];
    const qix_block *block = &list->probe.block;
    double threshold = a->s->heap.threshold;
    a->floor = threshold > 0.0 ? (float)(threshold - FLOAT_SLACK * bound) : -INFINITY;
    if (!qix_probe_fill(run, &list->probe, index))
        return false;
    sift_first(a, list, unit_of(a, list), bound);
    if (a->live_count == 0)
        return true;
    if (!qix_probe_docids(run, &list->probe, index))
        return false;
    if (a->s->tombstones)
        drop_deleted(a, block->docids);
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i];
        a->codes[slot] = (uint8_t)block->codes[slot];
        list->tfs[slot] = block->tfs[slot];
        list->blocks[slot] = index;
        list->at[slot] = (uint8_t)slot;
    }
    begin_placed(a, list);
    return true;
}

/* Candidates live[from..to] lie in one block of a list. Keep, from a->live[kept] on, those that may enter with the
 * highest frequency part that the block has. */
static uint32_t keep_promising(qix_and *a, const qix_and_unit *unit, double norm, uint32_t from, uint32_t to,
                               uint32_t kept)
{
    float bound = unit ? (float)(unit->factor * norm) : 0.0f;
    bool is_lower = unit && bound < (float)unit->bound;
    for (uint32_t i = from; i < to; i++) {
        uint32_t slot = a->live[i];
        a->live[kept] = (uint8_t)slot;
        if (!is_lower) {
            kept++;
            continue;
        }
        float now = unit->is_placed ? unit->bounds[slot] : (float)unit->bound;
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
    uint32_t all[QIX_BLOCK];
    bool has_all =
        !probe->block.is_whole && to - from >= READ_ALL_MIN && qix_packed_read(&probe->block.packed_tfs, all);
    for (uint32_t i = from; i < to; i++) {
        uint32_t slot = a->live[i];
        if (probe->has_bits)
            list->at[slot] = (uint8_t)qix_probe_rank(probe, docids[slot]);
        list->blocks[slot] = probe->index;
        uint32_t tf = has_all ? all[list->at[slot]] + 1 : qix_probe_tf(probe, list->at[slot]);
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
        double norm = unit && a->floor > 0.0f ? qix_probe_norm(&a->s->run, probe, block) : 1.0;
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

/* The same word once more, of which everything is known. */
static void repeat(qix_and *a, const qix_and_list *first, qix_and_list *list)
{
    for (uint32_t i = 0; i < a->live_count; i++) {
        uint32_t slot = a->live[i];
        list->tfs[slot] = first->tfs[slot];
        list->blocks[slot] = first->blocks[slot];
        list->at[slot] = first->at[slot];
    }
    note(a, list, unit_of(a, list));
}

/* ---- survivors ---- */

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
        if (!passes(a, docids[slot]))
            continue;
        a->s->match_count++;
        qix_offer(a->s, docids[slot], score(a, slot));
    }
}

void qix_and_offer_block(qix_and *a, uint32_t block, double bound)
{
    if (!begin(a, block, bound))
        return;
    for (uint32_t i = 1; i < a->list_count && a->live_count > 0; i++) {
        qix_and_list *list = &a->lists[a->order[i]];
        if (list->repeats != QIX_NO_LIST)
            repeat(a, &a->lists[list->repeats], list);
        else if (!narrow(a, list))
            return;
    }
    for (uint32_t u = 0; u < a->unit_count && a->live_count > 0; u++)
        if (a->units[u].is_placed && !qix_and_count(a, &a->units[u]))
            return;
    offer_live(a);
}
