#include "qix_columns.h"

#include "qix_length.h"
#include "qix_reader.h"

#define BATCH_BYTES 4096u
#define ROW_BYTES_MAX 8u

/* Write a row's value of a column to `p`; gives its bytes. */
static uint32_t put_value(uint8_t *p, enum qix_section_id id, const qix_document *row)
{
    switch (id) {
    case QIX_PAGE_IDS:
        qix_store_u64(p, row->page_id);
        return 8;
    case QIX_LENGTHS:
        qix_store_u32(p, row->length);
        return 4;
    case QIX_LENGTH_CODES:
        *p = qix_length_encode(row->length);
        return 1;
    case QIX_STATIC_RANKS:
        qix_store_u16(p, row->static_rank);
        return 2;
    case QIX_ORIGINS:
        qix_store_u32(p, row->origin_id);
        return 4;
    case QIX_LANGUAGES:
        qix_store_u16(p, row->language);
        return 2;
    case QIX_DATES:
        qix_store_u64(p, (uint64_t)row->date_s);
        return 8;
    default: /* QIX_FLAGS: the last column */
        qix_store_u16(p, row->flags);
        return 2;
    }
}

static qix_status write_column(qix_encoder *encoder, enum qix_section_id id, uint32_t doc_count, qix_row_fn row,
                               const void *context, qix_fault *fault)
{
    uint8_t batch[BATCH_BYTES + ROW_BYTES_MAX];
    uint32_t used = 0;
    qix_status status = qix_encode_column_begin(encoder, id, fault);
    for (uint32_t docid = 0; docid < doc_count && !status; docid++) {
        qix_document value = row(context, docid);
        used += put_value(batch + used, id, &value);
        if (used >= BATCH_BYTES) {
            status = qix_encode_column_add(encoder, batch, used, fault);
            used = 0;
        }
    }
    if (!status)
        status = qix_encode_column_add(encoder, batch, used, fault);
    qix_encode_column_end(encoder, id);
    return status;
}

typedef struct {
    uint64_t page_id;
    uint32_t docid;
} page_row;

static int by_page(const void *a, const void *b)
{
    uint64_t x = ((const page_row *)a)->page_id, y = ((const page_row *)b)->page_id;
    return (x > y) - (x < y);
}

static qix_status write_sorted(qix_encoder *encoder, page_row *pages, uint32_t doc_count, qix_fault *fault)
{
    qsort(pages, doc_count, sizeof *pages, by_page);
    qix_status status = qix_encode_column_begin(encoder, QIX_PAGE_ORDER, fault);
    for (uint32_t i = 0; i < doc_count && !status; i++) {
        uint8_t raw[4];
        if (i > 0 && pages[i].page_id == pages[i - 1].page_id)
            return qix_fail(fault, QIX_ERR_ARGUMENT, pages[i].page_id, "a page is alive in two segments");
        qix_store_u32(raw, pages[i].docid);
        status = qix_encode_column_add(encoder, raw, sizeof raw, fault);
    }
    qix_encode_column_end(encoder, QIX_PAGE_ORDER);
    return status;
}

/* Whether page ids ascend as docids do, so that nothing has to be sorted. */
static bool is_ascending(uint32_t doc_count, qix_row_fn row, const void *context)
{
    uint64_t last = 0;
    for (uint32_t docid = 0; docid < doc_count; docid++) {
        uint64_t page_id = row(context, docid).page_id;
        if (page_id <= last)
            return false;
        last = page_id;
    }
    return true;
}

static qix_status write_docids(qix_encoder *encoder, uint32_t doc_count, qix_fault *fault)
{
    qix_status status = qix_encode_column_begin(encoder, QIX_PAGE_ORDER, fault);
    for (uint32_t docid = 0; docid < doc_count && !status; docid++) {
        uint8_t raw[4];
        qix_store_u32(raw, docid);
        status = qix_encode_column_add(encoder, raw, sizeof raw, fault);
    }
    qix_encode_column_end(encoder, QIX_PAGE_ORDER);
    return status;
}

static qix_status write_page_order(qix_encoder *encoder, uint32_t doc_count, qix_row_fn row, const void *context,
                                   qix_fault *fault)
{
    if (is_ascending(doc_count, row, context))
        return write_docids(encoder, doc_count, fault);
    page_row *pages = malloc(((size_t)doc_count + 1) * sizeof *pages);
    if (!pages)
        return qix_no_memory(fault);
    for (uint32_t docid = 0; docid < doc_count; docid++)
        pages[docid] = (page_row){row(context, docid).page_id, docid};
    qix_status status = write_sorted(encoder, pages, doc_count, fault);
    free(pages);
    return status;
}

qix_status qix_write_columns(qix_encoder *encoder, uint32_t doc_count, qix_row_fn row, const void *context,
                             qix_fault *fault)
{
    qix_status status = QIX_OK;
    for (uint32_t id = QIX_PAGE_IDS; id <= QIX_FLAGS && !status; id++)
        status = id == QIX_PAGE_ORDER ? write_page_order(encoder, doc_count, row, context, fault)
                                      : write_column(encoder, (enum qix_section_id)id, doc_count, row, context, fault);
    return status;
}
