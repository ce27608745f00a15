/* One term: its blocks, skipping those whose pairs say that none can enter; scores go straight to the heap (J8). */
#include "qix_search.h"

static void offer_block(qix_search_state *s, const qix_cursor *c)
{
    const qix_block *block = &c->block;
    for (uint32_t i = 0; i < block->count && !s->run.status; i++) {
        if (qix_is_deleted(s, block->docids[i]))
            continue;
        s->match_count++;
        qix_offer(s, block->docids[i], c->factor * qix_norm(s->run.ranker, block->tfs[i], block->codes[i]));
    }
}

void qix_walk_term(qix_search_state *s)
{
    qix_cursor *c = &s->run.cursors[0];
    if (!c->is_present)
        return;
    for (uint32_t block = 0; block < c->list.block_count && !s->run.status; block++) {
        double norm = c->list.is_long ? qix_pairs_norm(s->run.ranker, c->list.block_pairs + 2 * QIX_PAIRS * block)
                                      : c->short_norm;
        if (c->factor * norm * QIX_BOUND_SLACK < s->heap.threshold) {
            uint32_t left = c->list.df - block * QIX_BLOCK;
            s->match_count += s->tombstones ? 0 : left < QIX_BLOCK ? left : QIX_BLOCK;
            s->is_exact = s->is_exact && !s->tombstones;
            continue;
        }
        if (qix_cursor_load(&s->run, c, block))
            offer_block(s, c);
    }
}
