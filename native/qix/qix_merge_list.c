#include <stdlib.h>

#include "qix_merge.h"

static qix_status load_block(qix_merge_part *part, qix_fault *fault)
{
    qix_status status = qix_list_decode(&part->list, part->block_index, &part->block, fault);
    if (!status && part->has_positions)
        status = qix_list_positions(&part->list, part->block_index, &part->block, &part->positions, fault);
    part->at = 0;
    return status;
}

/* Append the positions of the posting at hand to part->values. */
static qix_status read_positions(qix_merge_part *part, uint32_t *ret_count, qix_fault *fault)
{
    *ret_count = 0;
    if (!part->has_positions)
        return QIX_OK;
    qix_position_walk walk = qix_positions_walk(&part->positions, part->at);
    const char *reason;
    while (qix_position_next(&walk, &reason)) {
        if (!qix_bytes_add(&part->values, &walk.value, sizeof walk.value))
            return qix_no_memory(fault);
        ++*ret_count;
    }
    return reason ? qix_corrupt(fault, qix_offset_of(part->segment, part->list.positions.pos), reason) : QIX_OK;
}

/* The next live posting in the part's own order. */
static qix_status stream_next(qix_merge_part *part, qix_fault *fault)
{
    for (;; part->at++) {
        if (part->at == part->block.count) {
            if (++part->block_index == part->list.block_count) {
                part->has_row = false;
                return QIX_OK;
            }
            qix_status status = load_block(part, fault);
            if (status)
                return status;
        }
        uint32_t docid = part->new_docids[part->block.docids[part->at]];
        if (docid == QIX_DEAD)
            continue;
        part->row = (qix_merge_row){
            .docid = docid, .tf = part->block.tfs[part->at], .positions_at = part->values.used / sizeof(uint32_t)};
        part->has_row = true;
        qix_status status = read_positions(part, &part->row.position_count, fault);
        part->at++;
        return status;
    }
}

static int by_docid(const void *a, const void *b)
{
    uint32_t x = ((const qix_merge_row *)a)->docid, y = ((const qix_merge_row *)b)->docid;
    return (x > y) - (x < y);
}

/* Read the whole list and sort it by new docid. */
static qix_status load_list(qix_merge_part *part, qix_fault *fault)
{
    part->rows.used = 0;
    qix_status status = stream_next(part, fault);
    while (!status && part->has_row) {
        if (!qix_bytes_add(&part->rows, &part->row, sizeof part->row))
            return qix_no_memory(fault);
        status = stream_next(part, fault);
    }
    if (part->rows.used > 0)
        qsort(part->rows.data, part->rows.used / sizeof part->row, sizeof part->row, by_docid);
    part->next_row = 0;
    return status;
}

qix_status qix_merge_list_next(qix_merge_part *part, qix_fault *fault)
{
    if (part->keeps_order) {
        part->values.used = 0;
        return stream_next(part, fault);
    }
    part->has_row = part->next_row < part->rows.used / sizeof part->row;
    if (part->has_row)
        memcpy(&part->row, part->rows.data + sizeof part->row * part->next_row++, sizeof part->row);
    return QIX_OK;
}

qix_status qix_merge_list_open(qix_merge_part *part, qix_fault *fault)
{
    qix_status status = qix_list_open(part->segment, &part->walk.term, &part->list, fault);
    if (status)
        return status;
    part->has_positions = qix_left(&part->list.positions) > 0;
    part->block_index = 0;
    part->values.used = 0;
    status = load_block(part, fault);
    if (!status && !part->keeps_order)
        status = load_list(part, fault);
    return status ? status : qix_merge_list_next(part, fault);
}
