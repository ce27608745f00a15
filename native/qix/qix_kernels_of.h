/* The source of a kernel table; the file that includes it says for which machine, and the table's name. */
#include "qix_kernels.h"
#include "qix_reader.h"

#define LANES 4u

/* Vectors are the compiler's (GCC and Clang have them for every machine); without them the arrays do the same. */
typedef uint32_t lanes __attribute__((vector_size(16)));

QIX_TARGET static inline lanes load_lanes(const uint8_t *p)
{
    return (lanes){qix_load_u32(p), qix_load_u32(p + 4), qix_load_u32(p + 8), qix_load_u32(p + 12)};
}

/* With a constant width, everything but loads, shifts and masks is done by the compiler. Row r holds the values
 * 4 r .. 4 r + 3, at bit r * width of their lanes. */
QIX_TARGET static inline __attribute__((always_inline)) void unpack_rows(const uint8_t *body, const unsigned width,
                                                                         uint32_t *ret_values)
{
    const uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1u;
#pragma GCC unroll 32
    for (unsigned row = 0; row < QIX_BLOCK / LANES; row++) {
        const unsigned bit = row * width, shift = bit % 32;
        lanes value = load_lanes(body + bit / 32 * 16) >> shift;
        if (shift + width > 32)
            value |= load_lanes(body + (bit / 32 + 1) * 16) << (32 - shift);
        value &= mask;
        memcpy(ret_values + LANES * row, &value, sizeof value);
    }
}

QIX_TARGET static void unpack(const uint8_t *body, unsigned width, uint32_t ret_values[QIX_BLOCK])
{
    switch (width) {
    case 0:
        memset(ret_values, 0, QIX_BLOCK * sizeof *ret_values);
        break;
#define UNPACK(w)                                                                                                      \
    case w:                                                                                                            \
        unpack_rows(body, w, ret_values);                                                                              \
        break;
#define UNPACK4(w) UNPACK(w) UNPACK(w + 1) UNPACK(w + 2) UNPACK(w + 3)
        UNPACK4(1)
        UNPACK4(5)
        UNPACK4(9)
        UNPACK4(13)
        UNPACK4(17)
        UNPACK4(21)
        UNPACK4(25)
        UNPACK4(29)
#undef UNPACK4
#undef UNPACK
    default:
        break; /* there is no wider array */
    }
}

QIX_TARGET static void sum_gaps(uint32_t values[QIX_BLOCK], uint32_t start)
{
    const lanes zero = {0}, ranks = {0, 1, 2, 3};
    lanes base = {start, start, start, start};
    base += ranks;
    for (unsigned row = 0; row < QIX_BLOCK / LANES; row++) {
        lanes sum;
        memcpy(&sum, values + LANES * row, sizeof sum);
        sum += __builtin_shufflevector(sum, zero, 4, 0, 1, 2);
        sum += __builtin_shufflevector(sum, zero, 4, 4, 0, 1);
        lanes docids = base + sum;
        memcpy(values + LANES * row, &docids, sizeof docids);
        base += __builtin_shufflevector(sum, sum, 3, 3, 3, 3) + LANES;
    }
}

const qix_kernel_table QIX_KERNELS_OF = {
    .name = QIX_KERNELS_NAME,
    .unpack = unpack,
    .sum_gaps = sum_gaps,
};
