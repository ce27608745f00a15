/* A merge's inside: qix_merge.c orders documents and walks the dictionaries, qix_merge_list.c gives one part's
 * postings. */
#ifndef QIX_MERGE_H
#define QIX_MERGE_H

#include "qix_segment.h"

typedef struct {
    uint32_t docid; /* in the new segment */
    uint32_t tf;
    uint32_t position_count;
    uint64_t positions_at; /* in values */
} qix_merge_row;

typedef struct {
    const qix_segment *segment;
    const uint8_t *tombstones;
    uint32_t *new_docids; /* QIX_DEAD for a deleted document */
    bool keeps_order;     /* new docids ascend, so that postings can stream; else a list is sorted in memory */
    qix_term_walk walk;
    bool has_key;

    qix_list list;
    bool has_positions;
    qix_block block;
    qix_positions positions;
    uint32_t block_index, at;
    qix_bytes rows;   /* qix_merge_row: the whole list, where order is not kept */
    qix_bytes values; /* uint32_t: positions of the row at hand, or of all rows */
    size_t next_row;

    bool has_row;
    qix_merge_row row; /* the posting at hand */
} qix_merge_part;

#define QIX_DEAD UINT32_MAX

/* Begin with the list of the key that part->walk is at, and go to its first live posting. */
qix_status qix_merge_list_open(qix_merge_part *part, qix_fault *fault);
/* Go to the next live posting by new docid; has_row is false at the end. */
qix_status qix_merge_list_next(qix_merge_part *part, qix_fault *fault);

/* Positions of the posting at hand; NULL if it has none. */
static inline const uint32_t *qix_merge_positions(const qix_merge_part *part)
{
    if (part->row.position_count == 0)
        return NULL;
    return (const uint32_t *)(const void *)part->values.data + part->row.positions_at;
}

#endif
