/* An open segment: where everything is, and which chunks have been found to be what was written. */
#ifndef QIX_SEGMENT_H
#define QIX_SEGMENT_H

#include <stdatomic.h>

#include "qix_block.h"
#include "qix_format.h"
#include "qix_guard.h"
#include "qix_position.h"
#include "qix_reader.h"
#include "qix_status.h"

struct qix_segment {
    const uint8_t *data;
    qix_segment_info info;
    uint64_t payload_bytes;
    uint32_t range_shift;
    double range_k1, range_b, range_average;
    const uint8_t *section[QIX_SECTION_END];
    uint64_t section_bytes[QIX_SECTION_END];
    const uint8_t *digests;
    qix_guard *guard;
    uint8_t last_digest[QIX_DIGEST_BYTES]; /* the file's last bytes as they were at open */
    atomic_uchar *verified;                /* one a chunk: 1 once its digest was right */
};

#define QIX_TORN "the file has lost its end, or cannot be read, while it is open"

static inline uint64_t qix_offset_of(const qix_segment *segment, const uint8_t *at)
{
    return (uint64_t)(at - segment->data);
}

/* What a function of the API answers at its end: what it found, unless the file has lost its end meanwhile. A look at
 * the last bytes shows that wherever it was cut: they raise the guard, or are zeros in what is left of a page. */
static inline qix_status qix_settle(const qix_segment *segment, qix_status status, qix_fault *fault)
{
    uint64_t bytes = segment->info.chunk_count > 0 ? QIX_DIGEST_BYTES : 0, at = segment->info.file_bytes - bytes;
    bool is_whole = memcmp(segment->data + at, segment->last_digest, bytes) == 0;
    uint64_t torn_at = qix_guard_torn_at(segment->guard);
    if (is_whole && torn_at == QIX_GUARD_WHOLE)
        return status;
    return qix_corrupt(fault, torn_at == QIX_GUARD_WHOLE ? at : torn_at, QIX_TORN);
}

/* Hash the chunks that hold `bytes` bytes of the payload from `start`, unless that has been done. */
qix_status qix_hash_range(const qix_segment *segment, const uint8_t *start, uint64_t bytes, qix_fault *fault);

/* Whether that has been done already. */
static inline bool qix_is_hashed(const qix_segment *segment, const uint8_t *start, uint64_t bytes)
{
    if (bytes == 0)
        return true;
    uint64_t at = qix_offset_of(segment, start) - QIX_HEADER_BYTES;
    uint64_t last = (at + bytes - 1) / QIX_CHUNK_BYTES;
    for (uint64_t chunk = at / QIX_CHUNK_BYTES; chunk <= last; chunk++)
        if (!atomic_load_explicit(&segment->verified[chunk], memory_order_acquire))
            return false;
    return true;
}

/* Call this before using payload bytes: no byte is acted on whose chunk has not been hashed. */
static inline qix_status qix_need(const qix_segment *segment, const uint8_t *start, uint64_t bytes, qix_fault *fault)
{
    return qix_is_hashed(segment, start, bytes) ? QIX_OK : qix_hash_range(segment, start, bytes, fault);
}

static inline qix_status qix_need_section(const qix_segment *segment, enum qix_section_id id, qix_fault *fault)
{
    return qix_need(segment, segment->section[id], segment->section_bytes[id], fault);
}

/* ---- the term dictionary ---- */

typedef struct {
    uint32_t df;
    uint64_t postings_at, postings_bytes; /* in the section */
    uint64_t positions_at, positions_bytes;
} qix_term;

/* Walks keys in order. `key` is the one it is at. */
typedef struct {
    const qix_segment *segment;
    uint64_t index; /* of the key, among all */
    qix_reader entry;
    uint8_t key[QIX_KEY_BYTES_MAX];
    uint32_t key_bytes;
    qix_term term;
    uint64_t next_postings_at, next_positions_at;
} qix_term_walk;

/* Go to the first key >= `key`; *ret_found is false when there is none. */
qix_status qix_terms_seek(const qix_segment *segment, const uint8_t *key, uint32_t key_bytes, qix_term_walk *ret_walk,
                          bool *ret_found, qix_fault *fault);
qix_status qix_terms_next(qix_term_walk *walk, bool *ret_found, qix_fault *fault);
/* Go to the first key of a block below qix_dict_blocks; walk->segment is set. */
qix_status qix_terms_enter(qix_term_walk *walk, uint64_t block, qix_fault *fault);
/* The term of exactly this key, or *ret_found false. */
qix_status qix_terms_find(const qix_segment *segment, const uint8_t *key, uint32_t key_bytes, qix_term *ret_term,
                          bool *ret_found, qix_fault *fault);

static inline uint64_t qix_dict_blocks(const qix_segment *segment)
{
    return (segment->info.term_count + QIX_DICT_BLOCK - 1) / QIX_DICT_BLOCK;
}

/* ---- posting lists ---- */

typedef struct {
    const qix_segment *segment;
    uint32_t df;
    uint32_t block_count;
    qix_reader bytes;     /* the whole list */
    qix_reader positions; /* empty if it has none */
    bool is_long;
    bool is_hashed;       /* the postings' chunks had been hashed when the list was opened */
    const uint8_t *pairs; /* of the list; NULL if it is short */
    const uint8_t *last_docids, *block_offsets, *position_offsets, *block_pairs;
    const uint8_t *range_bounds; /* NULL without */
    uint64_t range_count;
} qix_list;

qix_status qix_list_open(const qix_segment *segment, const qix_term *term, qix_list *ret_list, qix_fault *fault);
/* A block in steps: where its parts are (of a tail block all), its docids, then the rest of the block, or of single
 * postings of it. A block without length codes needs its docids for them. */
qix_status qix_list_enter(const qix_list *list, uint32_t block, qix_block *ret_block, qix_fault *fault);
qix_status qix_list_locate(const qix_list *list, uint32_t block, qix_block *entered, qix_fault *fault);
/* The first two. */
qix_status qix_list_docids(const qix_list *list, uint32_t block, qix_block *ret_block, qix_fault *fault);
qix_status qix_list_fill(const qix_list *list, qix_block *block, qix_fault *fault);
qix_status qix_list_posting(const qix_list *list, const qix_block *block, uint32_t i, uint32_t *ret_tf,
                            uint8_t *ret_code, qix_fault *fault);
/* A whole block at once. */
qix_status qix_list_decode(const qix_list *list, uint32_t block, qix_block *ret_block, qix_fault *fault);
/* The bytes of a block's postings, and of its positions. */
qix_status qix_list_bytes(const qix_list *list, uint32_t block, qix_reader *ret_bytes, qix_fault *fault);
qix_status qix_list_places(const qix_list *list, uint32_t block, qix_reader *ret_bytes, qix_fault *fault);
qix_status qix_list_positions(const qix_list *list, uint32_t block, const qix_block *decoded,
                              qix_positions *ret_positions, qix_fault *fault);

/* The last docid of a block of a long list. */
static inline uint32_t qix_list_last(const qix_list *list, uint32_t block)
{
    return qix_load_u32(list->last_docids + 4 * (uint64_t)block);
}

/* What at least qix_kth_k[i] postings of a long list reach, as a frequency part under the segment's parameters; 0 if
 * none is known. */
static inline double qix_list_kth(const qix_list *list, uint32_t i)
{
    return qix_load_u16(list->pairs + QIX_KTH_OFFSET + 2 * i) / QIX_KTH_ONE;
}

/* Postings of a block. */
static inline uint32_t qix_list_count(const qix_list *list, uint32_t block)
{
    return block + 1 < list->block_count || list->df % QIX_BLOCK == 0 ? QIX_BLOCK : list->df % QIX_BLOCK;
}

/* The docid before a block, or -1. */
static inline int64_t qix_list_previous(const qix_list *list, uint32_t block)
{
    return block > 0 ? (int64_t)qix_list_last(list, block - 1) : -1;
}

static inline uint8_t qix_code_of(const qix_segment *segment, uint32_t docid)
{
    return segment->section[QIX_LENGTH_CODES][docid];
}

static inline uint64_t qix_page_of(const qix_segment *segment, uint32_t docid)
{
    return qix_load_u64(segment->section[QIX_PAGE_IDS] + 8 * (uint64_t)docid);
}

#endif
