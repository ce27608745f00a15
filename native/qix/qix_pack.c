#include "qix_pack.h"

#include "qix_kernels.h"

#define LANES 4u
#define GROUP_BYTES (4u * LANES)
#define EXCEPTION_BYTES 5u /* index and value */

static unsigned bit_width(uint32_t value)
{
    unsigned width = 0;
    while (width < 32 && value >> width)
        width++;
    return width;
}

static uint32_t low_mask(unsigned width)
{
    return width == 32 ? UINT32_MAX : (1u << width) - 1u;
}

/* The width with the smallest array; a narrower one is taken only if it saves bytes. */
static unsigned best_width(const uint32_t values[QIX_BLOCK])
{
    uint32_t count[33] = {0};
    for (unsigned i = 0; i < QIX_BLOCK; i++)
        count[bit_width(values[i])]++;
    unsigned widest = 32;
    while (widest > 0 && count[widest] == 0)
        widest--;
    unsigned best = widest;
    uint32_t best_bytes = GROUP_BYTES * widest;
    uint32_t exceptions = 0;
    for (unsigned width = widest; width-- > 0;) {
        exceptions += count[width + 1];
        uint32_t bytes = GROUP_BYTES * width + EXCEPTION_BYTES * exceptions;
        if (bytes < best_bytes) {
            best_bytes = bytes;
            best = width;
        }
    }
    return best;
}

static void pack_lane(uint8_t *p, const uint32_t values[QIX_BLOCK], unsigned lane, unsigned width)
{
    uint64_t buffer = 0;
    unsigned filled = 0;
    uint8_t *word = p + 4 * lane;
    for (unsigned i = lane; i < QIX_BLOCK; i += LANES) {
        uint32_t value = values[i] > low_mask(width) ? 0 : values[i];
        buffer |= (uint64_t)value << filled;
        filled += width;
        if (filled >= 32) {
            qix_store_u32(word, (uint32_t)buffer);
            word += GROUP_BYTES;
            buffer >>= 32;
            filled -= 32;
        }
    }
}

size_t qix_pack(uint8_t *p, const uint32_t values[QIX_BLOCK])
{
    unsigned width = best_width(values);
    uint8_t *body = p + 2;
    for (unsigned lane = 0; lane < LANES && width > 0; lane++)
        pack_lane(body, values, lane, width);
    uint8_t *tail = body + GROUP_BYTES * width;
    unsigned exceptions = 0;
    for (unsigned i = 0; i < QIX_BLOCK; i++)
        if (values[i] > low_mask(width))
            tail[exceptions++] = (uint8_t)i;
    uint8_t *large = tail + exceptions;
    for (unsigned i = 0; i < exceptions; i++)
        qix_store_u32(large + 4 * i, values[tail[i]]);
    p[0] = (uint8_t)width;
    p[1] = (uint8_t)exceptions;
    return 2u + GROUP_BYTES * width + EXCEPTION_BYTES * exceptions;
}

bool qix_packed_open(qix_reader *r, qix_packed *ret)
{
    uint8_t width, exceptions;
    qix_reader copy = *r;
    if (!qix_read_u8(&copy, &width) || !qix_read_u8(&copy, &exceptions) || width > 32 || exceptions > QIX_BLOCK)
        return false;
    ret->width = width;
    ret->exceptions = exceptions;
    if (!qix_read_bytes(&copy, GROUP_BYTES * (unsigned)width, &ret->body) ||
        !qix_read_bytes(&copy, exceptions, &ret->indexes) || !qix_read_bytes(&copy, 4u * exceptions, &ret->large))
        return false;
    *r = copy;
    return true;
}

bool qix_packed_read(const qix_packed *packed, uint32_t ret_values[QIX_BLOCK])
{
    qix_kernels()->unpack(packed->body, packed->width, ret_values);
    for (unsigned i = 0; i < packed->exceptions; i++) {
        if (packed->indexes[i] >= QIX_BLOCK || (i > 0 && packed->indexes[i] <= packed->indexes[i - 1]))
            return false;
        ret_values[packed->indexes[i]] = qix_load_u32(packed->large + 4 * i);
    }
    return true;
}

uint32_t qix_packed_at(const qix_packed *packed, uint32_t i)
{
    for (unsigned e = 0; e < packed->exceptions; e++)
        if (packed->indexes[e] == i)
            return qix_load_u32(packed->large + 4 * e);
    if (packed->width == 0)
        return 0;
    uint32_t bit = i / LANES * packed->width;
    const uint8_t *word = packed->body + bit / 32 * GROUP_BYTES + i % LANES * 4;
    uint64_t pair = qix_load_u32(word);
    if (bit % 32 + packed->width > 32) /* the value goes on in the next word of the lane */
        pair |= (uint64_t)qix_load_u32(word + GROUP_BYTES) << 32;
    return (uint32_t)(pair >> bit % 32) & low_mask(packed->width);
}

bool qix_unpack(qix_reader *r, uint32_t ret_values[QIX_BLOCK])
{
    qix_packed packed;
    return qix_packed_open(r, &packed) && qix_packed_read(&packed, ret_values);
}

bool qix_skip_packed(qix_reader *r)
{
    qix_packed packed;
    return qix_packed_open(r, &packed);
}
