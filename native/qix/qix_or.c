/* Or of terms: which windows of a part are looked at, and in which order.
 *
 * The bounds of all lists are added up range by range, one byte each; a range whose sum is below the threshold is never
 * looked at again. The ranges with the highest sums come first, since what they hold lifts the threshold most; the others
 * follow in their order, up to four in one window (Mallia et al., SIGIR 2024, take all in falling order; in order, blocks
 * that reach over a border are decoded once). */
#include "qix_or.h"

#include "qix_plan.h"

/* Ranges that are looked at before the others. */
#define FIRST_RANGES 8u
/* Float scores are off by less than 2^-24 for each operation: three for a part, one for each addition. */
#define FLOAT_ERROR (1.0 / (1 << 23))
#define OPERATIONS 8u
/* Room for documents that may be among the best: four times as many, or more. */
#define FOUND_LEAST 512u
/* Factors further apart, or so small that doubles lose digits, are left to the general Or. */
#define FACTOR_SPREAD 1e20
#define FACTOR_LEAST 1e-200

typedef struct {
    uint32_t range;
    float sum;
} ranked_range;

/* A bound of each range from a short list's postings, or from the pairs of a longer one's blocks. */
static void fill_bounds(const qix_or *o, const qix_or_list *list, uint8_t *bounds)
{
    const qix_cursor *c = list->cursor;
    const qix_ranker *ranker = o->search->run.ranker;
    memset(bounds, 0, o->range_count);
    for (uint32_t i = 0; !c->list.is_long && i < c->block.count; i++) {
        uint8_t *bound = &bounds[c->block.docids[i] >> o->range_shift];
        uint8_t byte = qix_byte_above(qix_norm32(ranker, c->block.tfs[i], c->block.codes[i]));
        *bound = byte > *bound ? byte : *bound;
    }
    uint32_t from = 0;
    for (uint32_t block = 0; c->list.is_long && block < c->list.block_count; block++) {
        uint32_t to = qix_list_last(&c->list, block) >> o->range_shift;
        uint8_t byte = qix_byte_above(qix_pairs_norm32(ranker, c->list.block_pairs + 2 * QIX_PAIRS * (uint64_t)block));
        for (uint32_t range = from; range <= to && range < o->range_count; range++)
            bounds[range] = byte > bounds[range] ? byte : bounds[range];
        from = to;
    }
}

static void add_lists(qix_or *o)
{
    const qix_cursor *root = &o->search->run.cursors[0];
    for (uint32_t i = 0; i < root->child_count; i++) {
        qix_cursor *c = &o->search->run.cursors[root->children[i]];
        if (!c->is_present)
            continue;
        o->lists[o->list_count++] = (qix_or_list){.cursor = c, .bounded_block = QIX_NO_BLOCK};
        o->scale = c->factor > o->scale ? c->factor : o->scale;
        qix_raise_threshold(o->search, qix_kth_score(o->search, c));
    }
}

static void weigh_lists(qix_or *o, uint8_t *bounds)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < o->list_count; i++) {
        qix_or_list *list = &o->lists[i];
        double factor = list->cursor->list.range_bounds ? o->search->run.range_factor : 1.0;
        sum += list->cursor->factor / o->scale;
        list->weight = (float)(list->cursor->factor / o->scale);
        list->bound_scale = (float)(list->weight * factor / QIX_RANGE_ONE);
        list->bounds = list->cursor->list.range_bounds;
        if (!list->bounds) {
            fill_bounds(o, list, bounds);
            list->bounds = bounds;
            bounds += o->range_count;
        }
        qix_kernels()->add_bytes(o->sums, list->bounds, list->bound_scale, o->range_count);
    }
    o->slack = (float)((o->list_count + OPERATIONS) * FLOAT_ERROR * sum * o->search->run.range_factor);
}

/* Lists that may have documents in the ranges from..to - 1, by rising bound, and where the essential ones begin. */
static void part_lists(qix_or *o, uint32_t from, uint32_t to)
{
    o->present_count = 0;
    for (uint32_t i = 0; i < o->list_count; i++) {
        qix_or_list *list = &o->lists[i];
        uint8_t byte = 0;
        for (uint32_t range = from; range < to; range++)
            byte = list->bounds[range] > byte ? list->bounds[range] : byte;
        if (byte == 0)
            continue;
        list->bound = byte * list->bound_scale;
        uint32_t at = o->present_count++;
        for (; at > 0 && o->present[at - 1]->bound > list->bound; at--)
            o->present[at] = o->present[at - 1];
        o->present[at] = list;
    }
    o->below[0] = 0.0f;
    o->essential = 0;
    for (uint32_t i = 0; i < o->present_count; i++) {
        o->below[i + 1] = o->below[i] + o->present[i]->bound;
        if (o->below[i + 1] < o->least)
            o->essential = i + 1;
    }
}

static void walk_ranges(qix_or *o, uint32_t from, uint32_t to)
{
    uint32_t doc_count = o->search->run.segment->info.doc_count;
    o->lo = from << o->range_shift;
    o->hi = to == o->range_count ? doc_count - 1 : (to << o->range_shift) - 1;
    part_lists(o, from, to);
    if (o->essential < o->present_count)
        qix_or_walk_window(o);
    else if (o->present_count > 0)
        o->search->is_exact = false;
}

/* The ranges with the highest sums; their sums become QIX_NO_BOUND, as those that are done. */
static void walk_best(qix_or *o)
{
    ranked_range best[FIRST_RANGES];
    uint32_t count = 0;
    for (uint32_t range = 0; range < o->range_count; range++) {
        float sum = o->sums[range];
        if (sum < o->least || (count == FIRST_RANGES && sum <= best[count - 1].sum))
            continue;
        uint32_t at = count < FIRST_RANGES ? count++ : count - 1;
        for (; at > 0 && best[at - 1].sum < sum; at--)
            best[at] = best[at - 1];
        best[at] = (ranked_range){range, sum};
    }
    for (uint32_t i = 0; i < count && !o->search->run.status; i++) {
        if (best[i].sum < o->least)
            break;
        walk_ranges(o, best[i].range, best[i].range + 1);
        o->sums[best[i].range] = QIX_NO_BOUND;
    }
}

static void walk_others(qix_or *o)
{
    for (uint32_t from = 0, to; from < o->range_count && !o->search->run.status; from = to) {
        to = from + 1;
        if (o->sums[from] < o->least || o->sums[from] <= 0.0f) {
            if (o->sums[from] > 0.0f)
                o->search->is_exact = false;
            continue;
        }
        uint32_t end = from + QIX_OR_WINDOW_RANGES < o->range_count ? from + QIX_OR_WINDOW_RANGES : o->range_count;
        while (to < end && o->sums[to] >= o->least && o->sums[to] > 0.0f)
            to++;
        walk_ranges(o, from, to);
    }
}

/* All arrays of a walk, in one piece of memory. */
static bool take_memory(qix_or *o, uint8_t **ret_bounds)
{
    uint32_t children = o->search->run.cursors[0].child_count;
    size_t lists = children * sizeof *o->lists, present = children * sizeof *o->present;
    size_t below = (children + 1) * sizeof *o->below, sums = o->range_count * sizeof *o->sums;
    size_t window = QIX_OR_WINDOW_DOCS * sizeof *o->window, marks = QIX_OR_WINDOW_DOCS / QIX_MARK_DOCS;
    size_t candidates = (QIX_OR_WINDOW_DOCS + QIX_BLOCK) * sizeof *o->docids;
    size_t best = o->search->heap.capacity * sizeof *o->best, found = o->found_capacity * sizeof *o->found;
    uint8_t *at =
        qix_snapshot_take(o->search->snapshot, lists + present + below + sums + window + marks + 2 * candidates + best +
                                                   found + QIX_OR_WINDOW_DOCS + (size_t)children * o->range_count);
    if (!at)
        return false;
    o->lists = (qix_or_list *)(void *)at;
    o->present = (qix_or_list **)(void *)(at += lists);
    o->window = (float *)(void *)(at += present);
    o->sums = (float *)(void *)(at += window);
    o->below = (float *)(void *)(at += sums);
    o->docids = (uint32_t *)(void *)(at += below);
    o->scores = (float *)(void *)(at += candidates);
    o->best = (float *)(void *)(at += candidates);
    o->found = (qix_or_found *)(void *)(at += best);
    o->marks = at += found;
    o->places = at + marks;
    *ret_bounds = at + marks + QIX_OR_WINDOW_DOCS;
    memset(o->window, 0, window + sums);
    memset(o->marks, 0, marks + QIX_OR_WINDOW_DOCS);
    return true;
}

bool qix_is_or_of_terms(const qix_query *query)
{
    if (query->nodes[0].kind != QIX_NODE_OR)
        return false;
    for (uint32_t node = 1; node < query->count; node++)
        if (query->nodes[node].kind != QIX_NODE_TERM || query->nodes[node].fields != 0)
            return false;
    return true;
}

/* Whether floats can tell the lists' scores apart from nothing, and ranges are not larger than a window. */
static bool fits_floats(const qix_search_state *s)
{
    const qix_cursor *root = &s->run.cursors[0];
    double highest = 0.0, lowest = 0.0;
    for (uint32_t i = 0; i < root->child_count; i++) {
        double factor = s->run.cursors[root->children[i]].factor;
        highest = factor > highest ? factor : highest;
        lowest = i == 0 || factor < lowest ? factor : lowest;
    }
    return lowest >= FACTOR_LEAST && highest <= lowest * FACTOR_SPREAD &&
           s->run.segment->range_shift <= QIX_OR_WINDOW_SHIFT - 2;
}

/* Where not everything was counted, the longest list says how many match at least. */
static void count_matches(const qix_or *o, uint64_t before)
{
    qix_search_state *s = o->search;
    uint64_t most = 0;
    for (uint32_t i = 0; i < o->list_count; i++)
        most = o->lists[i].cursor->list.df > most ? o->lists[i].cursor->list.df : most;
    most = most > s->part->deleted_count ? most - s->part->deleted_count : 0;
    if (!s->is_exact && s->match_count < before + most)
        s->match_count = before + most;
}

void qix_walk_or(qix_search_state *s)
{
    if (!fits_floats(s)) {
        qix_walk_or_tree(s);
        return;
    }
    uint32_t shift = s->run.segment->range_shift;
    uint64_t ranges = ((uint64_t)s->run.segment->info.doc_count + (1u << shift) - 1) >> shift, before = s->match_count;
    uint32_t capacity = s->heap.capacity > FOUND_LEAST / 4 ? 4 * s->heap.capacity : FOUND_LEAST;
    qix_or o = {.search = s,
                .least = QIX_NO_BOUND,
                .found_capacity = capacity,
                .range_shift = shift,
                .range_count = (uint32_t)ranges};
    uint8_t *bounds;
    if (!take_memory(&o, &bounds)) {
        qix_run_fail(&s->run, qix_no_memory(s->run.fault));
        return;
    }
    add_lists(&o);
    if (o.list_count > 0) {
        weigh_lists(&o, bounds);
        qix_or_set_least(&o);
        walk_best(&o);
        walk_others(&o);
        qix_or_flush(&o);
        count_matches(&o, before);
    }
    qix_snapshot_give(s->snapshot, o.lists);
}
