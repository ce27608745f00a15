/* A document's length as one byte: exact below 40, then four significant bits, rounded down.
 *
 * The table is the one of Lucene's SmallFloat.intToByte4 and of Tantivy's field norms, so that scores can be compared.
 * Codes and the lengths that they stand for ascend together. */
#ifndef QIX_LENGTH_H
#define QIX_LENGTH_H

#include <stdint.h>

#define QIX_LENGTH_EXACT 24u       /* codes below stand for themselves */
#define QIX_LENGTH_MAX 0x7fffffffu /* code 255; a longer document counts as this long */

static inline uint32_t qix_length_decode(uint8_t code)
{
    if (code < QIX_LENGTH_EXACT)
        return code;
    uint32_t rest = code - QIX_LENGTH_EXACT;
    uint32_t shift = rest >> 3;
    if (shift == 0)
        return QIX_LENGTH_EXACT + rest;
    return QIX_LENGTH_EXACT + (((rest & 7u) | 8u) << (shift - 1));
}

static inline uint8_t qix_length_encode(uint32_t length)
{
    if (length < QIX_LENGTH_EXACT)
        return (uint8_t)length;
    if (length > QIX_LENGTH_MAX)
        length = QIX_LENGTH_MAX;
    uint32_t rest = length - QIX_LENGTH_EXACT;
    uint32_t shift = 0;
    while (rest >> shift >= 16)
        shift++;
    uint32_t top = rest >> shift;
    uint32_t code = top < 8 ? top : (shift + 1) << 3 | (top & 7u);
    return (uint8_t)(QIX_LENGTH_EXACT + code);
}

#endif
