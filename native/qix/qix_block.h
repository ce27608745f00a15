/* Posting blocks and their positions: up to 128 postings between bytes and arrays (layouts in qix_format.h).
 *
 * Decoders give NULL, or the reason why the bytes are no block; what they wrote is then meaningless. */
#ifndef QIX_BLOCK_H
#define QIX_BLOCK_H

#include "qix_bytes.h"
#include "qix_format.h"
#include "qix_reader.h"

typedef struct {
    uint32_t docids[QIX_BLOCK];
    uint32_t tfs[QIX_BLOCK];
    uint32_t codes[QIX_BLOCK]; /* length codes; set by decoders only with QIX_BLOCK_LENGTHS */
    uint32_t count;
    bool has_codes;
} qix_block;

/* `previous` is the last docid before the block, or -1. Docids ascend from there; tfs are at least 1. */
bool qix_block_encode(qix_bytes *out, int64_t previous, const qix_block *block, bool with_lengths);
bool qix_tail_encode(qix_bytes *out, int64_t previous, const qix_block *block);

/* `doc_count` bounds the docids. The reader must hold the block and nothing else. */
const char *qix_block_decode(qix_reader *r, int64_t previous, uint32_t doc_count, qix_block *ret_block);
const char *qix_tail_decode(qix_reader *r, int64_t previous, uint32_t doc_count, uint32_t count, qix_block *ret_block);

/* Impact pairs: (frequency, length code) such that each posting is covered by one. */
typedef struct {
    uint8_t tf; /* 255: any */
    uint8_t code;
} qix_pair;

/* The pairs of some postings. Where more than QIX_PAIRS are needed, the two neighbours are joined that lose least with
 * `norm_k`, the K of each length code. */
void qix_pairs_of(const uint32_t *tfs, const uint32_t *codes, uint32_t count, const double norm_k[256],
                  qix_pair ret_pairs[QIX_PAIRS]);

/* Positions of a block. `counts` says how many values each posting has, `values` are all of them, ascending in a
 * posting. */
bool qix_positions_encode(qix_bytes *out, const qix_block *block, const uint32_t *counts, const uint32_t *values);

#endif
