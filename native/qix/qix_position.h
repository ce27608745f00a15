/* Reading positions: the values of one posting after the other, without decoding the block's others. */
#ifndef QIX_POSITION_H
#define QIX_POSITION_H

#include "qix_block.h"

/* Field of a position: slot 0 is the body, which most postings are in, so that its values are small. */
#define QIX_BODY_FIELD 4u
#define QIX_WORD_MAX ((1u << QIX_POSITION_BITS) - 2u)
/* All positions, with their slots, are below 2 to this. */
#define QIX_PLACE_BITS (QIX_POSITION_BITS + 3u)

static inline uint32_t qix_position_of(uint32_t field, uint32_t word)
{
    uint32_t slot = field == QIX_BODY_FIELD ? 0 : field + 1;
    return slot << QIX_POSITION_BITS | word;
}

/* The field, or a number above the last field in damaged data. */
static inline uint32_t qix_position_field(uint32_t position)
{
    uint32_t slot = position >> QIX_POSITION_BITS;
    return slot == 0 ? QIX_BODY_FIELD : slot == QIX_BODY_FIELD + 1 ? UINT32_MAX : slot - 1;
}

/* The positions of one block. It points into the segment; copies are independent readers. */
typedef struct {
    uint64_t starts[QIX_BLOCK + 1]; /* index of each posting's first value among all */
    qix_reader first;               /* at the first 128 values */
    qix_reader next;                /* after the decoded ones */
    uint64_t decoded_start;         /* index of values[0], or UINT64_MAX if none is decoded */
    uint32_t values[QIX_BLOCK];
    uint32_t count; /* postings */
} qix_positions;

/* Begin with a block's positions. `r` holds them and nothing else. NULL, or why they break the format. */
const char *qix_positions_open(qix_reader r, const qix_block *block, qix_positions *ret_positions);

/* Walks one posting's positions, ascending. */
typedef struct {
    qix_positions *positions;
    uint64_t index;
    uint64_t end;
    uint32_t value; /* the position it is at; set by the first next */
    bool started;
} qix_position_walk;

qix_position_walk qix_positions_walk(qix_positions *positions, uint32_t posting);

/* Step to the next position; false at the end, and then ret_reason is NULL unless the bytes break the format. */
bool qix_position_next(qix_position_walk *walk, const char **ret_reason);

#endif
