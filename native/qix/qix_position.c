#include "qix_position.h"

#include "qix_pack.h"

static bool add_values(qix_bytes *out, const uint32_t *values, uint64_t count)
{
    for (; count >= QIX_BLOCK; values += QIX_BLOCK, count -= QIX_BLOCK) {
        if (!qix_bytes_reserve(out, QIX_PACKED_BYTES_MAX))
            return false;
        out->used += qix_pack(out->data + out->used, values, QIX_BLOCK, QIX_PACK_SMALL);
    }
    if (count >= QIX_PACK_MIN) {
        if (!qix_bytes_reserve(out, QIX_PACKED_BYTES_MAX))
            return false;
        out->used += qix_pack(out->data + out->used, values, (uint32_t)count, QIX_PACK_SMALL);
        return true;
    }
    for (; count > 0; values++, count--)
        if (!qix_bytes_add_varint(out, *values))
            return false;
    return true;
}

bool qix_positions_encode(qix_bytes *out, const qix_block *block, const uint32_t *counts, const uint32_t *values)
{
    uint8_t flags = 0;
    for (uint32_t i = 0; i < block->count; i++)
        if (counts[i] != block->tfs[i])
            flags = QIX_POSITIONS_COUNTS;
    if (!qix_bytes_add(out, &flags, 1))
        return false;
    if (flags && !add_values(out, counts, block->count))
        return false;
    uint32_t part[QIX_BLOCK];
    uint32_t filled = 0;
    for (uint32_t i = 0; i < block->count; i++)
        for (uint32_t j = 0; j < counts[i]; j++, values++) {
            part[filled++] = j == 0 ? values[0] : values[0] - values[-1] - 1;
            if (filled == QIX_BLOCK) {
                if (!add_values(out, part, filled))
                    return false;
                filled = 0;
            }
        }
    return add_values(out, part, filled);
}

static bool read_values(qix_reader *r, uint64_t count, uint32_t ret_values[QIX_BLOCK])
{
    return count >= QIX_BLOCK ? qix_unpack(r, ret_values) : qix_unpack_rest(r, (uint32_t)count, ret_values);
}

const char *qix_positions_open(qix_reader r, const qix_block *block, qix_positions *ret_positions)
{
    uint32_t counts[QIX_BLOCK];
    uint8_t flags;
    if (!qix_read_u8(&r, &flags) || flags > QIX_POSITIONS_COUNTS)
        return "unknown kind of positions";
    if (flags == QIX_POSITIONS_COUNTS && !read_values(&r, block->count, counts))
        return "position counts break the format";
    const uint32_t *used = flags == QIX_POSITIONS_COUNTS ? counts : block->tfs;
    ret_positions->starts[0] = 0;
    for (uint32_t i = 0; i < block->count; i++)
        ret_positions->starts[i + 1] = ret_positions->starts[i] + used[i];
    ret_positions->count = block->count;
    ret_positions->first = r;
    ret_positions->next = r;
    ret_positions->decoded_start = UINT64_MAX;
    return NULL;
}

/* Decode the 128 values (or the rest) that `index` is among. */
static bool decode_values(qix_positions *p, uint64_t index)
{
    uint64_t wanted = index / QIX_BLOCK * QIX_BLOCK;
    uint64_t total = p->starts[p->count];
    uint64_t at = p->decoded_start == UINT64_MAX ? 0 : p->decoded_start + QIX_BLOCK;
    if (p->decoded_start == UINT64_MAX || wanted < at) {
        p->next = p->first;
        at = 0;
    }
    p->decoded_start = UINT64_MAX;
    for (; at < wanted; at += QIX_BLOCK)
        if (!qix_skip_packed(&p->next))
            return false;
    if (!read_values(&p->next, total - wanted, p->values))
        return false;
    p->decoded_start = wanted;
    return true;
}

qix_position_walk qix_positions_walk(qix_positions *positions, uint32_t posting)
{
    return (qix_position_walk){
        .positions = positions, .index = positions->starts[posting], .end = positions->starts[posting + 1]};
}

bool qix_position_next(qix_position_walk *walk, const char **ret_reason)
{
    *ret_reason = NULL;
    if (walk->index == walk->end)
        return false;
    qix_positions *p = walk->positions;
    if (p->decoded_start == UINT64_MAX || walk->index - p->decoded_start >= QIX_BLOCK)
        if (!decode_values(p, walk->index)) {
            *ret_reason = "positions break the format";
            return false;
        }
    uint64_t value = p->values[walk->index - p->decoded_start];
    if (walk->started)
        value += (uint64_t)walk->value + 1;
    if (value > UINT32_MAX || qix_position_field((uint32_t)value) > QIX_BODY_FIELD) {
        *ret_reason = "position is in no field";
        return false;
    }
    walk->value = (uint32_t)value;
    walk->started = true;
    walk->index++;
    return true;
}
