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

bool qix_chain_add(qix_pool *pool, qix_chain *chain, uint32_t value)
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

qix_chain_reader qix_chain_read(const qix_pool *pool, const qix_chain *chain)
{
    return (qix_chain_reader){
        .pool = pool, .at = chain->head, .end = chain->head + QIX_SLICE_FIRST, .slice = QIX_SLICE_FIRST};
}

static uint8_t next_byte(qix_chain_reader *reader)
{
    if (reader->at == reader->end) {
        reader->at = qix_load_u32(reader->pool->data + reader->end);
        if (reader->slice < QIX_SLICE_MAX)
            reader->slice *= 2;
        reader->end = reader->at + reader->slice;
    }
    return reader->pool->data[reader->at++];
}

uint32_t qix_chain_next(qix_chain_reader *reader)
{
    uint32_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = next_byte(reader);
        value |= (uint32_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}
