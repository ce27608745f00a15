#include "qix_cursor.h"
#include "qix_tf_code.h"

bool qix_cursor_load_docids(qix_run *run, qix_cursor *c, uint32_t index)
{
    if (c->block_index == index)
        return true;
    qix_status status = qix_list_docids(&c->list, index, &c->block, run->fault);
    if (status) {
        c->block_index = QIX_NO_BLOCK;
        qix_run_fail(run, status);
        return false;
    }
    run->postings_decoded += c->block.count;
    run->blocks_decoded++;
    c->block_index = index;
    c->at = 0;
    return true;
}

bool qix_cursor_load(qix_run *run, qix_cursor *c, uint32_t index)
{
    if (!qix_cursor_load_docids(run, c, index))
        return false;
    qix_status status = qix_list_fill(&c->list, &c->block, run->fault);
    if (status) {
        c->block_index = QIX_NO_BLOCK;
        qix_run_fail(run, status);
    }
    return status == QIX_OK;
}

/* A short list is decoded at once, which gives its exact bound. */
static void open_short(qix_run *run, qix_cursor *c)
{
    if (!qix_cursor_load(run, c, 0))
        return;
    for (uint32_t i = 0; i < c->block.count; i++) {
        double norm = qix_norm(run->ranker, c->block.tfs[i], c->block.codes[i]);
        if (norm > c->short_norm)
            c->short_norm = norm;
    }
}

void qix_cursor_open(qix_run *run, qix_cursor *c, const qix_term *term)
{
    c->is_present = term != NULL;
    c->has_begun = false;
    c->block_index = c->positions_block = QIX_NO_BLOCK;
    c->at = c->bound_block = 0;
    c->short_norm = 0.0;
    c->cost = term ? term->df : 0;
    if (!term)
        return;
    qix_status status = qix_list_open(run->segment, term, &c->list, run->fault);
    if (status)
        return (void)qix_run_fail(run, status);
    run->postings_total += c->list.df;
    run->blocks_total += c->list.block_count;
    if (c->needs_positions && qix_left(&c->list.positions) == 0)
        c->is_present = false; /* a keyword is nowhere in the text */
    else if (!c->list.is_long)
        open_short(run, c);
}

void qix_cursor_rewind(qix_cursor *c)
{
    c->has_begun = false;
    c->block_index = QIX_NO_BLOCK;
    c->bound_block = 0;
}

/* Gallop from `near`, then halve; before it, halve alone. */
uint32_t qix_list_find(const qix_list *list, uint32_t near, uint32_t target)
{
    uint32_t step = 1, low = near, high = near;
    if (near > 0 && qix_list_last(list, near - 1) >= target) {
        low = 0;
        high = near - 1;
    }
    while (high >= near && high < list->block_count && qix_list_last(list, high) < target) {
        low = high + 1;
        high = list->block_count - high > step ? high + step : list->block_count;
        step *= 2;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (qix_list_last(list, middle) < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t end_cursor(qix_cursor *c)
{
    c->docid = QIX_DOC_END;
    return QIX_DOC_END;
}

uint32_t qix_cursor_seek(qix_run *run, qix_cursor *c, uint32_t target)
{
    if (c->has_begun && c->docid >= target)
        return c->docid;
    c->has_begun = true;
    if (!c->is_present || run->status)
        return end_cursor(c);
    uint32_t index = 0;
    if (c->list.is_long) {
        index = qix_list_find(&c->list, c->block_index == QIX_NO_BLOCK ? 0 : c->block_index, target);
        if (index == c->list.block_count)
            return end_cursor(c);
    }
    if (!qix_cursor_load(run, c, index))
        return end_cursor(c);
    uint32_t at = c->at;
    while (at < c->block.count && c->block.docids[at] < target)
        at++;
    if (at == c->block.count)
        return end_cursor(c);
    c->at = at;
    c->docid = c->block.docids[at];
    return c->docid;
}

/* By division: the table of norms is too large to stay in the nearest cache, and pairs are all over it. */
double qix_pairs_norm(const qix_ranker *ranker, const uint8_t *pairs)
{
    double highest = 0.0;
    for (uint32_t i = 0; i < QIX_PAIRS; i++) {
        uint32_t tf = qix_tf_decode(pairs[2 * i]);
        double norm = tf == UINT32_MAX ? 1.0 : tf / (tf + ranker->norm_k[pairs[2 * i + 1]]);
        highest = norm > highest ? norm : highest;
    }
    return highest;
}

float qix_pairs_norm32(const qix_ranker *ranker, const uint8_t *pairs)
{
    float highest = 0.0f;
    for (uint32_t i = 0; i < QIX_PAIRS; i++) {
        float norm = ranker->pair_norm32[pairs[2 * i]][pairs[2 * i + 1]];
        highest = norm > highest ? norm : highest;
    }
    return highest;
}

/* From the summaries of the blocks that reach into lo..hi. */
static double blocks_norm(qix_run *run, qix_cursor *c, uint32_t lo, uint32_t hi)
{
    const qix_list *list = &c->list;
    uint32_t block = qix_list_find(list, c->bound_block, lo);
    c->bound_block = block;
    double highest = QIX_NO_MATCH;
    for (; block < list->block_count; block++) {
        if (block > 0 && qix_list_last(list, block - 1) >= hi)
            break;
        double norm = qix_pairs_norm(run->ranker, list->block_pairs + 2 * QIX_PAIRS * (uint64_t)block);
        if (norm > highest)
            highest = norm;
    }
    return highest;
}

double qix_cursor_norm_bound(qix_run *run, qix_cursor *c, uint32_t lo, uint32_t hi)
{
    if (!c->is_present || (c->has_begun && c->docid > hi))
        return QIX_NO_MATCH;
    if (!c->list.is_long)
        return c->short_norm;
    uint64_t range = lo >> run->segment->range_shift;
    if (!c->list.range_bounds || range != hi >> run->segment->range_shift)
        return blocks_norm(run, c, lo, hi);
    uint8_t byte = c->list.range_bounds[range];
    if (byte == 0)
        return QIX_NO_MATCH;
    double norm = byte / QIX_RANGE_ONE * run->range_factor;
    return norm < 1.0 ? norm : 1.0;
}

bool qix_cursor_positions(qix_run *run, qix_cursor *c, qix_position_walk *ret_walk)
{
    if (c->positions_block != c->block_index) {
        qix_status status = qix_list_positions(&c->list, c->block_index, &c->block, &c->positions, run->fault);
        if (status) {
            c->positions_block = QIX_NO_BLOCK;
            qix_run_fail(run, status);
            return false;
        }
        c->positions_block = c->block_index;
    }
    *ret_walk = qix_positions_walk(&c->positions, c->at);
    return true;
}
