/* What may be among the best of a part, by float scores, until it is scored exactly at the end.
 *
 * Scoring at once would score four times as many documents: most of those that lead at first are beaten later. The k best
 * float scores are a heap, whose root less what both it and a document's score may be wrong by bounds what can enter. */
#include "qix_or.h"

/* In the order of the query, so that the sum rounds as the oracle's does. */
static double score_of(qix_or *o, uint32_t docid)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < o->list_count; i++) {
        uint32_t tf, block = qix_or_block_of(&o->lists[i], docid);
        uint8_t code;
        if (block < o->lists[i].cursor->list.block_count && qix_or_look_up(o, &o->lists[i], block, docid, &tf, &code))
            sum += o->lists[i].cursor->factor * qix_norm(o->search->run.ranker, tf, code);
    }
    return sum;
}

void qix_or_flush(qix_or *o)
{
    qix_search_state *s = o->search;
    for (uint32_t i = 0; i < o->found_count; i++)
        __builtin_prefetch(s->run.segment->section[QIX_PAGE_IDS] + 8 * (uint64_t)o->found[i].docid); /* for qix_offer */
    for (uint32_t i = 0; i < o->found_count && !s->run.status; i++)
        if (o->found[i].score >= o->least) {
            qix_offer(s, o->found[i].docid, score_of(o, o->found[i].docid));
            qix_or_set_least(o);
        }
    o->found_count = 0;
}

/* Drop what cannot enter any more; score the rest if that leaves little room, as equal scores do. */
static void make_room(qix_or *o)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->found_count; i++)
        if (o->found[i].score >= o->least)
            o->found[kept++] = o->found[i];
    o->found_count = kept;
    if (kept > o->found_capacity / 2)
        qix_or_flush(o);
}

static void sift_down(float *heap, uint32_t count, float value)
{
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
    }
    heap[at] = value;
}

static void sift_up(float *heap, uint32_t at, float value)
{
    for (; at > 0 && heap[(at - 1) / 2] > value; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = value;
}

void qix_or_keep(qix_or *o, uint32_t docid, float score)
{
    if (o->found_count == o->found_capacity)
        make_room(o);
    o->found[o->found_count++] = (qix_or_found){docid, score};
    if (o->best_count < o->search->heap.capacity)
        sift_up(o->best, o->best_count++, score);
    else if (score > o->best[0])
        sift_down(o->best, o->best_count, score);
    float least = o->best[0] - 2.0f * o->slack;
    if (o->best_count == o->search->heap.capacity && least > o->least)
        o->least = least;
}
