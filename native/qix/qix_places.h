/* The positions of single postings, for phrases: only what holds a posting is unpacked, 128 values at a time.
 *
 * Questions must come by ascending document, or unpacking begins again. A fault is kept in the run. */
#ifndef QIX_PLACES_H
#define QIX_PLACES_H

#include "qix_cursor.h"

/* Places are copied a vector at a time, so that some may be read and written behind the last. */
#define QIX_PLACES_SLACK 4u

typedef struct {
    const qix_cursor *cursor;
    uint32_t block;                 /* that the rest is about, or QIX_NO_BLOCK */
    uint32_t count;                 /* postings */
    uint32_t starts[QIX_BLOCK + 1]; /* index of each posting's first value among all */
    qix_reader first, next;         /* at the first values, and after the unpacked ones */
    uint32_t unpacked;              /* which 128 `sums` are of, or QIX_NO_BLOCK */
    uint32_t before;                /* what is to be added to the first of them for the one before it */
    /* Sums of value + 1 from a beginning that does not matter: a posting's positions are their differences from the sum
     * before its first value, less 1. They go over 2^32 without harm. */
    uint32_t sums[QIX_BLOCK + QIX_PLACES_SLACK];
} qix_places;

/* Where the reading of a posting is. */
typedef struct {
    uint32_t value, end; /* indexes among all values */
    uint32_t base;       /* sum before the posting's first value; set by the first step */
    bool has_begun;
} qix_place_walk;

void qix_places_open(qix_places *places, const qix_cursor *cursor);

/* Have the first positions of a block brought near, while others are worked on. */
void qix_places_prefetch(const qix_places *places, uint32_t block);

/* Go to a block of the cursor's list; false on a fault. */
bool qix_places_load(qix_run *run, qix_places *places, uint32_t block);

/* A walk over the positions of a posting of the loaded block. */
static inline qix_place_walk qix_places_walk(const qix_places *places, uint32_t index)
{
    return (qix_place_walk){.value = places->starts[index], .end = places->starts[index + 1]};
}

/* Give the next positions, ascending, each with `added` added to it; 0 of them at the end, and on a fault. The positions
 * themselves are below 2^QIX_PLACE_BITS. */
uint32_t qix_places_next(qix_run *run, qix_places *places, qix_place_walk *walk, uint32_t added,
                         uint32_t ret_places[QIX_BLOCK + QIX_PLACES_SLACK]);

typedef uint32_t qix_lanes __attribute__((vector_size(4 * QIX_PLACES_SLACK)));

/* Copy some sums, each with `added` added to it. */
static inline void qix_places_copy(const uint32_t *sums, uint32_t count, uint32_t added, uint32_t *ret_places)
{
    for (uint32_t i = 0; i < count; i += QIX_PLACES_SLACK) {
        qix_lanes some;
        memcpy(&some, sums + i, sizeof some);
        some += added;
        memcpy(ret_places + i, &some, sizeof some);
    }
}

/* The same for a whole posting, if its values are all unpacked; else false. */
static inline bool qix_places_at_hand(const qix_places *places, uint32_t index, uint32_t added, uint32_t *ret_places)
{
    uint32_t value = places->starts[index], count = places->starts[index + 1] - value;
    uint32_t from = value - places->unpacked * QIX_BLOCK;
    if (from >= QIX_BLOCK || count > QIX_BLOCK - from)
        return false;
    uint32_t base = (from == 0 ? places->before : places->sums[from - 1]) + 1;
    if (count > 0 && places->sums[from + count - 1] - base >= 1u << QIX_PLACE_BITS)
        return false;
    qix_places_copy(places->sums + from, count, added - base, ret_places);
    return true;
}

#endif
