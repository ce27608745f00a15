/* The inner loops, each compiled once for any machine and once for AVX2; the first call picks by what the processor has.
 *
 * Both are made of the same source (qix_kernels_of.h) or do the same operations in the same order, so that results are
 * equal to the last bit. Without AVX2 the compiler's own vectors are used: SSE2 on x86-64, NEON on Arm. */
#ifndef QIX_KERNELS_H
#define QIX_KERNELS_H

#include <stdatomic.h>
#include <stdint.h>

#include "qix_format.h"

typedef struct {
    const char *name;
    /* Read 128 values of `width` bits, at most 32, from 16 * width bytes in the lanes of qix_format.h. */
    void (*unpack)(const uint8_t *body, unsigned width, uint32_t ret_values[QIX_BLOCK]);
    /* Turn gaps into docids in place: values[i] becomes start + i + the sum of values[0..i]. */
    void (*sum_gaps)(uint32_t values[QIX_BLOCK], uint32_t start);
} qix_kernel_table;

extern const qix_kernel_table qix_kernels_any;
#if defined(__x86_64__) && defined(__GNUC__)
#define QIX_WITH_AVX2 1
extern const qix_kernel_table qix_kernels_avx2;
#endif

/* Pick; gives what qix_kernels gives from then on. */
const qix_kernel_table *qix_kernels_pick(void);

extern _Atomic(const qix_kernel_table *) qix_kernels_picked;

static inline const qix_kernel_table *qix_kernels(void)
{
    const qix_kernel_table *table = atomic_load_explicit(&qix_kernels_picked, memory_order_acquire);
    return table ? table : qix_kernels_pick();
}

#endif
