/* A posting list that is asked about given documents: its blocks are decoded as far as the answers need.
 *
 * Questions come by ascending document, or after qix_probe_rewind. A fault is kept in the run, as by cursors. */
#ifndef QIX_PROBE_H
#define QIX_PROBE_H

#include "qix_cursor.h"

/* Bitmaps of up to this many words are asked as they are. */
#define QIX_PROBE_WORDS 8u

typedef struct {
    const qix_cursor *cursor; /* of a term that this segment has */
    uint32_t near;            /* the block of the last question */
    uint32_t index;           /* of `block`, or QIX_NO_BLOCK */
    uint32_t bound_block;     /* that bound_norm is of */
    double bound_norm;
    qix_block block; /* docids, once decoded, with QIX_DOC_END behind the last */
    bool has_bits;   /* the block is a bitmap, of which bit i is document bits_start + i */
    uint32_t bits_start;
    uint64_t bits[QIX_PROBE_WORDS];
    uint8_t ranks[QIX_PROBE_WORDS]; /* bits in the words before */
} qix_probe;

void qix_probe_open(qix_probe *probe, const qix_cursor *cursor);
void qix_probe_rewind(qix_probe *probe);

/* The block that would hold `docid`, or the list's block count. */
uint32_t qix_probe_block(qix_probe *probe, uint32_t docid);

/* Have the bytes of a block brought near, while others are worked on. */
void qix_probe_prefetch(const qix_probe *probe, uint32_t block);

/* Highest frequency part in a block (below the block count). */
double qix_probe_norm(const qix_run *run, qix_probe *probe, uint32_t block);

/* Enter a block: with its frequencies and length codes, with its docids, or ready to be asked. False on a fault. */
bool qix_probe_fill(qix_run *run, qix_probe *probe, uint32_t block);
bool qix_probe_docids(qix_run *run, qix_probe *probe, uint32_t block);
bool qix_probe_ready(qix_run *run, qix_probe *probe, uint32_t block);

/* Whether a block that is ready and has_bits holds a document, which must not be outside it; and at which index. */
static inline bool qix_probe_has(const qix_probe *probe, uint32_t docid)
{
    uint32_t bit = docid - probe->bits_start;
    return probe->bits[bit / 64] >> bit % 64 & 1;
}
static inline uint32_t qix_probe_rank(const qix_probe *probe, uint32_t docid)
{
    uint32_t bit = docid - probe->bits_start;
    uint64_t before = probe->bits[bit / 64] & ((UINT64_C(1) << bit % 64) - 1);
    return probe->ranks[bit / 64] + (uint32_t)__builtin_popcountll(before);
}

/* The index of the first docid >= `docid` in a block that has its docids, or of the last one. */
static inline uint32_t qix_probe_find(const qix_probe *probe, uint32_t docid)
{
    const uint32_t *at = probe->block.docids;
    for (uint32_t half = QIX_BLOCK / 2; half > 0; half /= 2)
        at += half & -(uint32_t)(at[half - 1] < docid); /* no branch, which would be a coin's toss */
    return (uint32_t)(at - probe->block.docids);
}

/* Frequency of a posting of the block; 0 if its bytes break the format. */
static inline uint32_t qix_probe_tf(const qix_probe *probe, uint32_t i)
{
    return probe->block.is_whole ? probe->block.tfs[i] : qix_block_tf(&probe->block, i);
}

#endif
