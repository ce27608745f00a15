/* Writing packed arrays: the width with the smallest result is chosen, then four lanes are filled at a time. */
#include "qix_pack.h"

#define LANES 4u
#define GROUP_BYTES (4u * LANES)

/* Vectors are the compiler's, as in qix_kernels_of.h. */
typedef uint32_t lanes __attribute__((vector_size(16)));

static uint32_t bytes_of(uint32_t count, unsigned width)
{
    return (count * width + 7) / 8;
}

static uint32_t body_bytes(uint32_t count, unsigned width)
{
    return count == QIX_BLOCK ? GROUP_BYTES * width : bytes_of(count, width);
}

/* How many values have each width. Two tables, so that an addition need not wait for the one before it. */
static unsigned count_widths(const uint32_t *values, uint32_t count, uint32_t ret_counts[34])
{
    uint32_t other[34] = {0};
    memset(ret_counts, 0, 34 * sizeof *ret_counts);
    uint32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        ret_counts[63 - __builtin_clzll((uint64_t)values[i] << 1 | 1)]++;
        other[63 - __builtin_clzll((uint64_t)values[i + 1] << 1 | 1)]++;
    }
    if (i < count)
        ret_counts[63 - __builtin_clzll((uint64_t)values[i] << 1 | 1)]++;
    unsigned widest = 0;
    for (unsigned width = 0; width <= 32; width++) {
        ret_counts[width] += other[width];
        widest = ret_counts[width] ? width : widest;
    }
    return widest;
}

/* The width with the smallest array; a narrower one is taken only if it saves bytes. */
static unsigned best_width(const uint32_t *values, uint32_t count, uint32_t exception_cost, unsigned *ret_widest)
{
    uint32_t counts[34];
    unsigned widest = count_widths(values, count, counts);
    unsigned best = widest;
    uint32_t best_cost = body_bytes(count, widest), exceptions = 0;
    for (unsigned width = widest; width-- > 0;) {
        exceptions += counts[width + 1];
        uint32_t cost =
            body_bytes(count, width) + 1 + exceptions * (1 + exception_cost) + bytes_of(exceptions, widest - width);
        if (cost < best_cost) {
            best_cost = cost;
            best = width;
        }
    }
    *ret_widest = widest;
    return best;
}

static void write_bits(uint8_t *p, const uint32_t *values, uint32_t count, unsigned width)
{
    uint64_t buffer = 0;
    unsigned filled = 0;
    for (uint32_t i = 0; i < count; i++) {
        buffer |= ((uint64_t)values[i] & ((1ull << width) - 1)) << filled;
        for (filled += width; filled >= 8; filled -= 8, buffer >>= 8)
            *p++ = (uint8_t)buffer;
    }
    if (filled > 0)
        *p = (uint8_t)buffer;
}

static inline void store_lanes(uint8_t *p, lanes word)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        qix_store_u32(p + 4 * lane, word[lane]);
}

/* With a constant width, everything but loads, shifts and stores is done by the compiler. */
static inline __attribute__((always_inline)) void pack_rows(uint8_t *body, const unsigned width, const uint32_t *values)
{
    const uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1u;
    lanes word = {0};
#pragma GCC unroll 32
    for (unsigned row = 0; row < QIX_BLOCK / LANES; row++) {
        const unsigned bit = row * width, shift = bit % 32;
        lanes value;
        memcpy(&value, values + LANES * row, sizeof value);
        value &= mask;
        word |= value << shift;
        if (shift + width >= 32) {
            store_lanes(body + bit / 32 * GROUP_BYTES, word);
            word = shift + width > 32 ? value >> (32 - shift) : (lanes){0};
        }
    }
}

static void pack_lanes(uint8_t *body, unsigned width, const uint32_t *values)
{
    switch (width) {
#define PACK(w)                                                                                                        \
    case w:                                                                                                            \
        pack_rows(body, w, values);                                                                                    \
        break;
#define PACK4(w) PACK(w) PACK(w + 1) PACK(w + 2) PACK(w + 3)
        PACK4(1)
        PACK4(5)
        PACK4(9)
        PACK4(13)
        PACK4(17)
        PACK4(21)
        PACK4(25)
        PACK4(29)
#undef PACK4
#undef PACK
    default:
        break; /* width 0 has no bytes */
    }
}

size_t qix_pack(uint8_t *p, const uint32_t *values, uint32_t count, uint32_t exception_cost)
{
    unsigned widest, width = best_width(values, count, exception_cost, &widest);
    uint8_t indexes[QIX_BLOCK];
    uint32_t high[QIX_BLOCK], exceptions = 0;
    for (uint32_t i = 0; i < count && width < widest; i++) {
        indexes[exceptions] = (uint8_t)i;
        high[exceptions] = values[i] >> width;
        exceptions += high[exceptions] > 0;
    }
    uint8_t *at = p;
    *at++ = (uint8_t)width;
    *at++ = (uint8_t)exceptions;
    if (exceptions > 0)
        *at++ = (uint8_t)(widest - width);
    if (count == QIX_BLOCK)
        pack_lanes(at, width, values);
    else
        write_bits(at, values, count, width);
    at += body_bytes(count, width);
    memcpy(at, indexes, exceptions);
    at += exceptions;
    write_bits(at, high, exceptions, widest - width);
    return (size_t)(at - p) + bytes_of(exceptions, widest - width);
}
