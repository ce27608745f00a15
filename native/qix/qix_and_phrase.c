/* How often a phrase, or a word in some fields, is in one candidate, where a word has too many places for qix_and_keys.c:
 * from the word that is there least, whose places the others must confirm. Their positions are unpacked 128 at a time, as
 * far as a place is left. */
#include "qix_and.h"

/* The index of the first value >= wanted, or of the last one. */
static uint32_t find_place(const uint32_t *values, uint32_t size, uint32_t wanted)
{
    const uint32_t *at = values;
    for (uint32_t half = size / 2; half > 0; half /= 2)
        at += half & -(uint32_t)(at[half - 1] < wanted);
    return (uint32_t)(at - values);
}

/* Collect where a phrase may begin by one of its words; false if it is too often there. */
static bool take_places(qix_and *a, qix_and_list *list, uint32_t slot, uint32_t *ret_count)
{
    qix_place_walk walk = qix_places_walk(&list->places, list->at[slot]);
    uint32_t chunk[QIX_BLOCK + QIX_PLACES_SLACK], count = 0;
    if (walk.end - walk.value > QIX_AND_PLACES_MAX)
        return false;
    for (uint32_t n; (n = qix_places_next(&a->s->run, &list->places, &walk, 0, chunk)) > 0;)
        for (uint32_t i = 0; i < n; i++) {
            a->places[count] = chunk[i] - list->offset;
            count += chunk[i] >= list->offset;
        }
    *ret_count = count;
    return true;
}

/* Keep the places where another word of the phrase stands at its offset. */
static uint32_t keep_places(qix_and *a, qix_and_list *list, uint32_t slot, uint32_t count)
{
    qix_place_walk walk = qix_places_walk(&list->places, list->at[slot]);
    uint32_t chunk[QIX_BLOCK + QIX_PLACES_SLACK], kept = 0, i = 0;
    for (uint32_t n; i < count && (n = qix_places_next(&a->s->run, &list->places, &walk, 0, chunk)) > 0;) {
        uint32_t last = chunk[n - 1], size = 1;
        for (; size < n; size *= 2)
            ;
        for (; n < size; n++)
            chunk[n] = UINT32_MAX;
        for (; i < count && a->places[i] + list->offset <= last; i++) {
            uint32_t wanted = a->places[i] + list->offset;
            a->places[kept] = a->places[i];
            kept += chunk[find_place(chunk, size, wanted)] == wanted;
        }
    }
    return kept;
}

/* Weighted number of places; words in two fields are no phrase. */
static uint32_t weigh(qix_and *a, const qix_and_unit *unit, uint32_t count)
{
    const qix_and_list *list = &a->lists[unit->first];
    uint32_t tf = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t field = qix_position_field(a->places[i] + unit->low_offset);
        if (field > QIX_BODY_FIELD) {
            qix_and_fail(a, list->places.first.pos, "position is in no field");
            return 0;
        }
        if (field == qix_position_field(a->places[i] + unit->high_offset) &&
            (unit->fields == 0 || unit->fields >> field & 1))
            tf = qix_add_tf(tf, a->s->run.segment->info.field_weights[field]);
    }
    return tf;
}

/* By walking positions one by one, for postings with very many. */
static uint32_t walk_places(qix_and *a, const qix_and_unit *unit, uint32_t docid)
{
    qix_run *run = &a->s->run;
    return qix_seek(run, unit->node, docid) == docid ? run->cursors[unit->node].tf : 0;
}

uint32_t qix_and_phrase_tf(qix_and *a, const qix_and_unit *unit, uint32_t slot, uint32_t docid)
{
    qix_run *run = &a->s->run;
    uint32_t rarest = 0, count;
    uint32_t lowest = UINT32_MAX;
    for (uint32_t i = 0; i < unit->count; i++) {
        qix_and_list *list = &a->lists[unit->first + i];
        if (!qix_places_load(run, &list->places, list->blocks[slot]))
            return 0;
        qix_place_walk walk = qix_places_walk(&list->places, list->at[slot]);
        rarest = walk.end - walk.value < lowest ? i : rarest;
        lowest = walk.end - walk.value < lowest ? walk.end - walk.value : lowest;
    }
    if (!take_places(a, &a->lists[unit->first + rarest], slot, &count))
        return walk_places(a, unit, docid);
    for (uint32_t i = 0; i < unit->count && count > 0; i++)
        if (i != rarest)
            count = keep_places(a, &a->lists[unit->first + i], slot, count);
    return run->status ? 0 : weigh(a, unit, count);
}
