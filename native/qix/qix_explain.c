/* Why a document scores as it does: every node of a query asked about it, by the functions that any tree is walked and
 * scored with (qix_tree.c), which all plans agree with. */
#include <stdlib.h>

#include "qix_length.h"
#include "qix_search.h"

static uint32_t tf_of(const qix_cursor *c)
{
    if (c->kind == QIX_NODE_PHRASE || c->is_restricted)
        return c->tf;
    return c->kind == QIX_NODE_TERM ? c->block.tfs[c->at] : 0;
}

static void explain_node(qix_run *run, uint32_t node, uint32_t docid, qix_node_facts *ret_facts)
{
    const qix_cursor *c = &run->cursors[node];
    ret_facts->matches = qix_seek(run, node, docid) == docid;
    ret_facts->factor = c->factor;
    if (!ret_facts->matches)
        return;
    ret_facts->tf = tf_of(c);
    ret_facts->score = qix_score(run, node);
}

/* Documents that hold a node's term, over all parts. */
static uint64_t df_of(const qix_snapshot *snapshot, const qix_query *query, const qix_term *terms, uint32_t node)
{
    uint64_t df = 0;
    for (uint32_t part = 0; part < snapshot->part_count; part++)
        df += terms[(size_t)part * query->count + node].df;
    return df;
}

static qix_status explain_in(qix_search_state *s, uint32_t part, uint32_t docid, const qix_term *terms,
                             qix_node_facts *ret_facts, uint32_t *ret_length)
{
    qix_run *run = &s->run;
    qix_status status = qix_enter_part(s, part, terms);
    if (status)
        return status;
    *ret_length = (uint32_t)qix_length_decode(run->segment->section[QIX_LENGTH_CODES][docid]);
    for (uint32_t node = run->query->count; node-- > 0;) /* children first: a parent may move them on */
        explain_node(run, node, docid, &ret_facts[node]);
    if (run->status)
        run->fault->part = part;
    return run->status;
}

static qix_status explain(qix_search_state *s, uint64_t page_id, qix_term *terms, qix_node_facts *ret_facts,
                          uint32_t *ret_length, uint32_t *ret_found)
{
    uint16_t slots[QIX_QUERY_NODES_MAX];
    qix_status status = qix_prepare(s, terms, slots);
    for (uint32_t node = 0; node < s->run.query->count && !status; node++)
        ret_facts[node] = (qix_node_facts){.df = df_of(s->snapshot, s->run.query, terms, node)};
    for (uint32_t part = 0; part < s->snapshot->part_count && !status; part++) {
        const qix_part *at = &s->snapshot->parts[part].part;
        uint32_t docid;
        status = qix_find_page(at->segment, page_id, &docid, s->run.fault);
        if (status || docid == UINT32_MAX || (at->tombstones && at->tombstones[docid / 8] >> (docid % 8) & 1))
            continue;
        *ret_found = 1;
        return explain_in(s, part, docid, terms, ret_facts, ret_length);
    }
    return status;
}

qix_status qix_explain(const qix_snapshot *snapshot, const uint8_t *program, uint32_t program_bytes, uint64_t page_id,
                       qix_node_facts *ret_facts, uint32_t *ret_count, uint32_t *ret_length, uint32_t *ret_found,
                       qix_fault *ret_fault)
{
    qix_query query;
    qix_status status = qix_query_parse(program, program_bytes, &query, ret_fault);
    if (status)
        return status;
    *ret_count = query.count;
    *ret_found = *ret_length = 0;
    qix_term *terms = calloc((size_t)snapshot->part_count * query.count + 1, sizeof *terms);
    qix_search_state s = {
        .snapshot = snapshot,
        .run = {.query = &query,
                .ranker = &snapshot->ranker,
                .fault = ret_fault,
                .cursors = calloc(query.count, sizeof *s.run.cursors)},
    };
    status = terms && s.run.cursors ? explain(&s, page_id, terms, ret_facts, ret_length, ret_found)
                                    : qix_no_memory(ret_fault);
    status = qix_snapshot_settle(snapshot, status, ret_fault);
    free(terms);
    free(s.run.cursors);
    return status;
}
