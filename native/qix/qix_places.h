/* The positions of single postings, for phrases: only what holds a posting is unpacked, 128 values at a time.
 *
 * Questions must come by ascending document, or unpacking begins again. A fault is kept in the run. */
#ifndef QIX_PLACES_H
#define QIX_PLACES_H

#include "qix_cursor.h"

typedef struct {
    const qix_cursor *cursor;
    uint32_t block;                 /* that the rest is about, or QIX_NO_BLOCK */
    uint32_t count;                 /* postings */
    uint64_t starts[QIX_BLOCK + 1]; /* index of each posting's first value among all */
    qix_reader first, next;         /* at the first values, and after the unpacked ones */
    uint64_t unpacked;              /* which 128 `values` are, or UINT64_MAX */
    uint32_t values[QIX_BLOCK];
} qix_places;

/* Where the reading of a posting is. */
typedef struct {
    uint64_t value, end; /* indexes among all values */
    uint32_t last;       /* position of the value before */
} qix_place_walk;

void qix_places_open(qix_places *places, const qix_cursor *cursor);

/* Go to a block of the cursor's list; false on a fault. */
bool qix_places_load(qix_run *run, qix_places *places, uint32_t block);

/* A walk over the positions of a posting of the loaded block. */
static inline qix_place_walk qix_places_walk(const qix_places *places, uint32_t index)
{
    return (qix_place_walk){places->starts[index], places->starts[index + 1], UINT32_MAX};
}

/* Give the next positions, ascending; 0 of them at the end, and on a fault. */
uint32_t qix_places_next(qix_run *run, qix_places *places, qix_place_walk *walk, uint32_t ret_positions[QIX_BLOCK]);

#endif
