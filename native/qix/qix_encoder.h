/* The encoder's inside, for the two files that share it: qix_encode.c writes what a segment has once, qix_encode_list.c lists. */
#ifndef QIX_ENCODER_H
#define QIX_ENCODER_H

#include "qix_encode.h"

/* Frequency parts are counted in steps, so that the k-th best of a list is known to one step below. */
#define QIX_NORM_STEPS 8192u

struct qix_encoder {
    const qix_segment_plan *plan;
    qix_out out;
    qix_spool positions, terms, term_index, range_bounds;
    uint64_t postings_bytes;
    uint64_t term_count;
    bool postings_begun;
    double average;
    double norm_k[256];
    uint8_t key[QIX_KEY_BYTES_MAX], last_key[QIX_KEY_BYTES_MAX];
    uint32_t key_bytes, last_key_bytes;
    /* the list at hand */
    bool has_positions, with_lengths;
    uint32_t df;
    int64_t previous; /* last docid of the block before the open one */
    uint64_t positions_start;
    qix_block block; /* filled up to block.count */
    uint32_t counts[QIX_BLOCK];
    qix_bytes values;  /* uint32_t: positions of the open block */
    qix_bytes payload; /* closed blocks */
    qix_bytes last_docids, block_offsets, position_offsets, pairs, ranges;
    uint32_t list_tfs[256];               /* highest frequency at each length code of the list */
    double range_norm;                    /* highest frequency part in the open range */
    double norms[QIX_BLOCK];              /* frequency parts of the open block */
    uint32_t norm_counts[QIX_NORM_STEPS]; /* of the closed blocks, and the tail of a long list: how many in each step */
};

/* Enter the list at hand, whose postings took `list_bytes`, in the dictionary. */
qix_status qix_encoder_add_term(qix_encoder *e, uint64_t list_bytes, qix_fault *fault);

#endif
