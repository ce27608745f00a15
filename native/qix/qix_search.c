/* One search: terms looked up in every part, then each part walked with one heap for all. */
#include <stdlib.h>

#include "qix_plan.h"

static qix_status search_part(qix_search_state *s, uint32_t part, const qix_term *terms)
{
    if (s->snapshot->parts[part].part.segment->info.doc_count == 0)
        return QIX_OK;
    qix_status status = qix_enter_part(s, part, terms);
    if (status)
        return status;
    qix_plan_walk(s->plan, s);
    if (s->run.status)
        s->run.fault->part = part;
    return s->run.status;
}

static qix_status run_search(qix_search_state *s, qix_term *terms, uint16_t *slots)
{
    qix_status status = qix_prepare(s, terms, slots);
    for (uint32_t part = 0; part < s->snapshot->part_count && !status; part++)
        status = search_part(s, part, terms);
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
    status = terms && s.run.cursors && s.heap.hits ? run_search(&s, terms, slots) : qix_no_memory(ret_fault);
    status = qix_snapshot_settle(snapshot, status, ret_fault);
    if (!status)
        give_hits(&s, ret_page_ids, ret_scores, ret_info);
    free(terms);
    free(s.run.cursors);
    free(s.heap.hits);
    return status;
}
