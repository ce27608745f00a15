/* Packed arrays: values in as few bits each as most of them need, the high bits of the others as exceptions
 * (qix_format.h).
 *
 * 128 values lie in four lanes side by side, so that one vector instruction unpacks four; after "patched" coding of
 * Zukowski et al. (ICDE 2006), with low bits in place as in Yan et al. (WWW 2009), and the lanes of Lemire and Boytsov
 * 2015, "Decoding billions of integers per second". Fewer values follow each other. */
#ifndef QIX_PACK_H
#define QIX_PACK_H

#include "qix_format.h"
#include "qix_reader.h"

/* Most bytes of a packed array: the sizes, and 32 bits for each value without exceptions. */
#define QIX_PACKED_BYTES_MAX (3u + 4u * QIX_BLOCK)

/* What an exception may cost beyond its bytes: nothing where size counts, some bytes where decoding does. */
#define QIX_PACK_SMALL 0u
#define QIX_PACK_FAST 3u

/* Write `count` values, QIX_PACK_MIN to QIX_BLOCK, to `p`, which has QIX_PACKED_BYTES_MAX; gives the bytes written. */
size_t qix_pack(uint8_t *p, const uint32_t *values, uint32_t count, uint32_t exception_cost);

/* A packed array whose parts have been found and lie within the bytes; its values are not read yet. */
typedef struct {
    const uint8_t *body;
    const uint8_t *indexes;
    const uint8_t *high;
    uint8_t count;
    uint8_t width;
    uint8_t exceptions;
    uint8_t high_width;
    bool has_room; /* 8 bytes follow it */
} qix_packed;

/* Find the parts of a packed array of 128 values and step over it; false if it breaks the format or ends too early. */
bool qix_packed_open(qix_reader *r, qix_packed *ret_packed);
/* Read all values; false if the exceptions break the format. */
bool qix_packed_read(const qix_packed *packed, uint32_t ret_values[QIX_BLOCK]);
/* Read value `i` alone; of bytes that qix_packed_read refuses, it gives anything. */
uint32_t qix_packed_at(const qix_packed *packed, uint32_t i);
/* No sum of the values is above this. */
uint64_t qix_packed_sum_most(const qix_packed *packed);

/* Read a packed array of 128 values; false if it breaks the format or ends too early. */
bool qix_unpack(qix_reader *r, uint32_t ret_values[QIX_BLOCK]);
/* Step over one without reading its values. */
bool qix_skip_packed(qix_reader *r);

/* Read what is left of a sequence after its packed arrays of 128: `count` below 128, packed or as varints. */
bool qix_unpack_rest(qix_reader *r, uint32_t count, uint32_t *ret_values);

#endif
