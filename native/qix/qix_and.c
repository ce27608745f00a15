/* Conjunctions and phrases: the rarest list's blocks, one after the other, asked about in the other lists.
 *
 * Every child of the root that is a term, a phrase or a filter on one gives lists, which all matches are in. A block of
 * the rarest list is skipped if the bounds of all children together cannot enter the heap; qix_and_batch.c does the
 * others. What else the root has (nested trees, exclusions) is asked about the documents that come through. */
#include "qix_and.h"

#include <stdlib.h>

#include "qix_length.h"

/* How many blocks of another list may be looked at for the bound of one block of the rarest. */
#define BOUND_BLOCKS_MAX 16u
#define FIRST_BLOCKS 8u

/* ---- planning ---- */

static bool is_placed(const qix_node *node)
{
    return node->kind == QIX_NODE_PHRASE || node->fields != 0;
}

static void add_list(qix_and *a, uint32_t node, uint32_t unit)
{
    const qix_cursor *cursor = &a->s->run.cursors[node];
    qix_and_list *list = &a->lists[a->list_count++];
    qix_probe_open(&list->probe, cursor);
    qix_places_open(&list->places, cursor);
    list->unit = unit;
    list->offset = a->s->run.query->nodes[node].offset;
    list->norm = cursor->list.is_long ? qix_pairs_norm(a->s->run.ranker, cursor->list.pairs) : cursor->short_norm;
}

static uint32_t add_unit(qix_and *a, uint32_t node, double factor)
{
    const qix_node *nodes = a->s->run.query->nodes;
    uint32_t index = a->unit_count++;
    bool is_phrase = nodes[node].kind == QIX_NODE_PHRASE;
    a->units[index] = (qix_and_unit){.node = node,
                                     .factor = factor,
                                     .is_placed = is_placed(&nodes[node]),
                                     .fields = nodes[node].fields,
                                     .first = a->list_count,
                                     .count = is_phrase ? nodes[node].end - node - 1 : 1};
    qix_and_unit *unit = &a->units[index];
    unit->low_offset = UINT32_MAX;
    for (uint32_t i = 0; i < unit->count; i++) {
        uint32_t word = is_phrase ? node + 1 + i : node, offset = nodes[word].offset;
        add_list(a, word, index);
        unit->low_offset = offset < unit->low_offset ? offset : unit->low_offset;
        unit->high_offset = offset > unit->high_offset ? offset : unit->high_offset;
    }
    return index;
}

/* Lists that a node gives; 0 if it is to be asked by seeking. */
static uint32_t lists_of(const qix_query *query, uint32_t node)
{
    const qix_node *at = &query->nodes[node];
    if (at->kind == QIX_NODE_FILTER)
        return lists_of(query, node + 1);
    return at->kind == QIX_NODE_TERM ? 1 : at->kind == QIX_NODE_PHRASE ? at->end - node - 1 : 0;
}

static void add_child(qix_and *a, uint32_t node)
{
    const qix_run *run = &a->s->run;
    const qix_node *at = &run->query->nodes[node];
    bool is_filter = at->kind == QIX_NODE_FILTER;
    uint32_t inner = node, lists = lists_of(run->query, node);
    while (run->query->nodes[inner].kind == QIX_NODE_FILTER) /* of a filter, too */
        inner++;
    qix_and_child child = {.unit = QIX_NO_UNIT, .node = node, .is_excluded = at->kind == QIX_NODE_NOT};
    if (lists > 0 && a->list_count + lists <= QIX_AND_LISTS_MAX) {
        if (is_filter && !is_placed(&run->query->nodes[inner])) {
            add_list(a, inner, QIX_NO_UNIT);
            return;
        }
        child.unit = add_unit(a, inner, is_filter ? 0.0 : run->cursors[inner].factor);
    }
    a->children[a->child_count++] = child;
}

static void order_lists(qix_and *a)
{
    for (uint32_t i = 0; i < a->list_count; i++) {
        uint32_t at = i, df = a->lists[i].probe.cursor->list.df;
        for (; at > 0 && a->lists[a->order[at - 1]].probe.cursor->list.df > df; at--)
            a->order[at] = a->order[at - 1];
        a->order[at] = (uint16_t)i;
    }
}

/* Words that a query has twice are looked for once; but a list that is only a filter has no frequencies. */
static void find_repeated(qix_and *a)
{
    for (uint32_t i = 0; i < a->list_count; i++) {
        qix_and_list *list = &a->lists[a->order[i]];
        list->repeats = QIX_NO_LIST;
        for (uint32_t j = 0; j < i && list->repeats == QIX_NO_LIST; j++) {
            const qix_and_list *earlier = &a->lists[a->order[j]];
            if (earlier->unit != QIX_NO_UNIT &&
                earlier->probe.cursor->list.bytes.pos == list->probe.cursor->list.bytes.pos)
                list->repeats = a->order[j];
        }
    }
}

static bool is_present(const qix_and *a)
{
    for (uint32_t i = 0; i < a->list_count; i++)
        if (!a->lists[i].probe.cursor->is_present)
            return false;
    return true;
}

/* ---- walking ---- */

/* Highest frequency part of a list's postings in documents lo..hi. */
static double norm_within(const qix_run *run, qix_and_list *list, uint32_t lo, uint32_t hi)
{
    const qix_list *of = &list->probe.cursor->list;
    if (!of->is_long)
        return list->norm;
    uint32_t block = qix_probe_block(&list->probe, lo), end = block + BOUND_BLOCKS_MAX;
    double highest = 0.0;
    for (; block < of->block_count; block++) {
        if (block == end)
            return list->norm;
        double norm = qix_probe_norm(run, &list->probe, block);
        highest = norm > highest ? norm : highest;
        if (qix_list_last(of, block) >= hi)
            break;
    }
    return highest;
}

/* Bounds of units and of what is asked by seeking; negative if nothing can match, or not enter. */
static double bound_block(qix_and *a, uint32_t block, uint32_t lo, uint32_t hi)
{
    qix_run *run = &a->s->run;
    double sum = 0.0;
    for (uint32_t u = 0; u < a->unit_count; u++) {
        qix_and_unit *unit = &a->units[u];
        double lowest = 1.0;
        for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
            double norm = i == a->order[0] ? qix_probe_norm(run, &a->lists[i].probe, block)
                                           : norm_within(run, &a->lists[i], lo, hi);
            lowest = norm < lowest ? norm : lowest;
        }
        unit->bound = unit->factor * lowest;
        sum += unit->bound;
    }
    for (uint32_t i = 0; i < a->child_count; i++)
        if (a->children[i].unit == QIX_NO_UNIT && !a->children[i].is_excluded) {
            double bound = qix_bound(run, a->children[i].node, lo, hi);
            if (bound < 0.0)
                return QIX_NO_MATCH;
            sum += bound;
        }
    return sum;
}

/* The documents of a block of the rarest list. */
static void extent_of(const qix_list *list, uint32_t block, uint32_t *ret_lo, uint32_t *ret_hi)
{
    uint32_t doc_count = list->segment->info.doc_count;
    *ret_lo = (uint32_t)(qix_list_previous(list, block) + 1);
    *ret_hi = list->is_long ? qix_list_last(list, block) : doc_count - 1;
    if (*ret_lo > *ret_hi || *ret_hi >= doc_count)
        *ret_hi = doc_count - 1; /* damage: decoding the block says what it is */
}

/* Ask from the beginning again. */
static void rewind_all(qix_and *a)
{
    qix_run *run = &a->s->run;
    for (uint32_t i = 0; i < a->list_count; i++)
        qix_probe_rewind(&a->lists[i].probe);
    for (uint32_t node = 0; node < run->query->count; node++)
        qix_cursor_rewind(&run->cursors[node]);
}

/* Highest score of what is asked by seeking, in any document; negative if nothing can match. */
static double sought_bound(qix_and *a)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < a->child_count; i++)
        if (a->children[i].unit == QIX_NO_UNIT && !a->children[i].is_excluded) {
            double bound = qix_bound(&a->s->run, a->children[i].node, 0, a->s->run.segment->info.doc_count - 1);
            if (bound < 0.0)
                return QIX_NO_MATCH;
            sum += bound;
        }
    return sum;
}

/* The same from what is known of whole lists, but for the rarest; this does not move them. */
static double rough_bound(qix_and *a, uint32_t block)
{
    double sum = 0.0;
    for (uint32_t u = 0; u < a->unit_count; u++) {
        const qix_and_unit *unit = &a->units[u];
        double lowest = 1.0;
        for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
            double norm = i == a->order[0] ? qix_probe_norm(&a->s->run, &a->lists[i].probe, block) : a->lists[i].norm;
            lowest = norm < lowest ? norm : lowest;
        }
        sum += unit->factor * lowest;
    }
    return sum;
}

static double bound_of(qix_and *a, uint32_t block)
{
    uint32_t lo, hi;
    extent_of(&a->lists[a->order[0]].probe.cursor->list, block, &lo, &hi);
    return bound_block(a, block, lo, hi);
}

/* Whether a block's bound lets it be left out. */
static bool is_low(qix_and *a, double bound)
{
    bool is_low = bound < 0.0 || bound * QIX_BOUND_SLACK < a->s->heap.threshold;
    if (is_low && bound >= 0.0)
        a->s->is_exact = false;
    return is_low;
}

/* A bound must have been made just before, for what it leaves in the units. */
static void walk_block(qix_and *a, uint32_t block)
{
    double bound = bound_of(a, block);
    if (!is_low(a, bound))
        qix_and_offer_block(a, block, bound);
}

/* Put the blocks of highest bound first, best first. */
static uint32_t pick_first(const double *bounds, uint32_t count, uint32_t ret_blocks[FIRST_BLOCKS])
{
    uint32_t picked = 0;
    for (uint32_t block = 0; block < count; block++) {
        uint32_t at = picked;
        if (at == FIRST_BLOCKS && bounds[block] <= bounds[ret_blocks[at - 1]])
            continue;
        at = at == FIRST_BLOCKS ? at - 1 : picked++;
        for (; at > 0 && bounds[ret_blocks[at - 1]] < bounds[block]; at--)
            ret_blocks[at] = ret_blocks[at - 1];
        ret_blocks[at] = block;
    }
    return picked;
}

/* The blocks of highest bound are walked before the others, so that the threshold is high early. */
static void walk_by_bound(qix_and *a, double *bounds, uint32_t count)
{
    uint32_t first[FIRST_BLOCKS];
    double sought = sought_bound(a);
    for (uint32_t block = 0; block < count; block++)
        bounds[block] = rough_bound(a, block) + sought;
    if (sought < 0.0)
        return;
    uint32_t picked = pick_first(bounds, count, first);
    for (uint32_t i = 0; i < picked; i++) {
        rewind_all(a);
        walk_block(a, first[i]);
        bounds[first[i]] = QIX_NO_MATCH;
    }
    rewind_all(a);
    for (uint32_t block = 0; block < count && !a->s->run.status; block++)
        if (!is_low(a, bounds[block]))
            walk_block(a, block);
}

static void walk_blocks(qix_and *a)
{
    uint32_t count = a->lists[a->order[0]].probe.cursor->list.block_count;
    double *bounds = count >= 2 * FIRST_BLOCKS ? malloc(count * sizeof *bounds) : NULL;
    if (bounds)
        walk_by_bound(a, bounds, count);
    for (uint32_t block = 0; !bounds && block < count && !a->s->run.status; block++)
        walk_block(a, block);
    free(bounds);
}

static void plan_and_walk(qix_and *a)
{
    const qix_node *nodes = a->s->run.query->nodes;
    bool is_and = nodes[0].kind == QIX_NODE_AND;
    for (uint32_t node = is_and ? 1 : 0; node < nodes[0].end; node = nodes[node].end)
        add_child(a, node);
    order_lists(a);
    if (!is_present(a))
        return;
    find_repeated(a);
    walk_blocks(a);
}

/* K is linear in the length. */
static void set_curve(qix_and *a)
{
    const double *norm_k = a->s->run.ranker->norm_k;
    a->curve[0] = (float)norm_k[0];
    a->curve[1] = (float)((norm_k[255] - norm_k[0]) / qix_length_decode(255));
}

static void count_lists(const qix_query *query, uint32_t *ret_lists, uint32_t *ret_units)
{
    bool is_and = query->nodes[0].kind == QIX_NODE_AND;
    *ret_lists = *ret_units = 0;
    for (uint32_t node = is_and ? 1 : 0; node < query->nodes[0].end; node = query->nodes[node].end) {
        uint32_t lists = lists_of(query, node);
        *ret_lists += lists;
        *ret_units += lists > 0;
    }
    if (*ret_lists > QIX_AND_LISTS_MAX)
        *ret_lists = QIX_AND_LISTS_MAX;
}

bool qix_has_lists(const qix_query *query)
{
    uint32_t lists, units;
    count_lists(query, &lists, &units);
    return lists > 0;
}

void qix_walk_and(qix_search_state *s)
{
    uint32_t lists, units;
    count_lists(s->run.query, &lists, &units);
    qix_and *a = malloc(sizeof *a);
    qix_and_list *list = malloc(lists * sizeof *list);
    qix_and_unit *unit = malloc(units * sizeof *unit);
    if (a && list && unit) {
        a->s = s;
        a->lists = list;
        a->units = unit;
        a->list_count = a->unit_count = a->child_count = 0;
        set_curve(a);
        plan_and_walk(a);
    } else {
        qix_run_fail(&s->run, qix_no_memory(s->run.fault));
    }
    free(a);
    free(list);
    free(unit);
}
