#include "qix_segment.h"

/* A posting list of a term: its parts found and bounded; blocks and positions decoded one at a time. */

static qix_status open_long(const qix_segment *segment, qix_list *list, qix_fault *fault)
{
    qix_reader r = list->bytes;
    const uint8_t *head, *arrays;
    uint64_t at = qix_offset_of(segment, r.pos);
    list->block_count = list->df / QIX_BLOCK + (list->df % QIX_BLOCK != 0);
    if (!qix_read_bytes(&r, QIX_LIST_HEADER_BYTES, &head) ||
        !qix_read_bytes(&r, (uint64_t)list->block_count * QIX_BLOCK_SUMMARY_BYTES, &arrays))
        return qix_corrupt(fault, at, "posting list is shorter than its summaries");
    qix_status status = qix_need(segment, head, (uint64_t)(r.pos - head), fault);
    if (status)
        return status;
    list->pairs = head;
    list->last_docids = arrays;
    list->block_offsets = arrays + 4 * (uint64_t)list->block_count;
    list->position_offsets = arrays + 8 * (uint64_t)list->block_count;
    list->block_pairs = arrays + 12 * (uint64_t)list->block_count;
    if (head[14] == 0)
        return QIX_OK;
    uint64_t ranges = ((uint64_t)segment->info.doc_count + (1u << segment->range_shift) - 1) >> segment->range_shift;
    uint64_t offset = qix_load_u64(head + 16), section = segment->section_bytes[QIX_RANGE_BOUNDS];
    if (head[14] != 1 || offset > section || ranges > section - offset)
        return qix_corrupt(fault, at + 14, "range bounds leave their section");
    list->range_bounds = segment->section[QIX_RANGE_BOUNDS] + offset;
    list->range_count = ranges;
    return qix_need(segment, list->range_bounds, ranges, fault);
}

qix_status qix_list_open(const qix_segment *segment, const qix_term *term, qix_list *ret_list, qix_fault *fault)
{
    uint64_t postings = segment->section_bytes[QIX_POSTINGS], positions = segment->section_bytes[QIX_POSITIONS];
    if (term->df > segment->info.doc_count || term->df == 0)
        return qix_corrupt(fault, qix_offset_of(segment, segment->section[QIX_TERMS]),
                           "document frequency is above the document count");
    if (term->postings_at > postings || term->postings_bytes > postings - term->postings_at)
        return qix_corrupt(fault, qix_offset_of(segment, segment->section[QIX_POSTINGS]),
                           "posting list leaves its section");
    if (term->positions_at > positions || term->positions_bytes > positions - term->positions_at)
        return qix_corrupt(fault, qix_offset_of(segment, segment->section[QIX_POSITIONS]),
                           "positions leave their section");
    const uint8_t *at = segment->section[QIX_POSTINGS] + term->postings_at;
    const uint8_t *positions_at = segment->section[QIX_POSITIONS] + term->positions_at;
    *ret_list = (qix_list){.segment = segment,
                           .df = term->df,
                           .block_count = 1,
                           .bytes = {at, at + term->postings_bytes},
                           .positions = {positions_at, positions_at + term->positions_bytes},
                           .is_long = term->df >= QIX_BLOCK,
                           .is_hashed = qix_is_hashed(segment, at, term->postings_bytes)};
    return ret_list->is_long ? open_long(segment, ret_list, fault) : QIX_OK;
}

/* The bytes from offsets[block] to the next block's, or to the end. */
static bool block_extent(const qix_list *list, qix_reader whole, const uint8_t *offsets, uint32_t block,
                         qix_reader *ret_bytes)
{
    uint64_t length = qix_left(&whole);
    uint64_t from = list->is_long ? qix_load_u32(offsets + 4 * (uint64_t)block) : 0;
    uint64_t to = block + 1 < list->block_count ? qix_load_u32(offsets + 4 * (uint64_t)block + 4) : length;
    if (from > to || to > length)
        return false;
    *ret_bytes = (qix_reader){whole.pos + from, whole.pos + to};
    return true;
}

/* Length codes from the document table, for blocks that have none. */
static void codes_of(const qix_segment *segment, qix_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        block->codes[i] = qix_code_of(segment, block->docids[i]);
}

/* NULL, or what is wrong: a long list says where each block ends. */
static const char *check_last(const qix_list *list, uint32_t block, const qix_block *decoded)
{
    if (!list->is_long || decoded->docids[decoded->count - 1] == qix_list_last(list, block))
        return NULL;
    return "last document of a block is not its summary's";
}

qix_status qix_list_bytes(const qix_list *list, uint32_t block, qix_reader *ret_bytes, qix_fault *fault)
{
    if (!block_extent(list, list->bytes, list->block_offsets, block, ret_bytes))
        return qix_corrupt(fault, qix_offset_of(list->segment, list->bytes.pos), "block offsets leave the list");
    return list->is_hashed ? QIX_OK : qix_need(list->segment, ret_bytes->pos, qix_left(ret_bytes), fault);
}

qix_status qix_list_enter(const qix_list *list, uint32_t block, qix_block *ret_block, qix_fault *fault)
{
    const qix_segment *segment = list->segment;
    qix_reader r;
    qix_status status = qix_list_bytes(list, block, &r, fault);
    if (status)
        return status;
    uint64_t at = qix_offset_of(segment, r.pos);
    uint32_t count = qix_list_count(list, block);
    if (count == QIX_BLOCK) {
        const char *reason = qix_block_open(&r, ret_block);
        return reason ? qix_corrupt(fault, at, reason) : QIX_OK;
    }
    const char *reason = qix_tail_decode(&r, qix_list_previous(list, block), segment->info.doc_count, count, ret_block);
    if (!reason)
        reason = check_last(list, block, ret_block);
    if (!reason)
        codes_of(segment, ret_block);
    return reason ? qix_corrupt(fault, at, reason) : QIX_OK;
}

qix_status qix_list_locate(const qix_list *list, uint32_t block, qix_block *entered, qix_fault *fault)
{
    if (entered->has_docids)
        return QIX_OK;
    const char *reason = qix_block_docids(entered, qix_list_previous(list, block), list->segment->info.doc_count);
    if (!reason)
        reason = check_last(list, block, entered);
    return reason ? qix_corrupt(fault, qix_offset_of(list->segment, entered->packed_docids.pos), reason) : QIX_OK;
}

qix_status qix_list_docids(const qix_list *list, uint32_t block, qix_block *ret_block, qix_fault *fault)
{
    qix_status status = qix_list_enter(list, block, ret_block, fault);
    return status ? status : qix_list_locate(list, block, ret_block, fault);
}

qix_status qix_list_fill(const qix_list *list, qix_block *block, qix_fault *fault)
{
    if (block->is_whole)
        return QIX_OK;
    const char *reason = qix_block_fill(block);
    if (reason)
        return qix_corrupt(fault, qix_offset_of(list->segment, block->packed_tfs.body), reason);
    if (!block->has_codes)
        codes_of(list->segment, block);
    return QIX_OK;
}

qix_status qix_list_posting(const qix_list *list, const qix_block *block, uint32_t i, uint32_t *ret_tf,
                            uint8_t *ret_code, qix_fault *fault)
{
    *ret_tf = block->is_whole ? block->tfs[i] : qix_block_tf(block, i);
    *ret_code = block->is_whole    ? (uint8_t)block->codes[i]
                : block->has_codes ? qix_block_code(block, i)
                                   : qix_code_of(list->segment, block->docids[i]);
    return *ret_tf > 0 ? QIX_OK
                       : qix_corrupt(fault, qix_offset_of(list->segment, block->packed_tfs.body),
                                     "frequency is above 2^32 - 1");
}

qix_status qix_list_decode(const qix_list *list, uint32_t block, qix_block *ret_block, qix_fault *fault)
{
    qix_status status = qix_list_docids(list, block, ret_block, fault);
    return status ? status : qix_list_fill(list, ret_block, fault);
}

qix_status qix_list_places(const qix_list *list, uint32_t block, qix_reader *ret_bytes, qix_fault *fault)
{
    if (!block_extent(list, list->positions, list->position_offsets, block, ret_bytes))
        return qix_corrupt(fault, qix_offset_of(list->segment, list->positions.pos), "position offsets leave the list");
    return qix_need(list->segment, ret_bytes->pos, qix_left(ret_bytes), fault);
}

qix_status qix_list_positions(const qix_list *list, uint32_t block, const qix_block *decoded,
                              qix_positions *ret_positions, qix_fault *fault)
{
    qix_reader r;
    qix_status status = qix_list_places(list, block, &r, fault);
    if (status)
        return status;
    const char *reason = qix_positions_open(r, decoded, ret_positions);
    return reason ? qix_corrupt(fault, qix_offset_of(list->segment, r.pos), reason) : QIX_OK;
}
