/* Bounded reading of bytes that nobody vouches for. `pos <= end` always holds; a read past the end gives false and
 * changes nothing. Integers are little endian whatever the machine. */
#ifndef QIX_READER_H
#define QIX_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *pos;
    const uint8_t *end;
} qix_reader;

static inline uint16_t qix_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t qix_load_u32(const uint8_t *p)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
#else
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
#endif
}

static inline uint64_t qix_load_u64(const uint8_t *p)
{
    return (uint64_t)qix_load_u32(p) | (uint64_t)qix_load_u32(p + 4) << 32;
}

/* Eight bytes as a number that orders as they do. */
static inline uint64_t qix_load_u64_big(const uint8_t *p)
{
#if defined(__GNUC__)
    return __builtin_bswap64(qix_load_u64(p));
#else
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value = value << 8 | p[i];
    return value;
#endif
}

static inline double qix_load_double(const uint8_t *p)
{
    uint64_t bits = qix_load_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void qix_store_u16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void qix_store_u32(uint8_t *p, uint32_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(p, &value, sizeof value);
#else
    qix_store_u16(p, (uint16_t)value);
    qix_store_u16(p + 2, (uint16_t)(value >> 16));
#endif
}

static inline void qix_store_u64(uint8_t *p, uint64_t value)
{
    qix_store_u32(p, (uint32_t)value);
    qix_store_u32(p + 4, (uint32_t)(value >> 32));
}

static inline void qix_store_double(uint8_t *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    qix_store_u64(p, bits);
}

static inline uint64_t qix_left(const qix_reader *r)
{
    return (uint64_t)(r->end - r->pos);
}

static inline bool qix_read_u8(qix_reader *r, uint8_t *ret_value)
{
    if (r->pos == r->end)
        return false;
    *ret_value = *r->pos++;
    return true;
}

/* Take `bytes` bytes; ret_start points to the first. */
static inline bool qix_read_bytes(qix_reader *r, uint64_t bytes, const uint8_t **ret_start)
{
    if (bytes > qix_left(r))
        return false;
    *ret_start = r->pos;
    r->pos += bytes;
    return true;
}

static inline bool qix_read_varint(qix_reader *r, uint64_t *ret_value)
{
    uint64_t value = 0;
    const uint8_t *p = r->pos;
    if (p < r->end && *p < 0x80) { /* most are this short */
        *ret_value = *p;
        r->pos = p + 1;
        return true;
    }
    for (unsigned shift = 0; shift < 64 && p < r->end; shift += 7) {
        uint8_t byte = *p++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            r->pos = p;
            *ret_value = value;
            return true;
        }
    }
    return false;
}

static inline bool qix_read_varint32(qix_reader *r, uint32_t *ret_value)
{
    uint64_t value;
    qix_reader copy = *r;
    if (!qix_read_varint(&copy, &value) || value > UINT32_MAX)
        return false;
    *r = copy;
    *ret_value = (uint32_t)value;
    return true;
}

#endif
