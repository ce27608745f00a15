/* Writing a segment file from front to back in chunks: each is hashed while it is in memory, and memory stays the same
 * however large the file. The header, with its digest, is written last, so that a file cut short is never taken for
 * one. */
#ifndef QIX_OUT_H
#define QIX_OUT_H

#include "qix_bytes.h"
#include "qix_format.h"
#include "qix_pace.h"

typedef struct {
    int fd;
    qix_pace *pace;
    uint64_t payload_bytes;
    uint8_t *chunk; /* QIX_CHUNK_BYTES, filled up to payload_bytes % QIX_CHUNK_BYTES */
    qix_bytes digests;
    uint64_t section_offsets[QIX_SECTION_END];
    uint64_t section_bytes[QIX_SECTION_END];
} qix_out;

/* `pace` must outlive it. */
qix_status qix_out_open(qix_out *out, int fd, qix_pace *pace, qix_fault *fault);
void qix_out_free(qix_out *out);

qix_status qix_out_write(qix_out *out, const uint8_t *data, uint64_t bytes, qix_fault *fault);
/* Sections are written one at a time, in ascending order. */
qix_status qix_out_begin(qix_out *out, enum qix_section_id id, qix_fault *fault);
void qix_out_end(qix_out *out, enum qix_section_id id);

/* Write the last chunk, the digest table and `header` (QIX_HEADER_BYTES), whose sizes, section table and digest are
 * filled in here; then bring everything to the disk if `sync`. */
qix_status qix_out_finish(qix_out *out, uint8_t *header, bool sync, qix_fault *fault);

#endif
