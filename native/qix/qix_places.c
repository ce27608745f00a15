#include "qix_places.h"

#include "qix_kernels.h"

/* A value is below the highest position. Sums of 128 of them and one position fit 32 bits. */
#define VALUE_BITS_MAX QIX_PLACE_BITS
/* After these the processor sees by itself that the next will be read. */
#define PREFETCH_LINES 4u
#define LINE_BYTES 64u

void qix_places_open(qix_places *places, const qix_cursor *cursor)
{
    places->cursor = cursor;
    places->block = QIX_NO_BLOCK;
}

void qix_places_prefetch(const qix_places *places, uint32_t block)
{
    const qix_list *list = &places->cursor->list;
    uint64_t at = list->is_long ? qix_load_u32(list->position_offsets + 4 * (uint64_t)block) : 0;
    for (uint32_t line = 0; line < PREFETCH_LINES && at < qix_left(&list->positions); line++, at += LINE_BYTES)
        __builtin_prefetch(list->positions.pos + at);
}

/* Sums of 128 values of a packed array, each with 1 added; false if they may need more than 31 bits. */
static bool add_up(const qix_packed *packed, uint32_t ret_sums[QIX_BLOCK])
{
    if (qix_packed_sum_most(packed) > INT32_MAX || !qix_packed_read(packed, ret_sums))
        return false;
    qix_kernels()->sum_gaps(ret_sums, 1);
    return true;
}

/* Sums of some counts; false if they may need more than 31 bits. */
static bool add_counts(const uint32_t *counts, uint32_t count, uint32_t *ret_sums)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        ret_sums[i] = (uint32_t)(sum += counts[i]);
    return sum <= INT32_MAX;
}

/* Sums of the frequencies of a block's postings. */
static const char *sum_tfs(const qix_places *places, uint32_t index, qix_reader r, uint32_t *ret_sums)
{
    const qix_list *list = &places->cursor->list;
    qix_block block;
    bool is_full = places->count == QIX_BLOCK;
    const char *reason = is_full ? qix_block_open(&r, &block)
                                 : qix_tail_decode(&r, qix_list_previous(list, index), list->segment->info.doc_count,
                                                   places->count, &block);
    if (reason)
        return reason;
    bool done = is_full ? add_up(&block.packed_tfs, ret_sums) : add_counts(block.tfs, places->count, ret_sums);
    return done ? NULL : "frequencies are more than there can be positions";
}

/* Sums of how many positions each posting has: their frequencies unless said otherwise. */
static const char *sum_counts(qix_places *places, uint32_t block, qix_reader postings, uint32_t *ret_sums)
{
    uint32_t counts[QIX_BLOCK];
    uint8_t flags;
    qix_reader *r = &places->first;
    if (!qix_read_u8(r, &flags) || flags > QIX_POSITIONS_COUNTS)
        return "unknown kind of positions";
    if (flags == 0)
        return sum_tfs(places, block, postings, ret_sums);
    bool done = places->count < QIX_BLOCK ? qix_unpack_rest(r, places->count, counts) : qix_unpack(r, counts);
    return done && add_counts(counts, places->count, ret_sums) ? NULL : "position counts break the format";
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
    places->starts[0] = 0;
    const char *reason = sum_counts(places, block, postings, places->starts + 1);
    if (reason)
        return fail(run, places, reason);
    places->next = places->first;
    places->unpacked = QIX_NO_BLOCK;
    places->block = block;
    return true;
}

/* Read 128 values, or what is left of them with zeros behind it. None may be so large that 128 exceed 32 bits. */
static bool read_values(qix_reader *r, uint32_t count, uint32_t ret_values[QIX_BLOCK])
{
    qix_packed packed;
    if (count == QIX_BLOCK)
        return qix_packed_open(r, &packed) && packed.width + packed.high_width <= VALUE_BITS_MAX &&
               qix_packed_read(&packed, ret_values);
    if (!qix_unpack_rest(r, count, ret_values))
        return false;
    uint32_t any = 0;
    for (uint32_t i = 0; i < count; i++)
        any |= ret_values[i];
    memset(ret_values + count, 0, (QIX_BLOCK - count) * sizeof *ret_values);
    return any >> VALUE_BITS_MAX == 0;
}

/* Unpack the 128 values (or the rest) of a number. Sums go on from those before if these were the last unpacked. */
static bool unpack(qix_places *places, uint32_t wanted)
{
    bool has_some = places->unpacked != QIX_NO_BLOCK;
    uint32_t at = has_some ? places->unpacked + 1 : 0, before = has_some ? places->sums[QIX_BLOCK - 1] : 0;
    if (wanted < at) {
        places->next = places->first;
        at = 0;
    }
    places->unpacked = QIX_NO_BLOCK;
    for (; at < wanted; at++)
        if (!qix_skip_packed(&places->next))
            return false;
    uint32_t left = places->starts[places->count] - wanted * QIX_BLOCK;
    if (!read_values(&places->next, left < QIX_BLOCK ? left : QIX_BLOCK, places->sums))
        return false;
    qix_kernels()->sum_gaps(places->sums, before + 1);
    places->before = before;
    places->unpacked = wanted;
    return true;
}

uint32_t qix_places_next(qix_run *run, qix_places *places, qix_place_walk *walk, uint32_t added,
                         uint32_t ret_places[QIX_BLOCK + QIX_PLACES_SLACK])
{
    if (walk->value == walk->end)
        return 0;
    uint32_t number = walk->value / QIX_BLOCK, from = walk->value % QIX_BLOCK, left = walk->end - walk->value;
    if (places->unpacked != number && !unpack(places, number))
        return fail(run, places, "positions break the format");
    uint32_t count = left < QIX_BLOCK - from ? left : QIX_BLOCK - from;
    if (!walk->has_begun)
        walk->base = (from == 0 ? places->before : places->sums[from - 1]) + 1;
    walk->has_begun = true;
    if ((places->sums[from + count - 1] - walk->base) >> QIX_PLACE_BITS != 0)
        return fail(run, places, "position is in no field");
    qix_places_copy(places->sums + from, count, added - walk->base, ret_places);
    walk->value += count;
    return count;
}
