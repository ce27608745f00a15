/* Reading packed arrays; qix_pack_write.c writes them. */
#include "qix_pack.h"

#include "qix_kernels.h"

#define LANES 4u
#define GROUP_BYTES (4u * LANES)
/* Room for 128 values of 32 bits, and for a load of eight bytes at the last of them. */
#define BITS_BYTES (4u * QIX_BLOCK + 8u)

static uint32_t low_mask(unsigned width)
{
    return (uint32_t)((1ull << width) - 1);
}

static uint32_t bytes_of(uint32_t count, unsigned width)
{
    return (count * width + 7) / 8;
}

/* Read `count` values of `width` bits that follow each other, lowest bit first. */
static void read_bits(const uint8_t *p, unsigned width, uint32_t count, uint32_t *ret_values)
{
    uint8_t padded[BITS_BYTES];
    uint32_t bytes = bytes_of(count, width);
    memcpy(padded, p, bytes);
    memset(padded + bytes, 0, 8);
    for (uint32_t i = 0, bit = 0; i < count; i++, bit += width)
        ret_values[i] = (uint32_t)(qix_load_u64(padded + bit / 8) >> bit % 8) & low_mask(width);
}

static bool open_packed(qix_reader *r, uint32_t count, qix_packed *ret)
{
    qix_reader copy = *r;
    *ret = (qix_packed){.count = (uint8_t)count};
    if (!qix_read_u8(&copy, &ret->width) || !qix_read_u8(&copy, &ret->exceptions) || ret->width > 32 ||
        ret->exceptions > count)
        return false;
    if (ret->exceptions > 0 &&
        (!qix_read_u8(&copy, &ret->high_width) || ret->high_width == 0 || ret->high_width > 32 - ret->width))
        return false;
    uint32_t body_bytes = count == QIX_BLOCK ? GROUP_BYTES * ret->width : bytes_of(count, ret->width);
    if (!qix_read_bytes(&copy, body_bytes, &ret->body) || !qix_read_bytes(&copy, ret->exceptions, &ret->indexes) ||
        !qix_read_bytes(&copy, bytes_of(ret->exceptions, ret->high_width), &ret->high))
        return false;
    ret->has_room = qix_left(&copy) >= 8;
    *r = copy;
    return true;
}

/* Add the exceptions' high bits to values of which the low ones are there. `high` can be read 8 bytes beyond its end. */
static bool patch_from(const qix_packed *packed, const uint8_t *high, uint32_t *values)
{
    const uint32_t width = packed->high_width, mask = low_mask(width), shift = packed->width;
    int last = -1;
    for (uint32_t i = 0, bit = 0; i < packed->exceptions; i++, bit += width) {
        uint8_t index = packed->indexes[i];
        if (index <= last || index >= packed->count)
            return false;
        values[index] |= ((uint32_t)(qix_load_u64(high + bit / 8) >> bit % 8) & mask) << shift;
        last = index;
    }
    return true;
}

static bool patch(const qix_packed *packed, uint32_t *values)
{
    uint8_t padded[BITS_BYTES];
    if (packed->exceptions == 0)
        return true;
    if (packed->has_room)
        return patch_from(packed, packed->high, values);
    uint32_t bytes = bytes_of(packed->exceptions, packed->high_width);
    memcpy(padded, packed->high, bytes);
    memset(padded + bytes, 0, 8);
    return patch_from(packed, padded, values);
}

bool qix_packed_open(qix_reader *r, qix_packed *ret_packed)
{
    return open_packed(r, QIX_BLOCK, ret_packed);
}

bool qix_packed_read(const qix_packed *packed, uint32_t ret_values[QIX_BLOCK])
{
    qix_kernels()->unpack(packed->body, packed->width, ret_values);
    return patch(packed, ret_values);
}

/* The high bits of value `i`, in their place. */
static uint32_t high_of(const qix_packed *packed, uint32_t i)
{
    uint32_t high[QIX_BLOCK];
    for (uint32_t e = 0; e < packed->exceptions; e++)
        if (packed->indexes[e] == i) {
            read_bits(packed->high, packed->high_width, e + 1, high);
            return high[e] << packed->width;
        }
    return 0;
}

uint32_t qix_packed_at(const qix_packed *packed, uint32_t i)
{
    uint32_t value = packed->exceptions > 0 ? high_of(packed, i) : 0;
    if (packed->width == 0)
        return value;
    uint32_t bit = i / LANES * packed->width;
    const uint8_t *word = packed->body + bit / 32 * GROUP_BYTES + i % LANES * 4;
    uint64_t pair = qix_load_u32(word);
    if (bit % 32 + packed->width > 32) /* the value goes on in the next word of the lane */
        pair |= (uint64_t)qix_load_u32(word + GROUP_BYTES) << 32;
    return value | ((uint32_t)(pair >> bit % 32) & low_mask(packed->width));
}

uint64_t qix_packed_sum_most(const qix_packed *packed)
{
    unsigned widest = packed->width + packed->high_width;
    return ((uint64_t)packed->count << packed->width) + ((uint64_t)packed->exceptions << widest);
}

bool qix_unpack(qix_reader *r, uint32_t ret_values[QIX_BLOCK])
{
    qix_packed packed;
    return open_packed(r, QIX_BLOCK, &packed) && qix_packed_read(&packed, ret_values);
}

bool qix_skip_packed(qix_reader *r)
{
    qix_packed packed;
    return open_packed(r, QIX_BLOCK, &packed);
}

bool qix_unpack_rest(qix_reader *r, uint32_t count, uint32_t *ret_values)
{
    qix_packed packed;
    if (count >= QIX_PACK_MIN) {
        if (!open_packed(r, count, &packed))
            return false;
        read_bits(packed.body, packed.width, count, ret_values);
        return patch(&packed, ret_values);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!qix_read_varint32(r, &ret_values[i]))
            return false;
    return true;
}
