/* Packed arrays: 128 values in as few bits each as most of them need, the others as exceptions (qix_format.h).
 *
 * Four lanes side by side, so that one vector instruction unpacks four values; after "patched" coding of Zukowski et
 * al. (ICDE 2006) and the lanes of Lemire and Boytsov 2015, "Decoding billions of integers per second". */
#ifndef QIX_PACK_H
#define QIX_PACK_H

#include "qix_format.h"
#include "qix_reader.h"

/* Most bytes of a packed array: 32 bits for each value and no exception. */
#define QIX_PACKED_BYTES_MAX (2u + 4u * QIX_BLOCK)

/* Write `values` to `p`, which has QIX_PACKED_BYTES_MAX; gives the bytes written. */
size_t qix_pack(uint8_t *p, const uint32_t values[QIX_BLOCK]);

/* Read a packed array; false if it breaks the format or ends too early. */
bool qix_unpack(qix_reader *r, uint32_t ret_values[QIX_BLOCK]);

/* Step over a packed array without reading its values. */
bool qix_skip_packed(qix_reader *r);

#endif
