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

/* A packed array whose parts have been found and lie within the bytes; its values are not read yet. */
typedef struct {
    const uint8_t *body;
    const uint8_t *indexes;
    const uint8_t *large;
    uint8_t width;
    uint8_t exceptions;
} qix_packed;

/* Find the parts of a packed array and step over it; false if it breaks the format or ends too early. */
bool qix_packed_open(qix_reader *r, qix_packed *ret_packed);
/* Read all values; false if the exceptions break the format. */
bool qix_packed_read(const qix_packed *packed, uint32_t ret_values[QIX_BLOCK]);
/* Read value `i` alone; of bytes that qix_packed_read refuses, it gives anything. */
uint32_t qix_packed_at(const qix_packed *packed, uint32_t i);

/* Read a packed array; false if it breaks the format or ends too early. */
bool qix_unpack(qix_reader *r, uint32_t ret_values[QIX_BLOCK]);

/* Step over a packed array without reading its values. */
bool qix_skip_packed(qix_reader *r);

#endif
