/* The builder's memory: one growing arena addressed by 32-bit offsets, and byte chains in it.
 *
 * A chain is a run of bytes that grows in slices, each twice as long as the one before, so that a rare term costs a few
 * bytes and a common one few jumps (as in Lucene's indexing chain). The four bytes after a slice name the next. */
#ifndef QIX_POOL_H
#define QIX_POOL_H

#include "qix_bytes.h"

#define QIX_SLICE_FIRST 8u
#define QIX_SLICE_MAX (1u << 14)

typedef struct {
    uint8_t *data;
    uint64_t used; /* below 2^32 */
    uint64_t capacity;
} qix_pool;

typedef struct {
    uint32_t head;  /* first byte */
    uint32_t at;    /* next byte to write */
    uint32_t end;   /* of the open slice */
    uint32_t slice; /* its length; 0: the chain has not begun */
} qix_chain;

/* Take `bytes` bytes; false when memory or 32-bit offsets end. */
bool qix_pool_take(qix_pool *pool, uint32_t bytes, uint32_t *ret_at);
void qix_pool_free(qix_pool *pool);

/* Append a varint that may not fit the open slice. */
bool qix_chain_add_slowly(qix_pool *pool, qix_chain *chain, uint32_t value);

/* Append a varint. */
static inline bool qix_chain_add(qix_pool *pool, qix_chain *chain, uint32_t value)
{
    if (chain->end - chain->at < QIX_VARINT32_BYTES)
        return qix_chain_add_slowly(pool, chain, value);
    chain->at += (uint32_t)qix_put_varint(pool->data + chain->at, value);
    return true;
}

/* Append all bytes of a chain to `out`. */
bool qix_chain_copy(const qix_pool *pool, const qix_chain *chain, qix_bytes *out);

#endif
