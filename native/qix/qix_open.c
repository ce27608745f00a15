#include <stdlib.h>

#include "qix_length.h"
#include "qix_segment.h"
#include "qix_sha256.h"

/* Bytes of a row in each column of the document table; 0 for sections that are no columns. */
static const uint8_t column_bytes[QIX_SECTION_END] = {
    [QIX_PAGE_IDS] = 8, [QIX_PAGE_ORDER] = 4, [QIX_LENGTHS] = 4, [QIX_LENGTH_CODES] = 1, [QIX_STATIC_RANKS] = 2,
    [QIX_ORIGINS] = 4,  [QIX_LANGUAGES] = 2,  [QIX_DATES] = 8,   [QIX_FLAGS] = 2,
};

/* Magic, version and sizes: after this the header and the digest table can be hashed. */
static qix_status check_frame(const uint8_t *data, uint64_t bytes, qix_segment *segment, qix_fault *fault)
{
    if (bytes < QIX_HEADER_BYTES)
        return qix_corrupt(fault, bytes, "file is shorter than a header");
    if (memcmp(data, QIX_MAGIC, 8) != 0)
        return qix_corrupt(fault, 0, "magic is not that of a QIX file");
    uint32_t version = qix_load_u32(data + 8);
    if (version != QIX_FORMAT_VERSION)
        return qix_fail(fault, QIX_ERR_VERSION, version, "format version is another one");
    if (qix_load_u32(data + 12) != QIX_HEADER_BYTES)
        return qix_corrupt(fault, 12, "header bytes are not 4096");
    if (qix_load_u64(data + 16) != bytes)
        return qix_corrupt(fault, 16, "file has another length than its header says");
    uint64_t payload = qix_load_u64(data + 24);
    if (payload > bytes - QIX_HEADER_BYTES)
        return qix_corrupt(fault, 24, "payload is longer than the file");
    uint64_t chunks = payload / QIX_CHUNK_BYTES + (payload % QIX_CHUNK_BYTES != 0);
    if (chunks != qix_load_u32(data + 92) || chunks * QIX_DIGEST_BYTES != bytes - QIX_HEADER_BYTES - payload)
        return qix_corrupt(fault, 92, "chunk count does not fit the payload");
    segment->data = data;
    segment->payload_bytes = payload;
    segment->digests = data + QIX_HEADER_BYTES + payload;
    segment->info.file_bytes = bytes;
    segment->info.chunk_count = (uint32_t)chunks;
    return QIX_OK;
}

static qix_status check_root(const qix_segment *segment, qix_fault *fault)
{
    uint8_t header[QIX_HEADER_BYTES], digest[QIX_DIGEST_BYTES];
    memcpy(header, segment->data, sizeof header);
    memset(header + QIX_ROOT_OFFSET, 0, QIX_DIGEST_BYTES);
    qix_sha256 sha;
    qix_sha256_init(&sha);
    qix_sha256_update(&sha, header, sizeof header);
    qix_sha256_update(&sha, segment->digests, (size_t)segment->info.chunk_count * QIX_DIGEST_BYTES);
    qix_sha256_final(&sha, digest);
    if (memcmp(digest, segment->data + QIX_ROOT_OFFSET, sizeof digest) != 0)
        return qix_corrupt(fault, QIX_ROOT_OFFSET, "root digest is wrong");
    return QIX_OK;
}

static qix_status read_header(qix_segment *segment, qix_fault *fault)
{
    const uint8_t *h = segment->data;
    qix_segment_info *info = &segment->info;
    info->analysis_version = qix_load_u32(h + 64);
    info->doc_count = qix_load_u32(h + 68);
    info->total_length = qix_load_u64(h + 72);
    info->term_count = qix_load_u64(h + 80);
    info->has_positions = qix_load_u32(h + 88) == QIX_HAS_POSITIONS;
    segment->range_shift = h[106];
    segment->range_k1 = qix_load_double(h + 112);
    segment->range_b = qix_load_double(h + 120);
    segment->range_average = qix_load_double(h + 128);
    if (info->doc_count == UINT32_MAX || qix_load_u32(h + 88) > QIX_HAS_POSITIONS)
        return qix_corrupt(fault, 68, "document count or flags are out of range");
    for (uint32_t i = 0; i < QIX_FIELD_COUNT; i++) {
        info->field_weights[i] = qix_load_u16(h + 96 + 2 * i);
        if (info->field_weights[i] == 0)
            return qix_corrupt(fault, 96 + 2 * i, "field weight is 0");
    }
    if (segment->range_shift < 6 || segment->range_shift > 31)
        return qix_corrupt(fault, 106, "range shift is not from 6 to 31");
    if (!(segment->range_k1 >= 0 && segment->range_k1 <= 1000 && segment->range_b >= 0 && segment->range_b <= 1 &&
          segment->range_average >= 0))
        return qix_corrupt(fault, 112, "parameters of the range bounds are out of range");
    return QIX_OK;
}

static qix_status read_sections(qix_segment *segment, qix_fault *fault)
{
    if (qix_load_u32(segment->data + 108) != QIX_SECTION_COUNT)
        return qix_corrupt(fault, 108, "section count is wrong");
    uint64_t end = QIX_HEADER_BYTES, limit = QIX_HEADER_BYTES + segment->payload_bytes;
    for (uint32_t id = QIX_PAGE_IDS; id < QIX_SECTION_END; id++) {
        uint64_t at = QIX_SECTION_TABLE_OFFSET + (uint64_t)(id - 1) * QIX_SECTION_ENTRY_BYTES;
        const uint8_t *entry = segment->data + at;
        uint64_t offset = qix_load_u64(entry + 8), bytes = qix_load_u64(entry + 16);
        if (qix_load_u32(entry) != id)
            return qix_corrupt(fault, at, "section ids do not ascend from 1");
        if (offset % QIX_SECTION_ALIGN || offset < end || offset - end >= QIX_SECTION_ALIGN || offset > limit ||
            bytes > limit - offset)
            return qix_corrupt(fault, at + 8, "section lies outside its place");
        if (column_bytes[id] && bytes != (uint64_t)column_bytes[id] * segment->info.doc_count)
            return qix_corrupt(fault, at + 16, "column has not one row a document");
        segment->section[id] = segment->data + offset;
        segment->section_bytes[id] = bytes;
        end = offset + bytes;
    }
    return end == limit ? QIX_OK : qix_corrupt(fault, 24, "bytes follow the last section");
}

/* Page ids ascend through PAGE_ORDER, which makes it a permutation and each page unique. */
static qix_status check_pages(const qix_segment *segment, qix_fault *fault)
{
    const uint8_t *order = segment->section[QIX_PAGE_ORDER];
    uint64_t last = 0;
    for (uint32_t i = 0; i < segment->info.doc_count; i++) {
        uint32_t docid = qix_load_u32(order + 4 * (uint64_t)i);
        uint64_t at = qix_offset_of(segment, order) + 4 * (uint64_t)i;
        if (docid >= segment->info.doc_count)
            return qix_corrupt(fault, at, "page order names no document");
        uint64_t page = qix_page_of(segment, docid);
        if (i > 0 && page <= last)
            return qix_corrupt(fault, at, "page ids do not ascend through the page order");
        last = page;
    }
    return QIX_OK;
}

static qix_status check_lengths(const qix_segment *segment, qix_fault *fault)
{
    const uint8_t *lengths = segment->section[QIX_LENGTHS];
    uint64_t total = 0;
    for (uint32_t i = 0; i < segment->info.doc_count; i++) {
        uint32_t length = qix_load_u32(lengths + 4 * (uint64_t)i);
        if (qix_length_encode(length) != qix_code_of(segment, i))
            return qix_corrupt(fault, qix_offset_of(segment, segment->section[QIX_LENGTH_CODES]) + i,
                               "length code is not that of the length");
        total += length;
    }
    if (total != segment->info.total_length)
        return qix_corrupt(fault, 72, "total length is not the sum of the lengths");
    return QIX_OK;
}

static qix_status check_term_index(const qix_segment *segment, qix_fault *fault)
{
    const uint8_t *index = segment->section[QIX_TERM_INDEX];
    uint64_t blocks = qix_dict_blocks(segment), base = qix_offset_of(segment, index);
    const enum qix_section_id target[3] = {QIX_TERMS, QIX_POSTINGS, QIX_POSITIONS};
    if (segment->info.term_count > UINT64_MAX / QIX_TERM_INDEX_BYTES - QIX_DICT_BLOCK ||
        segment->section_bytes[QIX_TERM_INDEX] != blocks * QIX_TERM_INDEX_BYTES)
        return qix_corrupt(fault, 80, "term count does not fit the term index");
    for (uint64_t i = 0; i < blocks; i++) {
        const uint8_t *record = index + i * QIX_TERM_INDEX_BYTES;
        for (uint32_t j = 0; j < 3; j++) {
            uint64_t offset = qix_load_u64(record + 8 + 8 * j);
            uint64_t before = i ? qix_load_u64(record + 8 + 8 * j - QIX_TERM_INDEX_BYTES) : 0;
            if (offset > segment->section_bytes[target[j]] || offset < before || (i == 0 && offset != 0))
                return qix_corrupt(fault, base + i * QIX_TERM_INDEX_BYTES + 8 + 8 * j, "term index leaves its section");
        }
        if (i > 0 && memcmp(record - QIX_TERM_INDEX_BYTES, record, QIX_KEY_HEAD_BYTES) > 0)
            return qix_corrupt(fault, base + i * QIX_TERM_INDEX_BYTES, "keys of the term index do not ascend");
    }
    return QIX_OK;
}

static qix_status open_checked(const uint8_t *data, uint64_t bytes, qix_segment *segment, qix_fault *fault)
{
    qix_status status = check_frame(data, bytes, segment, fault);
    static qix_status (*const checks[])(qix_segment *, qix_fault *) = {read_header, read_sections};
    static qix_status (*const passes[])(const qix_segment *, qix_fault *) = {check_pages, check_lengths,
                                                                             check_term_index};
    if (!status)
        status = check_root(segment, fault);
    if (!status && segment->info.chunk_count > 0)
        memcpy(segment->last_digest, data + bytes - QIX_DIGEST_BYTES, QIX_DIGEST_BYTES);
    for (size_t i = 0; i < sizeof checks / sizeof *checks && !status; i++)
        status = checks[i](segment, fault);
    for (size_t i = 0; i < sizeof passes / sizeof *passes && !status; i++)
        status = passes[i](segment, fault);
    return status;
}

qix_status qix_open(const uint8_t *data, uint64_t bytes, qix_segment **ret_segment, qix_fault *ret_fault)
{
    qix_segment *segment = calloc(1, sizeof *segment);
    if (!segment)
        return qix_no_memory(ret_fault);
    segment->guard = qix_guard_new(data, bytes);
    qix_status status = segment->guard ? open_checked(data, bytes, segment, ret_fault) : qix_no_memory(ret_fault);
    if (!status) {
        segment->verified = calloc(segment->info.chunk_count + 1u, sizeof *segment->verified);
        if (!segment->verified)
            status = qix_no_memory(ret_fault);
    }
    if (segment->guard && qix_guard_torn_at(segment->guard) != QIX_GUARD_WHOLE)
        status = qix_corrupt(ret_fault, qix_guard_torn_at(segment->guard), QIX_TORN);
    if (status) {
        qix_close(segment);
        return status;
    }
    *ret_segment = segment;
    return QIX_OK;
}

void qix_close(qix_segment *segment)
{
    if (!segment)
        return;
    qix_guard_free(segment->guard);
    free(segment->verified);
    free(segment);
}

void qix_get_info(const qix_segment *segment, qix_segment_info *ret_info)
{
    *ret_info = segment->info;
}
