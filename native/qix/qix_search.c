/* One search: terms looked up in every part, then each part walked with one heap for all. */
#include "qix_plan.h"

#include <math.h>
#include <stdlib.h>

#include "qix_rank.h"

/* Find every term of the query in every part; terms[part * nodes + node], df 0 where it is absent. */
static qix_status find_terms(const qix_snapshot *snapshot, const qix_query *query, qix_term *ret_terms,
                             qix_fault *fault)
{
    for (uint32_t part = 0; part < snapshot->part_count; part++)
        for (uint32_t node = 0; node < query->count; node++) {
            const qix_node *at = &query->nodes[node];
            bool found = false;
            if (at->kind != QIX_NODE_TERM)
                continue;
            qix_term *term = &ret_terms[(size_t)part * query->count + node];
            qix_status status =
                qix_terms_find(snapshot->parts[part].part.segment, at->key, at->key_bytes, term, &found, fault);
            if (status) {
                fault->part = part;
                return status;
            }
            if (!found)
                term->df = 0;
        }
    return QIX_OK;
}

/* idf of each term over all parts; a phrase has the sum of its terms'. */
static void fill_factors(const qix_snapshot *snapshot, const qix_query *query, const qix_term *terms,
                         qix_cursor *cursors)
{
    uint32_t phrase = UINT32_MAX;
    double phrase_idf = 0.0;
    for (uint32_t node = 0; node < query->count; node++) {
        const qix_node *at = &query->nodes[node];
        if (at->kind == QIX_NODE_PHRASE) {
            phrase = node;
            phrase_idf = 0.0;
        }
        if (at->kind != QIX_NODE_TERM)
            continue;
        uint64_t df = 0;
        for (uint32_t part = 0; part < snapshot->part_count; part++)
            df += terms[(size_t)part * query->count + node].df;
        double idf = qix_idf(snapshot->doc_count, df);
        cursors[node].factor = at->weight * idf;
        if (phrase < node && node < query->nodes[phrase].end) {
            phrase_idf += idf;
            cursors[phrase].factor = query->nodes[phrase].weight * phrase_idf;
        }
    }
}

/* Kinds and children; children lists are slices of `slots`, which has room for every node. */
static void link_cursors(const qix_query *query, qix_cursor *cursors, uint16_t *slots)
{
    for (uint32_t node = 0; node < query->count; node++) {
        qix_cursor *c = &cursors[node];
        const qix_node *at = &query->nodes[node];
        c->kind = at->kind;
        c->is_restricted = at->kind == QIX_NODE_TERM && at->fields != 0;
        c->needs_positions = c->needs_positions || c->is_restricted;
        c->children = slots;
        for (uint32_t child = node + 1; child < at->end; child = query->nodes[child].end) {
            if (query->nodes[child].kind != QIX_NODE_NOT)
                slots[c->child_count++] = (uint16_t)child;
            else
                c->excluded_count++;
            if (at->kind == QIX_NODE_PHRASE)
                cursors[child].needs_positions = true;
        }
        slots += c->child_count;
        for (uint32_t child = node + 1; child < at->end; child = query->nodes[child].end)
            if (query->nodes[child].kind == QIX_NODE_NOT)
                *slots++ = (uint16_t)child;
    }
}

/* Costs from the leaves up, and the children of every And by cost. */
static void order_cursors(const qix_query *query, qix_cursor *cursors)
{
    for (uint32_t node = query->count; node-- > 0;) {
        qix_cursor *c = &cursors[node];
        if (c->kind == QIX_NODE_TERM)
            continue;
        uint64_t lowest = UINT64_MAX, sum = 0;
        for (uint32_t i = 0; i < c->child_count; i++) {
            uint64_t cost = cursors[c->children[i]].cost;
            lowest = cost < lowest ? cost : lowest;
            sum += cost;
        }
        c->cost = c->kind == QIX_NODE_AND || c->kind == QIX_NODE_PHRASE ? lowest : sum;
        for (uint32_t i = 1; c->kind == QIX_NODE_AND && i < c->child_count; i++) {
            uint16_t child = c->children[i];
            uint32_t j = i;
            for (; j > 0 && cursors[c->children[j - 1]].cost > cursors[child].cost; j--)
                c->children[j] = c->children[j - 1];
            c->children[j] = child;
        }
    }
}

static void begin_part(qix_run *run, const qix_query *query, const qix_term *terms)
{
    for (uint32_t node = 0; node < query->count; node++) {
        qix_cursor *c = &run->cursors[node];
        c->has_begun = false;
        if (c->kind == QIX_NODE_TERM)
            qix_cursor_open(run, c, terms[node].df ? &terms[node] : NULL);
    }
    order_cursors(query, run->cursors);
}

static qix_status search_part(qix_search_state *s, uint32_t part, const qix_term *terms, qix_fault *fault)
{
    const qix_snapshot_part *at = &s->snapshot->parts[part];
    qix_run *run = &s->run;
    run->segment = at->part.segment;
    run->range_factor = at->range_factor;
    s->part = at;
    s->tombstones = at->part.tombstones;
    if (run->segment->info.doc_count == 0)
        return QIX_OK;
    qix_status status = qix_need_section(run->segment, QIX_LENGTH_CODES, fault);
    if (!status) {
        begin_part(run, run->query, terms + (size_t)part * run->query->count);
        if (!run->status)
            qix_plan_walk(s->plan, s);
        status = run->status;
    }
    if (status)
        fault->part = part;
    return status;
}

static qix_status check_positions(const qix_snapshot *snapshot, const qix_query *query, qix_fault *fault)
{
    bool needs = false;
    for (uint32_t node = 0; node < query->count; node++)
        needs = needs || query->nodes[node].kind == QIX_NODE_PHRASE || query->nodes[node].fields != 0;
    for (uint32_t part = 0; part < snapshot->part_count && needs; part++)
        if (!snapshot->parts[part].part.segment->info.has_positions)
            return qix_fail(fault, QIX_ERR_ARGUMENT, 0, "a segment without positions cannot answer phrases or fields");
    return QIX_OK;
}

static qix_status run_search(qix_search_state *s, qix_term *terms, uint16_t *slots, qix_fault *fault)
{
    const qix_query *query = s->run.query;
    qix_status status = find_terms(s->snapshot, query, terms, fault);
    if (status)
        return status;
    fill_factors(s->snapshot, query, terms, s->run.cursors);
    link_cursors(query, s->run.cursors, slots);
    for (uint32_t part = 0; part < s->snapshot->part_count && !status; part++)
        status = search_part(s, part, terms, fault);
    return status;
}

static void give_hits(qix_search_state *s, uint64_t *ret_page_ids, double *ret_scores, qix_search_info *ret_info)
{
    qix_heap_sort(&s->heap);
    for (uint32_t i = 0; i < s->heap.count; i++) {
        ret_page_ids[i] = s->heap.hits[i].page_id;
        ret_scores[i] = s->heap.hits[i].score;
    }
    *ret_info = (qix_search_info){.match_count = s->match_count,
                                  .postings_decoded = s->run.postings_decoded,
                                  .postings_total = s->run.postings_total,
                                  .blocks_decoded = s->run.blocks_decoded,
                                  .blocks_total = s->run.blocks_total,
                                  .hit_count = s->heap.count,
                                  .exact = s->is_exact,
                                  .plan = s->plan};
}

qix_status qix_search(const qix_snapshot *snapshot, const uint8_t *program, uint32_t program_bytes, uint32_t k,
                      uint64_t *ret_page_ids, double *ret_scores, qix_search_info *ret_info, qix_fault *ret_fault)
{
    qix_query query;
    qix_status status = qix_query_parse(program, program_bytes, &query, ret_fault);
    if (!status && (k < 1 || k > QIX_TOP_K_MAX))
        status = qix_fail(ret_fault, QIX_ERR_ARGUMENT, 0, "k must be 1 to 100000");
    if (!status)
        status = check_positions(snapshot, &query, ret_fault);
    if (status)
        return status;
    uint64_t most = k < snapshot->doc_count ? k : snapshot->doc_count;
    qix_term *terms = calloc((size_t)snapshot->part_count * query.count + 1, sizeof *terms);
    uint16_t slots[QIX_QUERY_NODES_MAX];
    qix_search_state s = {
        .snapshot = snapshot,
        .run = {.query = &query,
                .ranker = &snapshot->ranker,
                .fault = ret_fault,
                .cursors = calloc(query.count, sizeof *s.run.cursors)},
        .heap = {.hits = malloc((most + 1) * sizeof *s.heap.hits), .capacity = (uint32_t)most, .threshold = -1.0},
        .is_exact = true,
        .plan = qix_plan_pick(&query),
    };
    status = terms && s.run.cursors && s.heap.hits ? run_search(&s, terms, slots, ret_fault) : qix_no_memory(ret_fault);
    status = qix_snapshot_settle(snapshot, status, ret_fault);
    if (!status)
        give_hits(&s, ret_page_ids, ret_scores, ret_info);
    free(terms);
    free(s.run.cursors);
    free(s.heap.hits);
    return status;
}
