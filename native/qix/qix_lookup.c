/* Look-ups in an open segment: pages, and rows of the document table. */
#include "qix_segment.h"

/* Every docid is checked: the order was right when the file was opened, and someone may have written to it since. */
static qix_status find_page(const qix_segment *segment, uint64_t page_id, uint32_t *ret_docid, qix_fault *ret_fault)
{
    uint32_t low = 0, high = segment->info.doc_count;
    *ret_docid = UINT32_MAX;
    const uint8_t *order = segment->section[QIX_PAGE_ORDER];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *at = order + 4 * (uint64_t)middle;
        qix_status status = qix_need(segment, at, 4, ret_fault);
        uint32_t docid = qix_load_u32(at);
        if (!status && docid >= segment->info.doc_count)
            status = qix_corrupt(ret_fault, qix_offset_of(segment, at), "page order names no document");
        if (!status)
            status = qix_need(segment, segment->section[QIX_PAGE_IDS] + 8 * (uint64_t)docid, 8, ret_fault);
        if (status)
            return status;
        uint64_t page = qix_page_of(segment, docid);
        if (page == page_id) {
            *ret_docid = docid;
            return QIX_OK;
        }
        if (page < page_id)
            low = middle + 1;
        else
            high = middle;
    }
    return QIX_OK;
}

qix_status qix_find_page(const qix_segment *segment, uint64_t page_id, uint32_t *ret_docid, qix_fault *ret_fault)
{
    uint32_t docid;
    qix_status status = qix_settle(segment, find_page(segment, page_id, &docid, ret_fault), ret_fault);
    if (!status)
        *ret_docid = docid;
    return status;
}

/* A row's bytes in a column of `width` bytes, hashed. */
static const uint8_t *cell(const qix_segment *segment, enum qix_section_id id, uint32_t docid, uint32_t width,
                           qix_status *status, qix_fault *fault)
{
    const uint8_t *at = segment->section[id] + (uint64_t)width * docid;
    if (!*status)
        *status = qix_need(segment, at, width, fault);
    return at;
}

qix_status qix_get_document(const qix_segment *segment, uint32_t docid, qix_document *ret_doc, qix_fault *ret_fault)
{
    if (docid >= segment->info.doc_count)
        return qix_fail(ret_fault, QIX_ERR_ARGUMENT, docid, "docid is not below the document count");
    qix_status status = QIX_OK;
    qix_document doc = {
        .page_id = qix_load_u64(cell(segment, QIX_PAGE_IDS, docid, 8, &status, ret_fault)),
        .date_s = (int64_t)qix_load_u64(cell(segment, QIX_DATES, docid, 8, &status, ret_fault)),
        .origin_id = qix_load_u32(cell(segment, QIX_ORIGINS, docid, 4, &status, ret_fault)),
        .length = qix_load_u32(cell(segment, QIX_LENGTHS, docid, 4, &status, ret_fault)),
        .language = qix_load_u16(cell(segment, QIX_LANGUAGES, docid, 2, &status, ret_fault)),
        .static_rank = qix_load_u16(cell(segment, QIX_STATIC_RANKS, docid, 2, &status, ret_fault)),
        .flags = qix_load_u16(cell(segment, QIX_FLAGS, docid, 2, &status, ret_fault)),
    };
    status = qix_settle(segment, status, ret_fault);
    if (!status)
        *ret_doc = doc;
    return status;
}

qix_status qix_get_page_ids(const qix_segment *segment, uint64_t *ret_page_ids, qix_fault *ret_fault)
{
    qix_status status = qix_need_section(segment, QIX_PAGE_IDS, ret_fault);
    for (uint32_t docid = 0; docid < segment->info.doc_count && !status; docid++)
        ret_page_ids[docid] = qix_page_of(segment, docid);
    return qix_settle(segment, status, ret_fault);
}
