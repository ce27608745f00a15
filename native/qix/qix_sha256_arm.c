/* SHA-256 with the cryptographic extension of Armv8 (Arm Architecture Reference Manual: SHA256H, SHA256H2, SHA256SU0,
 * SHA256SU1), where Linux says in the auxiliary vector that the processor has it. */
#include "qix_sha256_blocks.h"

/* Clang offers the intrinsics to a single function from release 16 on. */
#if defined(__aarch64__) && defined(__linux__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&                         \
    (!defined(__clang_major__) || __clang_major__ >= 16 || defined(__ARM_FEATURE_SHA2))

#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

#ifdef __clang_major__
#define WITH_SHA __attribute__((target("sha2")))
#else
#define WITH_SHA __attribute__((target("+crypto")))
#endif

/* Rounds 4 * i to 4 * i + 3 with their four words of the schedule. */
WITH_SHA static inline void four_rounds(uint32x4_t *abcd, uint32x4_t *efgh, uint32x4_t words, unsigned i)
{
    const uint32x4_t sum = vaddq_u32(words, vld1q_u32(qix_sha256_k + 4 * i)), before = *abcd;
    *abcd = vsha256hq_u32(before, *efgh, sum);
    *efgh = vsha256h2q_u32(*efgh, before, sum);
}

/* The four words that follow the sixteen of a, b, c and d. */
WITH_SHA static inline uint32x4_t next_words(uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t d)
{
    return vsha256su1q_u32(vsha256su0q_u32(a, b), c, d);
}

WITH_SHA static inline uint32x4_t load_words(const uint8_t *at)
{
    return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(at)));
}

WITH_SHA static void compress(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
    for (; count > 0; count--, blocks += 64) {
        const uint32x4_t abcd_before = abcd, efgh_before = efgh;
        uint32x4_t a = load_words(blocks), b = load_words(blocks + 16);
        uint32x4_t c = load_words(blocks + 32), d = load_words(blocks + 48);
        for (unsigned i = 0;; i += 4) {
            four_rounds(&abcd, &efgh, a, i);
            four_rounds(&abcd, &efgh, b, i + 1);
            four_rounds(&abcd, &efgh, c, i + 2);
            four_rounds(&abcd, &efgh, d, i + 3);
            if (i == 12)
                break;
            a = next_words(a, b, c, d);
            b = next_words(b, c, d, a);
            c = next_words(c, d, a, b);
            d = next_words(d, a, b, c);
        }
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}

qix_sha256_blocks *qix_sha256_arm(void)
{
    return getauxval(AT_HWCAP) & HWCAP_SHA2 ? compress : NULL;
}

#else

qix_sha256_blocks *qix_sha256_arm(void)
{
    return NULL;
}

#endif
