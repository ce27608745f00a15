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
    /* How many of 128 ascending values are below `target`. */
    uint32_t (*count_below)(const uint32_t values[QIX_BLOCK], uint32_t target);
    /* sums[i] += bytes[i] * scale. */
    void (*add_bytes)(float *sums, const uint8_t *bytes, float scale, uint32_t count);
    /* The largest of some bytes; 0 for none. */
    uint8_t (*max_byte)(const uint8_t *bytes, uint32_t count);
    /* Add weight * norms[tf << 8 | code] of `count` postings to window[docid - first], and mark what was touched: the byte
     * marks[i] stands for QIX_MARK_DOCS documents. No tf is above 255. */
    void (*add_scores)(const uint32_t *docids, const uint32_t *tfs, const uint32_t *codes, uint32_t count,
                       const float *norms, float weight, uint32_t first, float *window, uint8_t *marks);
    /* Write the postings that score at least `least` to ret_docids and ret_scores (room for `count`); gives how many. */
    uint32_t (*pick_postings)(const uint32_t *docids, const uint32_t *tfs, const uint32_t *codes, uint32_t count,
                              const float *norms, float weight, float least, uint32_t *ret_docids, float *ret_scores);
    /* Take the documents of a window that have at least `least`, which is above 0, in the same way, and make window and
     * marks zeros again. `count` is a multiple of 8 * QIX_MARK_DOCS. Gives how many; ret_touched: how many are above 0. */
    uint32_t (*sweep_window)(float *window, uint8_t *marks, uint32_t count, uint32_t first, float least,
                             uint32_t *ret_docids, float *ret_scores, uint32_t *ret_touched);
    /* Set bit i of ret_mask where rest + weight * tf / (tf + K) of posting i, which goes to ret_sums, is at least
     * `least`. K is curve[0] + curve[1] * length. No tf is above 2^24, no code above 255. */
    void (*bound_postings)(const uint32_t tfs[QIX_BLOCK], const uint32_t codes[QIX_BLOCK], const float curve[2],
                           float weight, float rest, float least, float ret_sums[QIX_BLOCK], uint64_t ret_mask[2]);
    /* Keep in `keys` those that `others` has; gives how many. Both ascend and are below 2^31 - 2; QIX_KEYS_SLACK values
     * behind the last of each are overwritten. */
    uint32_t (*intersect)(uint32_t *keys, uint32_t count, uint32_t *others, uint32_t other_count);
} qix_kernel_table;

#define QIX_KEYS_SLACK 8u

#define QIX_MARK_DOCS 16u

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
