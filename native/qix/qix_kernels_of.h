/* The source of a kernel table; the file that includes it says for which machine, and the table's name. */
#include "qix_kernels.h"
#include "qix_length.h"
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

#ifdef QIX_KERNELS_AVX2
QIX_TARGET static void sum_gaps(uint32_t values[QIX_BLOCK], uint32_t start)
{
    const __m256i last = _mm256_set1_epi32(7), third = _mm256_set1_epi32(3), step = _mm256_set1_epi32(8);
    const __m256i high = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
    __m256i base = _mm256_add_epi32(_mm256_set1_epi32((int32_t)start), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    for (uint32_t i = 0; i < QIX_BLOCK; i += 8) {
        __m256i sum = _mm256_loadu_si256((const __m256i *)(const void *)(values + i));
        sum = _mm256_add_epi32(sum, _mm256_slli_si256(sum, 4));
        sum = _mm256_add_epi32(sum, _mm256_slli_si256(sum, 8)); /* of each half */
        sum = _mm256_add_epi32(sum, _mm256_and_si256(_mm256_permutevar8x32_epi32(sum, third), high));
        _mm256_storeu_si256((__m256i *)(void *)(values + i), _mm256_add_epi32(base, sum));
        base = _mm256_add_epi32(base, _mm256_add_epi32(_mm256_permutevar8x32_epi32(sum, last), step));
    }
}
#else
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
#endif

#ifdef QIX_KERNELS_AVX2
/* Compare all: sixteen independent comparisons are done sooner than seven that wait for each other. */
QIX_TARGET static uint32_t count_below(const uint32_t values[QIX_BLOCK], uint32_t target)
{
    const __m256i sign = _mm256_set1_epi32(INT32_MIN);
    const __m256i bound = _mm256_xor_si256(_mm256_set1_epi32((int32_t)target), sign);
    __m256i counts = _mm256_setzero_si256();
    for (uint32_t i = 0; i < QIX_BLOCK; i += 8) {
        __m256i part = _mm256_loadu_si256((const __m256i *)(const void *)(values + i));
        counts = _mm256_sub_epi32(counts, _mm256_cmpgt_epi32(bound, _mm256_xor_si256(part, sign)));
    }
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(sum);
}
#else
QIX_TARGET static uint32_t count_below(const uint32_t values[QIX_BLOCK], uint32_t target)
{
    uint32_t low = 0;
    for (uint32_t step = QIX_BLOCK / 2; step > 0; step /= 2) /* without a branch: they cannot be predicted */
        low += (values[low + step - 1] < target) * step;
    return low + (values[low] < target);
}
#endif

QIX_TARGET static void add_bytes(float *restrict sums, const uint8_t *restrict bytes, float scale, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sums[i] += (float)bytes[i] * scale;
}

QIX_TARGET static uint8_t max_byte(const uint8_t *bytes, uint32_t count)
{
    uint8_t highest = 0;
    for (uint32_t i = 0; i < count; i++)
        highest = bytes[i] > highest ? bytes[i] : highest;
    return highest;
}

QIX_TARGET static void add_scores(const uint32_t *docids, const uint32_t *tfs, const uint32_t *codes, uint32_t count,
                                  const float *norms, float weight, uint32_t first, float *window, uint8_t *marks)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = docids[i] - first;
        window[at] += weight * norms[tfs[i] << 8 | codes[i]];
        marks[at / QIX_MARK_DOCS] = 1;
    }
}

/* Without a branch: the next free place is written in any case, and kept if the score is high enough. */
QIX_TARGET static uint32_t pick_postings(const uint32_t *docids, const uint32_t *tfs, const uint32_t *codes,
                                         uint32_t count, const float *norms, float weight, float least,
                                         uint32_t *ret_docids, float *ret_scores)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        float score = weight * norms[tfs[i] << 8 | codes[i]];
        ret_docids[found] = docids[i];
        ret_scores[found] = score;
        found += score >= least;
    }
    return found;
}

/* Bit i: score i is at least `least`; and the same for what is above 0. */
#ifdef QIX_KERNELS_AVX2
QIX_TARGET static inline void compare_marked(const float *scores, float least, uint32_t *ret_high, uint32_t *ret_some)
{
    __m256 a = _mm256_loadu_ps(scores), b = _mm256_loadu_ps(scores + 8), bound = _mm256_set1_ps(least);
    __m256 zero = _mm256_setzero_ps();
    *ret_high = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, bound, _CMP_GE_OQ)) |
                (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(b, bound, _CMP_GE_OQ)) << 8;
    *ret_some = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, zero, _CMP_GT_OQ)) |
                (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(b, zero, _CMP_GT_OQ)) << 8;
}
#else
QIX_TARGET static inline void compare_marked(const float *scores, float least, uint32_t *ret_high, uint32_t *ret_some)
{
    uint32_t high = 0, some = 0;
    for (uint32_t i = 0; i < QIX_MARK_DOCS; i++) {
        high |= (uint32_t)(scores[i] >= least) << i;
        some |= (uint32_t)(scores[i] > 0.0f) << i;
    }
    *ret_high = high;
    *ret_some = some;
}
#endif

typedef int32_t wide __attribute__((vector_size(32)));
typedef float wide_floats __attribute__((vector_size(32)));
#define WIDE 8u

/* The lengths that codes stand for (qix_length.h), by shifts alone. */
QIX_TARGET static inline void decode_lengths(wide *codes)
{
    const wide zero = {0};
    wide rest = *codes - (int32_t)QIX_LENGTH_EXACT, shift = rest >> 3;
    wide is_shifted = shift > zero, is_coded = rest >= zero;
    wide high = ((rest & 7) | 8) << ((shift - 1) & is_shifted & 31);
    wide above = (high & is_shifted) | (rest & 7 & ~is_shifted);
    *codes = ((above + (int32_t)QIX_LENGTH_EXACT) & is_coded) | (*codes & ~is_coded);
}

QIX_TARGET static void bound_postings(const uint32_t tfs[QIX_BLOCK], const uint32_t codes[QIX_BLOCK],
                                      const float curve[2], float weight, float rest, float least,
                                      float ret_sums[QIX_BLOCK], uint64_t ret_mask[2])
{
    for (uint32_t i = 0; i < QIX_BLOCK; i += WIDE) {
        wide tf, length;
        memcpy(&tf, tfs + i, sizeof tf);
        memcpy(&length, codes + i, sizeof length);
        decode_lengths(&length);
        wide_floats part = __builtin_convertvector(tf, wide_floats);
        wide_floats norm = __builtin_convertvector(length, wide_floats) * curve[1] + curve[0];
        wide_floats sums = part / (part + norm) * weight + rest;
        memcpy(ret_sums + i, &sums, sizeof sums);
    }
    ret_mask[0] = ret_mask[1] = 0;
    for (uint32_t i = 0; i < QIX_BLOCK; i += QIX_MARK_DOCS) {
        uint32_t high, some;
        compare_marked(ret_sums + i, least, &high, &some);
        ret_mask[i / 64] |= (uint64_t)high << i % 64;
    }
}

QIX_TARGET static uint32_t sweep_window(float *window, uint8_t *marks, uint32_t count, uint32_t first, float least,
                                        uint32_t *ret_docids, float *ret_scores, uint32_t *ret_touched)
{
    uint32_t found = 0, touched = 0;
    for (uint32_t group = 0; group < count / QIX_MARK_DOCS; group += 8) {
        uint64_t marked = qix_load_u64(marks + group);
        memset(marks + group, 0, 8);
        for (; marked; marked &= marked - 1) {
            uint32_t at = (group + (uint32_t)__builtin_ctzll(marked) / 8) * QIX_MARK_DOCS, high, some;
            compare_marked(window + at, least, &high, &some);
            touched += (uint32_t)__builtin_popcount(some);
            for (; high; high &= high - 1) {
                uint32_t i = at + (uint32_t)__builtin_ctz(high);
                ret_docids[found] = first + i;
                ret_scores[found++] = window[i];
            }
            memset(window + at, 0, QIX_MARK_DOCS * sizeof *window);
        }
    }
    *ret_touched = touched;
    return found;
}

#ifdef QIX_KERNELS_AVX2
/* Bit i: value i of `a` is one of `b`, by comparing all with all: the four rotations of each half of b, and of its halves
 * exchanged. */
QIX_TARGET static inline uint32_t common_of(__m256i a, __m256i b)
{
    __m256i c = _mm256_permute2x128_si256(b, b, 1);
    __m256i same = _mm256_or_si256(_mm256_cmpeq_epi32(a, b), _mm256_cmpeq_epi32(a, c));
#define ROTATED(by)                                                                                                    \
    _mm256_or_si256(_mm256_cmpeq_epi32(a, _mm256_shuffle_epi32(b, by)),                                                \
                    _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32(c, by)))
    same = _mm256_or_si256(same, ROTATED(0x39));
    same = _mm256_or_si256(same, _mm256_or_si256(ROTATED(0x4e), ROTATED(0x93)));
#undef ROTATED
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same));
}

/* Eight keys with eight at a time, and on in the array whose eight end first: no branch but for what is found. Keys are
 * kept at or before their own place, and those that this overwrites have been compared with all that they can be. */
QIX_TARGET static uint32_t intersect(uint32_t *keys, uint32_t count, uint32_t *others, uint32_t other_count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < QIX_KEYS_SLACK; i++) { /* above all keys, and not equal */
        keys[count + i] = INT32_MAX;
        others[other_count + i] = INT32_MAX - 1;
    }
    for (uint32_t i = 0, j = 0; i < count && j < other_count;) {
        uint32_t last = keys[i + 7], other_last = others[j + 7];
        __m256i some = _mm256_loadu_si256((const __m256i *)(const void *)(keys + i));
        uint32_t found = common_of(some, _mm256_loadu_si256((const __m256i *)(const void *)(others + j)));
        for (; found; found &= found - 1)
            keys[kept++] = keys[i + (uint32_t)__builtin_ctz(found)];
        i += ~(other_last - last) >> 28 &
             8; /* if last <= other_last: by the sign, since a branch would be a coin's toss */
        j += ~(last - other_last) >> 28 & 8;
    }
    return kept;
}
#else
QIX_TARGET static uint32_t intersect(uint32_t *keys, uint32_t count, uint32_t *others, uint32_t other_count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, j = 0; i < count && j < other_count;) {
        uint32_t wanted = keys[i], have = others[j];
        keys[kept] = wanted;
        kept += wanted == have;
        i += wanted <= have;
        j += have <= wanted;
    }
    return kept;
}
#endif

const qix_kernel_table QIX_KERNELS_OF = {
    .name = QIX_KERNELS_NAME,
    .unpack = unpack,
    .sum_gaps = sum_gaps,
    .count_below = count_below,
    .add_bytes = add_bytes,
    .max_byte = max_byte,
    .add_scores = add_scores,
    .pick_postings = pick_postings,
    .sweep_window = sweep_window,
    .bound_postings = bound_postings,
    .intersect = intersect,
};
