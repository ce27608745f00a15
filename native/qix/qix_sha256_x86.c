/* SHA-256 with the SHA extensions of x86-64 (Intel Software Developer's Manual, volume 2: SHA256RNDS2, SHA256MSG1,
 * SHA256MSG2). The instructions keep the state as two vectors, (f, e, b, a) and (h, g, d, c) from the lowest lane. */
#include "qix_sha256_blocks.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

/* Rounds 4 * i to 4 * i + 3 with their four words of the schedule. */
WITH_SHA static inline void four_rounds(__m128i *feba, __m128i *hgdc, __m128i words, unsigned i)
{
    const __m128i sum = _mm_add_epi32(words, _mm_loadu_si128((const __m128i *)(const void *)(qix_sha256_k + 4 * i)));
    *hgdc = _mm_sha256rnds2_epu32(*hgdc, *feba, sum);
    *feba = _mm_sha256rnds2_epu32(*feba, *hgdc, _mm_shuffle_epi32(sum, 0x0e));
}

/* The four words that follow the sixteen of a, b, c and d. */
WITH_SHA static inline __m128i next_words(__m128i a, __m128i b, __m128i c, __m128i d)
{
    const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
    return _mm_sha256msg2_epu32(sum, d);
}

WITH_SHA static inline __m128i load_words(const uint8_t *at)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)at), big_endian);
}

WITH_SHA static void compress(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    __m128i *const low = (__m128i *)(void *)state, *const high = low + 1;
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(low), 0xb1);
    const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(high), 0x1b);
    __m128i feba = _mm_alignr_epi8(badc, hgfe, 8), hgdc = _mm_blend_epi16(hgfe, badc, 0xf0);
    for (; count > 0; count--, blocks += 64) {
        const __m128i feba_before = feba, hgdc_before = hgdc;
        __m128i a = load_words(blocks), b = load_words(blocks + 16);
        __m128i c = load_words(blocks + 32), d = load_words(blocks + 48);
        for (unsigned i = 0;; i += 4) {
            four_rounds(&feba, &hgdc, a, i);
            four_rounds(&feba, &hgdc, b, i + 1);
            four_rounds(&feba, &hgdc, c, i + 2);
            four_rounds(&feba, &hgdc, d, i + 3);
            if (i == 12)
                break;
            a = next_words(a, b, c, d);
            b = next_words(b, c, d, a);
            c = next_words(c, d, a, b);
            d = next_words(d, a, b, c);
        }
        feba = _mm_add_epi32(feba, feba_before);
        hgdc = _mm_add_epi32(hgdc, hgdc_before);
    }
    const __m128i abef = _mm_shuffle_epi32(feba, 0x1b), ghcd = _mm_shuffle_epi32(hgdc, 0xb1);
    _mm_storeu_si128(low, _mm_blend_epi16(abef, ghcd, 0xf0));
    _mm_storeu_si128(high, _mm_alignr_epi8(ghcd, abef, 8));
}

qix_sha256_blocks *qix_sha256_x86(void)
{
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_SSSE3) || !(ecx & bit_SSE4_1))
        return NULL;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_SHA) ? compress : NULL;
}

#else

qix_sha256_blocks *qix_sha256_x86(void)
{
    return NULL;
}

#endif
