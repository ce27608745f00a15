/* Phrases in all candidates of a block at once: each word's positions become ascending keys (candidate, place where the
 * phrase would begin), and keys that all words have are places of the phrase. Long loops over keys have few branches that
 * depend on the data, of which a walk over each document has several. */
#include "qix_and.h"

#define KEY_BITS 23u /* of the place: fields and words of positions take no more */
#define KEY_MASK ((1u << KEY_BITS) - 1u)
/* Searched key by key instead of merged if one word has this many times the places of the other. */
#define SEARCH_RATIO 8u

/* A word that is in a document more often is walked, which may end early. */
#define LONG_PLACES 512u

/* The end of the candidates from live[from] on for whose places there is room, as far as frequencies tell: they are not
 * below the number of positions, as each counts at least once. */
static uint32_t end_of_room(const qix_and *a, const qix_and_unit *unit, uint32_t from)
{
    uint32_t to = a->live_count;
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
        uint32_t room = QIX_AND_PLACES_MAX;
        for (uint32_t at = from; at < to; at++) {
            uint32_t tf = a->lists[i].tfs[a->live[at]];
            if (tf > LONG_PLACES || tf > room)
                to = at;
            else
                room -= tf;
        }
    }
    return to;
}

/* Write the keys of a word for the candidates live[from..*to]; *to falls to what there is room for. With `base`,
 * only for candidates that it has keys of. */
static bool write_keys(qix_and *a, qix_and_list *list, uint32_t from, uint32_t *to, const qix_and_keys *base,
                       qix_and_keys *ret)
{
    ret->count = 0;
    for (uint32_t i = from; i < *to; i++) {
        uint32_t slot = a->live[i];
        ret->starts[slot] = ret->ends[slot] = ret->count;
        if (base && base->starts[slot] == base->ends[slot])
            continue;
        if (!qix_places_load(&a->s->run, &list->places, list->blocks[slot]))
            return false;
        qix_place_walk walk = qix_places_walk(&list->places, list->at[slot]);
        if (walk.end - walk.value > QIX_AND_PLACES_MAX - ret->count) {
            *to = i;
            return true;
        }
        for (uint32_t n, *at;
             (n = qix_places_next(&a->s->run, &list->places, &walk, at = ret->keys + ret->count)) > 0;) {
            if (at[n - 1] > KEY_MASK)
                return qix_and_fail(a, list->places.first.pos, "position is in no field");
            for (uint32_t j = 0; j < n; j++) {
                uint32_t position = at[j];
                ret->keys[ret->count] = slot << KEY_BITS | (position - list->offset);
                ret->count += position >= list->offset;
            }
        }
        ret->ends[slot] = ret->count;
    }
    return !a->s->run.status;
}

static uint32_t merge_keys(uint32_t *keys, uint32_t count, const uint32_t *other, uint32_t other_count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, j = 0; i < count && j < other_count;) {
        uint32_t wanted = keys[i], have = other[j];
        keys[kept] = wanted;
        kept += wanted == have;
        i += wanted <= have;
        j += have <= wanted;
    }
    return kept;
}

static uint32_t search_keys(uint32_t *keys, uint32_t count, const qix_and_keys *other)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = keys[i] >> KEY_BITS, key = keys[i];
        const uint32_t *at = other->keys + other->starts[slot];
        for (uint32_t left = other->ends[slot] - other->starts[slot]; left > 1;) {
            uint32_t half = left / 2;
            at += half & -(uint32_t)(at[half - 1] < key);
            left -= half;
        }
        keys[kept] = key;
        kept += other->ends[slot] > other->starts[slot] && *at == key;
    }
    return kept;
}

/* Weighted number of a phrase's places in each candidate; words in two fields are no phrase. */
static bool weigh_keys(qix_and *a, qix_and_unit *unit, const qix_and_keys *base)
{
    const uint32_t *weights = a->s->run.segment->info.field_weights;
    for (uint32_t i = 0; i < base->count; i++) {
        uint32_t place = base->keys[i] & KEY_MASK, slot = base->keys[i] >> KEY_BITS;
        uint32_t field = qix_position_field(place + unit->low_offset);
        if (field > QIX_BODY_FIELD)
            return qix_and_fail(a, a->lists[unit->first].places.first.pos, "position is in no field");
        bool counts =
            field == qix_position_field(place + unit->high_offset) && (unit->fields == 0 || unit->fields >> field & 1);
        unit->tfs[slot] = qix_add_tf(unit->tfs[slot], counts ? weights[field] : 0);
    }
    return true;
}

/* The word with the fewest documents is taken first. */
static uint32_t rarest_of(const qix_and *a, const qix_and_unit *unit)
{
    uint32_t rarest = unit->first;
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++)
        if (a->lists[i].probe.cursor->list.df < a->lists[rarest].probe.cursor->list.df)
            rarest = i;
    return rarest;
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

/* Count a unit in the candidates live[from..]; gives the end of those that there was room for, or `from`. */
static uint32_t count_some(qix_and *a, qix_and_unit *unit, uint32_t from)
{
    uint32_t rarest = rarest_of(a, unit), to = end_of_room(a, unit, from);
    qix_and_keys *base = &a->keys[0], *other = &a->keys[1];
    if (to == from || !write_keys(a, &a->lists[rarest], from, &to, NULL, base))
        return from;
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
        if (i == rarest)
            continue;
        if (!write_keys(a, &a->lists[i], from, &to, base, other))
            return from;
        drop_keys(a, base, from, to);
        if (base->count < other->count / SEARCH_RATIO)
            base->count = search_keys(base->keys, base->count, other);
        else
            base->count = merge_keys(base->keys, base->count, other->keys, other->count);
        find_candidates(a, base, from, to);
    }
    for (uint32_t i = from; i < to; i++)
        unit->tfs[a->live[i]] = 0;
    return to == from || weigh_keys(a, unit, base) ? to : from;
}

bool qix_and_count(qix_and *a, qix_and_unit *unit)
{
    const uint32_t *docids = a->lists[a->order[0]].probe.block.docids;
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
