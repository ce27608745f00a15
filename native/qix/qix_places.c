#include "qix_places.h"

void qix_places_open(qix_places *places, const qix_cursor *cursor)
{
    places->cursor = cursor;
    places->block = QIX_NO_BLOCK;
}

/* Frequencies of a block's postings. */
static const char *read_tfs(const qix_places *places, uint32_t index, qix_reader r, uint32_t *ret_tfs)
{
    const qix_list *list = &places->cursor->list;
    qix_block block;
    const char *reason = NULL;
    if (places->count < QIX_BLOCK)
        reason =
            qix_tail_decode(&r, qix_list_previous(list, index), list->segment->info.doc_count, places->count, &block);
    else
        reason = qix_block_open(&r, &block);
    if (places->count < QIX_BLOCK)
        memcpy(ret_tfs, block.tfs, sizeof block.tfs);
    else if (!reason && !qix_packed_read(&block.packed_tfs, ret_tfs))
        reason = "packed frequencies break the format";
    for (uint32_t i = 0; places->count == QIX_BLOCK && i < QIX_BLOCK; i++)
        ret_tfs[i]++;
    return reason;
}

/* Positions of each posting: their frequencies unless said otherwise. */
static const char *read_counts(qix_places *places, uint32_t block, qix_reader postings, uint32_t *ret_counts)
{
    uint8_t flags;
    qix_reader *r = &places->first;
    if (!qix_read_u8(r, &flags) || flags > QIX_POSITIONS_COUNTS)
        return "unknown kind of positions";
    if (flags == 0)
        return read_tfs(places, block, postings, ret_counts);
    bool done = places->count < QIX_BLOCK ? qix_unpack_rest(r, places->count, ret_counts) : qix_unpack(r, ret_counts);
    return done ? NULL : "position counts break the format";
}

static bool fail(qix_run *run, const qix_places *places, const char *reason)
{
    qix_run_fail(run, qix_corrupt(run->fault, qix_offset_of(run->segment, places->first.pos), reason));
    return false;
}

bool qix_places_load(qix_run *run, qix_places *places, uint32_t block)
{
    const qix_list *list = &places->cursor->list;
    qix_reader postings;
    uint32_t counts[QIX_BLOCK];
    if (places->block == block)
        return true;
    places->block = QIX_NO_BLOCK;
    qix_status status = qix_list_bytes(list, block, &postings, run->fault);
    if (!status)
        status = qix_list_places(list, block, &places->first, run->fault);
    if (status) {
        qix_run_fail(run, status);
        return false;
    }
    places->count = qix_list_count(list, block);
    const char *reason = read_counts(places, block, postings, counts);
    if (reason)
        return fail(run, places, reason);
    places->starts[0] = 0;
    for (uint32_t i = 0; i < places->count; i++)
        places->starts[i + 1] = places->starts[i] + counts[i];
    places->next = places->first;
    places->unpacked = UINT64_MAX;
    places->block = block;
    return true;
}

/* Unpack the 128 values (or the rest) of a number. */
static bool unpack(qix_places *places, uint64_t wanted)
{
    uint64_t at = places->unpacked + 1; /* 0 if nothing is unpacked */
    if (wanted < at) {
        places->next = places->first;
        at = 0;
    }
    places->unpacked = UINT64_MAX;
    for (; at < wanted; at++)
        if (!qix_skip_packed(&places->next))
            return false;
    uint64_t left = places->starts[places->count] - wanted * QIX_BLOCK;
    uint32_t count = left < QIX_BLOCK ? (uint32_t)left : QIX_BLOCK;
    if (count < QIX_BLOCK ? !qix_unpack_rest(&places->next, count, places->values)
                          : !qix_unpack(&places->next, places->values))
        return false;
    places->unpacked = wanted;
    return true;
}

uint32_t qix_places_next(qix_run *run, qix_places *places, qix_place_walk *walk, uint32_t ret_positions[QIX_BLOCK])
{
    if (walk->value == walk->end)
        return 0;
    uint64_t number = walk->value / QIX_BLOCK;
    if (places->unpacked != number && !unpack(places, number))
        return fail(run, places, "positions break the format");
    uint32_t from = (uint32_t)(walk->value % QIX_BLOCK);
    uint64_t left = walk->end - walk->value;
    uint32_t count = left < QIX_BLOCK - from ? (uint32_t)left : QIX_BLOCK - from;
    /* The first value of a posting is a position, the others are differences - 1. `last` before the first is -1. */
    uint32_t position = walk->last;
    for (uint32_t i = 0; i < count; i++)
        ret_positions[i] = position += places->values[from + i] + 1;
    walk->last = position;
    walk->value += count;
    return count;
}
