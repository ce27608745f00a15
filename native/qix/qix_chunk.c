/* Hashing chunks before their first use. Two threads may hash the same chunk; both come to the same answer. */
#include "qix_segment.h"
#include "qix_sha256.h"

static qix_status hash_chunk(const qix_segment *segment, uint64_t chunk, qix_fault *fault)
{
    uint64_t offset = chunk * QIX_CHUNK_BYTES;
    uint64_t bytes = segment->payload_bytes - offset;
    if (bytes > QIX_CHUNK_BYTES)
        bytes = QIX_CHUNK_BYTES;
    uint8_t digest[QIX_DIGEST_BYTES];
    qix_sha256_of(segment->data + QIX_HEADER_BYTES + offset, (size_t)bytes, digest);
    if (memcmp(digest, segment->digests + chunk * QIX_DIGEST_BYTES, sizeof digest) != 0)
        return qix_corrupt(fault, QIX_HEADER_BYTES + offset, "digest of the 1 MiB chunk is wrong");
    atomic_store_explicit(&segment->verified[chunk], 1, memory_order_release);
    return QIX_OK;
}

static qix_status hash_chunks(const qix_segment *segment, uint64_t first, uint64_t last, qix_fault *fault)
{
    for (uint64_t chunk = first; chunk <= last; chunk++) {
        if (atomic_load_explicit(&segment->verified[chunk], memory_order_acquire))
            continue;
        qix_status status = hash_chunk(segment, chunk, fault);
        if (status)
            return status;
    }
    return QIX_OK;
}

qix_status qix_hash_range(const qix_segment *segment, const uint8_t *start, uint64_t bytes, qix_fault *fault)
{
    uint64_t at = qix_offset_of(segment, start) - QIX_HEADER_BYTES;
    return hash_chunks(segment, at / QIX_CHUNK_BYTES, (at + bytes - 1) / QIX_CHUNK_BYTES, fault);
}

qix_status qix_check_chunks(const qix_segment *segment, uint32_t first, uint32_t count, qix_fault *ret_fault)
{
    uint32_t chunks = segment->info.chunk_count;
    if (first >= chunks || count == 0)
        return QIX_OK;
    uint32_t last = count > chunks - first ? chunks - 1 : first + count - 1;
    return qix_settle(segment, hash_chunks(segment, first, last, ret_fault), ret_fault);
}
