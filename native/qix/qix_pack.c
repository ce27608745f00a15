#include "qix_pack.h"

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

/* One row is the next value of all lanes; the inner loops have a fixed length, so that compilers use vectors. */
static void unpack_rows(const uint8_t *p, unsigned width, uint32_t *ret_values)
{
    uint32_t mask = low_mask(width);
    uint32_t word[LANES];
    unsigned used = 32;
    for (unsigned row = 0; row < QIX_BLOCK / LANES; row++) {
        uint32_t *out = ret_values + LANES * row;
        if (used == 32) {
            for (unsigned lane = 0; lane < LANES; lane++)
                word[lane] = qix_load_u32(p + 4 * lane);
            p += GROUP_BYTES;
            used = 0;
        }
        for (unsigned lane = 0; lane < LANES; lane++)
            out[lane] = word[lane] >> used & mask;
        used += width;
        if (used > 32) { /* the value goes on in the next word */
            unsigned have = width - (used - 32);
            for (unsigned lane = 0; lane < LANES; lane++) {
                word[lane] = qix_load_u32(p + 4 * lane);
                out[lane] |= word[lane] << have & mask;
            }
            p += GROUP_BYTES;
            used -= 32;
        }
    }
}

/* Header and extent, checked: width, exceptions and where the parts are. */
typedef struct {
    unsigned width;
    unsigned exceptions;
    const uint8_t *body;
    const uint8_t *indexes;
    const uint8_t *large;
} layout;

static bool read_layout(qix_reader *r, layout *ret)
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

bool qix_unpack(qix_reader *r, uint32_t ret_values[QIX_BLOCK])
{
    layout at;
    if (!read_layout(r, &at))
        return false;
    if (at.width == 0)
        memset(ret_values, 0, QIX_BLOCK * sizeof *ret_values);
    else
        unpack_rows(at.body, at.width, ret_values);
    for (unsigned i = 0; i < at.exceptions; i++) {
        if (at.indexes[i] >= QIX_BLOCK || (i > 0 && at.indexes[i] <= at.indexes[i - 1]))
            return false;
        ret_values[at.indexes[i]] = qix_load_u32(at.large + 4 * i);
    }
    return true;
}

bool qix_skip_packed(qix_reader *r)
{
    layout at;
    return read_layout(r, &at);
}
