/* Phrases in all candidates of a block at once: each word's positions become ascending keys (candidate, place where the
 * phrase would begin), and keys that all words have are places of the phrase. Long loops over keys have few branches that
 * depend on the data, of which a walk over each document has several. */
#include "qix_and.h"

#include "qix_kernels.h"

/* A key is of a place and how far before it the phrase's first word may begin: each less than half of this. */
#define KEY_BITS (QIX_PLACE_BITS + 1u)
#define KEY_MASK ((1u << KEY_BITS) - 1u)

/* Put the words' lists in order, those with the fewest places first; gives the end of the candidates from live[from] on
 * for whose places there is room, as far as frequencies tell: they are not below the number of positions, as each counts
 * at least once. */
static uint32_t order_words(const qix_and *a, const qix_and_unit *unit, uint32_t from,
                            uint16_t ret_order[QIX_PHRASE_TERMS_MAX])
{
    uint32_t rooms[QIX_PHRASE_TERMS_MAX], to = a->live_count;
    for (uint32_t i = 0; i < unit->count; i++) {
        uint32_t room = QIX_AND_PLACES_MAX, at = i;
        const uint32_t *tfs = a->lists[unit->first + i].tfs;
        for (uint32_t j = from; j < to; j++) {
            uint32_t tf = tfs[a->live[j]];
            if (tf > room)
                to = j;
            else
                room -= tf;
        }
        for (; at > 0 && rooms[at - 1] < room; at--) {
            ret_order[at] = ret_order[at - 1];
            rooms[at] = rooms[at - 1];
        }
        ret_order[at] = (uint16_t)(unit->first + i);
        rooms[at] = room;
    }
    return to;
}

/* The keys of a word that is there too often for one vector of 128: as far as the places of `base` reach, from the first
 * to the last. The word may be in the phrase at another offset too, so its keys reach some further. */
static uint32_t write_long(qix_and *a, const qix_and_unit *unit, qix_and_list *list, uint32_t slot,
                           const qix_and_keys *base, uint32_t *ret_keys)
{
    uint32_t width = unit->high_offset - unit->low_offset, count = 0;
    uint32_t added = slot << KEY_BITS | (unit->high_offset - list->offset);
    uint32_t first = base ? base->keys[base->starts[slot]] : 0;
    uint32_t last = base ? base->keys[base->ends[slot] - 1] + width : UINT32_MAX;
    qix_place_walk walk = qix_places_walk(&list->places, list->at[slot]);
    for (uint32_t n; (n = qix_places_next(&a->s->run, &list->places, &walk, added, ret_keys + count)) > 0;) {
        uint32_t reached = ret_keys[count + n - 1];
        count += reached + width >= first ? n : 0;
        if (reached >= last)
            break;
    }
    return count;
}

/* Write the keys of a word for the candidates live[from..*to]; *to falls to what there is room for. With `base`,
 * only for candidates that it has keys of. */
static bool write_keys(qix_and *a, const qix_and_unit *unit, qix_and_list *list, uint32_t from, uint32_t *to,
                       const qix_and_keys *base, qix_and_keys *ret)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < *to; i++) {
        uint32_t slot = a->live[i], first = slot << KEY_BITS | (unit->high_offset - list->offset);
        ret->starts[slot] = ret->ends[slot] = count;
        if (base && base->starts[slot] == base->ends[slot])
            continue;
        qix_places *places = &list->places;
        if (!qix_places_load(&a->s->run, places, list->blocks[slot]))
            return false;
        uint32_t at = list->at[slot], size = places->starts[at + 1] - places->starts[at];
        if (size > QIX_AND_PLACES_MAX - count) {
            *to = i;
            break;
        }
        if (qix_places_at_hand(places, at, first, ret->keys + count)) {
            count += size;
        } else {
            count += write_long(a, unit, list, slot, base, ret->keys + count);
        }
        ret->ends[slot] = count;
    }
    ret->count = count;
    return !a->s->run.status;
}

/* Weighted number of a phrase's places in each candidate; words in two fields are no phrase. */
static bool weigh_keys(qix_and *a, qix_and_unit *unit, const qix_and_keys *base)
{
    const uint32_t *weights = a->s->run.segment->info.field_weights;
    for (uint32_t i = 0; i < base->count; i++) {
        uint32_t high = base->keys[i] & KEY_MASK, slot = base->keys[i] >> KEY_BITS;
        if (high < unit->high_offset)
            continue; /* it would begin before the document */
        uint32_t field = qix_position_field(high - unit->high_offset + unit->low_offset);
        if (field > QIX_BODY_FIELD)
            return qix_and_fail(a, a->lists[unit->first].places.first.pos, "position is in no field");
        bool counts = field == qix_position_field(high) && (unit->fields == 0 || unit->fields >> field & 1);
        unit->tfs[slot] = qix_add_tf(unit->tfs[slot], counts ? weights[field] : 0);
    }
    return true;
}

/* Say anew where each candidate's keys are, after some were dropped. */
static void find_candidates(const qix_and *a, qix_and_keys *keys, uint32_t from, uint32_t to)
{
    uint32_t at = 0;
    for (uint32_t i = from; i < to; i++) {
        uint32_t slot = a->live[i];
        keys->starts[slot] = at;
        while (at < keys->count && keys->keys[at] >> KEY_BITS == slot)
            at++;
        keys->ends[slot] = at;
    }
}

/* Drop the keys of candidates from live[to] on, for which there was no room in another word. */
static void drop_keys(const qix_and *a, qix_and_keys *base, uint32_t from, uint32_t to)
{
    while (base->count > 0 && (to == from || base->keys[base->count - 1] >> KEY_BITS > a->live[to - 1]))
        base->count--;
}

static bool is_same_word(const qix_and_list *a, const qix_and_list *b)
{
    return a->places.cursor->list.positions.pos == b->places.cursor->list.positions.pos;
}

/* The keys of a word from those at another offset. */
static void shift_keys(const qix_and_keys *keys, uint32_t difference, qix_and_keys *ret)
{
    ret->count = keys->count;
    for (uint32_t i = 0; i < keys->count; i++)
        ret->keys[i] = keys->keys[i] + difference;
}

/* Count a unit in the candidates live[from..]; gives the end of those that there was room for, or `from`. */
static uint32_t count_some(qix_and *a, qix_and_unit *unit, uint32_t from)
{
    uint16_t order[QIX_PHRASE_TERMS_MAX];
    uint32_t to = order_words(a, unit, from, order);
    qix_and_keys *base = &a->keys[0], *other = &a->keys[1], *written = base;
    if (to == from || !write_keys(a, unit, &a->lists[order[0]], from, &to, NULL, base))
        return from;
    for (uint32_t i = 1; i < unit->count; i++) {
        qix_and_list *list = &a->lists[order[i]], *last = &a->lists[order[i - 1]];
        if (is_same_word(list, last))
            shift_keys(written, last->offset - list->offset, other);
        else if (!write_keys(a, unit, list, from, &to, base, other))
            return from;
        written = other;
        drop_keys(a, base, from, to);
        base->count = qix_kernels()->intersect(base->keys, base->count, other->keys, other->count);
        if (i + 1 < unit->count)
            find_candidates(a, base, from, to);
    }
    for (uint32_t i = from; i < to; i++)
        unit->tfs[a->live[i]] = 0;
    return to == from || weigh_keys(a, unit, base) ? to : from;
}

/* Have the positions of all words and candidates brought near before the first are read. */
static void prefetch_places(const qix_and *a, const qix_and_unit *unit)
{
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
        const qix_and_list *list = &a->lists[i];
        uint32_t last = list->places.block;
        for (uint32_t j = 0; j < a->live_count; j++) {
            uint32_t block = list->blocks[a->live[j]];
            if (block != last)
                qix_places_prefetch(&list->places, block);
            last = block;
        }
    }
}

bool qix_and_count(qix_and *a, qix_and_unit *unit)
{
    const uint32_t *docids = a->lists[a->order[0]].probe.block.docids;
    prefetch_places(a, unit);
    for (uint32_t from = 0; from < a->live_count;) {
        uint32_t to = count_some(a, unit, from);
        if (a->s->run.status)
            return false;
        if (to == from) { /* too many places in one document */
            uint32_t slot = a->live[to++];
            unit->tfs[slot] = qix_and_phrase_tf(a, unit, slot, docids[slot]);
        }
        from = to;
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < a->live_count; i++) {
        a->live[left] = a->live[i];
        left += unit->tfs[a->live[i]] > 0;
    }
    a->live_count = left;
    return !a->s->run.status;
}
