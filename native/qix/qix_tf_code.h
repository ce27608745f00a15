/* A frequency of an impact pair as one byte, rounded up: exact below 128, then four significant bits; 255 is any.
 *
 * Bounds must tell a frequency of 300 from one of 3,000 in lists of very common words: there the best scores lie within a
 * thousandth of the highest that there can be. Codes and the frequencies that they stand for ascend together. */
#ifndef QIX_TF_CODE_H
#define QIX_TF_CODE_H

#include <stdint.h>

#define QIX_TF_EXACT 128u /* codes below stand for themselves */
#define QIX_TF_ANY 255u

static inline uint32_t qix_tf_decode(uint8_t code)
{
    if (code < QIX_TF_EXACT)
        return code;
    if (code == QIX_TF_ANY)
        return UINT32_MAX;
    return (8u + (code & 7u)) << ((code - QIX_TF_EXACT) / 8u + 4u);
}

/* The lowest code whose frequency is not below `tf`. */
static inline uint8_t qix_tf_encode(uint32_t tf)
{
    if (tf < QIX_TF_EXACT)
        return (uint8_t)tf;
    uint32_t shift = 4, last = tf - 1;
    while (last >> shift >= 15)
        shift++;
    uint32_t code = QIX_TF_EXACT + 8u * (shift - 4) + (last >> shift) + 1 - 8u;
    return code < QIX_TF_ANY ? (uint8_t)code : (uint8_t)QIX_TF_ANY;
}

#endif
