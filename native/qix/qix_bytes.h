/* Growing arrays for writers. A failed growth leaves the array as it was. */
#ifndef QIX_BYTES_H
#define QIX_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *data;
    size_t used;
    size_t capacity;
} qix_bytes;

/* Make room for `more` further bytes. */
static inline bool qix_bytes_reserve(qix_bytes *bytes, size_t more)
{
    if (more <= bytes->capacity - bytes->used)
        return true;
    if (more > SIZE_MAX / 2 - bytes->used)
        return false;
    size_t capacity = bytes->capacity ? bytes->capacity * 2 : 256;
    while (capacity - bytes->used < more)
        capacity *= 2;
    uint8_t *data = realloc(bytes->data, capacity);
    if (!data)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

static inline bool qix_bytes_add(qix_bytes *bytes, const void *data, size_t count)
{
    if (!qix_bytes_reserve(bytes, count))
        return false;
    if (count > 0)
        memcpy(bytes->data + bytes->used, data, count);
    bytes->used += count;
    return true;
}

static inline void qix_bytes_free(qix_bytes *bytes)
{
    free(bytes->data);
    *bytes = (qix_bytes){0};
}

/* Most bytes of a varint of 32 and of 64 bits. */
#define QIX_VARINT32_BYTES 5u
#define QIX_VARINT64_BYTES 10u

/* Write a varint to `p`, which has room; gives the bytes written. */
static inline size_t qix_put_varint(uint8_t *p, uint64_t value)
{
    size_t n = 0;
    while (value >= 0x80) {
        p[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    p[n++] = (uint8_t)value;
    return n;
}

static inline bool qix_bytes_add_varint(qix_bytes *bytes, uint64_t value)
{
    if (!qix_bytes_reserve(bytes, QIX_VARINT64_BYTES))
        return false;
    bytes->used += qix_put_varint(bytes->data + bytes->used, value);
    return true;
}

#endif
