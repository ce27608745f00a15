/* What comes before a part is walked: terms looked up in every part, their weights, and cursors linked and opened. */
#include <math.h>
#include <stdlib.h>

#include "qix_rank.h"
#include "qix_search.h"

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

qix_status qix_enter_part(qix_search_state *s, uint32_t part, const qix_term *terms)
{
    const qix_snapshot_part *at = &s->snapshot->parts[part];
    qix_run *run = &s->run;
    run->segment = at->part.segment;
    run->range_factor = at->range_factor;
    s->part = at;
    s->tombstones = at->part.tombstones;
    qix_status status = qix_need_section(run->segment, QIX_LENGTH_CODES, run->fault);
    if (!status) {
        begin_part(run, run->query, terms + (size_t)part * run->query->count);
        status = run->status;
    }
    if (status)
        run->fault->part = part;
    return status;
}

qix_status qix_prepare(qix_search_state *s, qix_term *terms, uint16_t *slots)
{
    const qix_query *query = s->run.query;
    qix_status status = check_positions(s->snapshot, query, s->run.fault);
    if (!status)
        status = find_terms(s->snapshot, query, terms, s->run.fault);
    if (status)
        return status;
    fill_factors(s->snapshot, query, terms, s->run.cursors);
    link_cursors(query, s->run.cursors, slots);
    return QIX_OK;
}
