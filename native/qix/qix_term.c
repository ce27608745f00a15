/* One term: scores go straight to the heap (J8).
 *
 * The search begins with what the k-th best posting of the list is known to reach. Ranges whose bound is below the
 * threshold are passed over, then blocks whose pairs say so; of the others' postings, floats pick those that may enter. */
#include "qix_kernels.h"
#include "qix_search.h"

/* A float part may be this much too low, and the division of the threshold too. */
#define FLOAT_SLACK (1.0 - 1e-6)
/* Below, doubles lose digits, and every posting is scored. */
#define FACTOR_LEAST 1e-200

static void offer_posting(qix_search_state *s, const qix_cursor *c, uint32_t i)
{
    const qix_block *block = &c->block;
    if (!qix_is_deleted(s, block->docids[i]))
        qix_offer(s, block->docids[i], c->factor * qix_norm(s->run.ranker, block->tfs[i], block->codes[i]));
}

/* Which postings of the block may enter, as far as floats can say; gives how many. */
static uint32_t pick(const qix_search_state *s, const qix_cursor *c, uint32_t ret_indexes[QIX_BLOCK])
{
    uint32_t indexes[QIX_BLOCK];
    float scores[QIX_BLOCK];
    const qix_block *block = &c->block;
    bool can_pick = s->heap.threshold > 0.0 && block->any_tf < QIX_NORM_TFS && c->factor >= FACTOR_LEAST;
    for (uint32_t i = 0; i < QIX_BLOCK; i++)
        indexes[i] = i;
    if (!can_pick) {
        memcpy(ret_indexes, indexes, sizeof indexes);
        return block->count;
    }
    float least = (float)(s->heap.threshold / c->factor * FLOAT_SLACK);
    return qix_kernels()->pick_postings(indexes, block->tfs, block->codes, block->count, &s->run.ranker->norm32[0][0],
                                        1.0f, least, ret_indexes, scores);
}

static void offer_block(qix_search_state *s, qix_cursor *c, uint32_t index)
{
    uint32_t indexes[QIX_BLOCK];
    if (!qix_cursor_load(&s->run, c, index))
        return;
    for (uint32_t i = 0; s->tombstones && i < c->block.count; i++)
        s->match_count += !qix_is_deleted(s, c->block.docids[i]);
    uint32_t count = pick(s, c, indexes);
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(s->run.segment->section[QIX_PAGE_IDS] + 8 * (uint64_t)c->block.docids[indexes[i]]);
    for (uint32_t i = 0; i < count && !s->run.status; i++)
        offer_posting(s, c, indexes[i]);
}

static bool can_enter(const qix_search_state *s, const qix_cursor *c, double norm)
{
    return c->factor * norm * QIX_BOUND_SLACK >= s->heap.threshold;
}

/* The blocks of a long list that reach into documents up to `hi`, from `block` on; gives the one after them. */
static uint32_t walk_blocks(qix_search_state *s, qix_cursor *c, uint32_t block, uint32_t hi)
{
    for (; block < c->list.block_count && !s->run.status; block++) {
        if (block > 0 && qix_list_last(&c->list, block - 1) >= hi)
            break;
        if (can_enter(s, c, qix_pairs_norm(s->run.ranker, c->list.block_pairs + 2 * QIX_PAIRS * (uint64_t)block)))
            offer_block(s, c, block);
    }
    return block;
}

static void walk_ranges(qix_search_state *s, qix_cursor *c)
{
    double part = s->run.range_factor / QIX_RANGE_ONE;
    uint32_t next = 0;
    for (uint64_t range = 0; range < c->list.range_count && !s->run.status; range++) {
        uint8_t byte = c->list.range_bounds[range];
        if (byte == 0 || !can_enter(s, c, byte * part))
            continue;
        uint32_t lo = (uint32_t)(range << s->run.segment->range_shift);
        uint32_t block = qix_list_find(&c->list, next, lo);
        next = walk_blocks(s, c, block > next ? block : next, lo | ((1u << s->run.segment->range_shift) - 1));
    }
}

void qix_walk_term(qix_search_state *s)
{
    qix_cursor *c = &s->run.cursors[0];
    uint64_t decoded = s->run.blocks_decoded;
    if (!c->is_present)
        return;
    qix_raise_threshold(s, qix_kth_score(s, c));
    if (!c->list.is_long)
        offer_block(s, c, 0);
    else if (c->list.range_bounds)
        walk_ranges(s, c);
    else
        walk_blocks(s, c, 0, QIX_DOC_END);
    if (!s->tombstones)
        s->match_count += c->list.df;
    else if (c->list.is_long && s->run.blocks_decoded - decoded < c->list.block_count)
        s->is_exact = false;
}
