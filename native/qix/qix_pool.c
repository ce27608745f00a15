#include "qix_pool.h"

#include "qix_reader.h"

#define LINK_BYTES 4u

bool qix_pool_take(qix_pool *pool, uint32_t bytes, uint32_t *ret_at)
{
    uint64_t needed = pool->used + bytes;
    if (needed > UINT32_MAX)
        return false;
    if (needed > pool->capacity) {
        uint64_t capacity = pool->capacity ? pool->capacity : 1u << 16;
        while (capacity < needed)
            capacity *= 2;
        uint8_t *data = realloc(pool->data, (size_t)capacity);
        if (!data)
            return false;
        pool->data = data;
        pool->capacity = capacity;
    }
    *ret_at = (uint32_t)pool->used;
    pool->used = needed;
    return true;
}

void qix_pool_free(qix_pool *pool)
{
    free(pool->data);
    *pool = (qix_pool){0};
}

/* Open the next slice and link the full one to it. */
static bool extend(qix_pool *pool, qix_chain *chain)
{
    uint32_t slice = chain->slice == 0              ? QIX_SLICE_FIRST
                     : chain->slice < QIX_SLICE_MAX ? chain->slice * 2
                                                    : chain->slice;
    uint32_t at;
    if (!qix_pool_take(pool, slice + LINK_BYTES, &at))
        return false;
    if (chain->slice == 0)
        chain->head = at;
    else
        qix_store_u32(pool->data + chain->end, at);
    chain->at = at;
    chain->end = at + slice;
    chain->slice = slice;
    return true;
}

bool qix_chain_add_slowly(qix_pool *pool, qix_chain *chain, uint32_t value)
{
    uint8_t raw[QIX_VARINT64_BYTES];
    size_t bytes = qix_put_varint(raw, value);
    for (size_t i = 0; i < bytes; i++) {
        if (chain->at == chain->end && !extend(pool, chain))
            return false;
        pool->data[chain->at++] = raw[i];
    }
    return true;
}

bool qix_chain_copy(const qix_pool *pool, const qix_chain *chain, qix_bytes *out)
{
    uint32_t at = chain->head, slice = QIX_SLICE_FIRST;
    if (chain->slice == 0)
        return true;
    while (at + slice != chain->end) {
        if (!qix_bytes_add(out, pool->data + at, slice))
            return false;
        at = qix_load_u32(pool->data + at + slice);
        slice = slice < QIX_SLICE_MAX ? slice * 2 : slice;
    }
    return qix_bytes_add(out, pool->data + at, chain->at - at);
}
