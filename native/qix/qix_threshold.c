/* Thresholds to begin with: what the k-th best posting of a list is known to reach. */
#include "qix_search.h"

/* The k-th best of a short list, whose one block is decoded: keep the k best so far in order. */
static double kth_of_block(const qix_run *run, const qix_block *block, uint32_t k)
{
    double best[QIX_BLOCK];
    uint32_t count = 0;
    if (block->count < k)
        return 0.0;
    for (uint32_t i = 0; i < block->count; i++) {
        double norm = qix_norm(run->ranker, block->tfs[i], block->codes[i]);
        if (count == k && norm <= best[k - 1])
            continue;
        uint32_t at = count < k ? count++ : k - 1;
        for (; at > 0 && best[at - 1] < norm; at--)
            best[at] = best[at - 1];
        best[at] = norm;
    }
    return best[k - 1];
}

double qix_kth_score(const qix_search_state *s, const qix_cursor *c)
{
    uint32_t k = s->heap.capacity;
    if (s->tombstones || !c->is_present || c->list.df < k) /* deleted documents may be among the k best */
        return 0.0;
    if (!c->list.is_long)
        return c->factor * kth_of_block(&s->run, &c->block, k);
    for (uint32_t i = 0; i < QIX_KTH_COUNT; i++)
        if (k <= qix_kth_k[i])
            return c->factor * (qix_list_kth(&c->list, i) * s->part->kth_factor);
    return 0.0;
}
