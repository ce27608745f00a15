#define _GNU_SOURCE /* O_CLOEXEC, mkostemp */
#include "qix_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "qix_reader.h"
#include "qix_sha256.h"

static qix_status io_error(qix_fault *fault, const char *what)
{
    return qix_fail(fault, QIX_ERR_IO, (uint64_t)errno, what);
}

static qix_status write_all(int fd, const uint8_t *data, uint64_t bytes, qix_fault *fault)
{
    while (bytes > 0) {
        ssize_t done = write(fd, data, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return io_error(fault, "write");
        data += done;
        bytes -= (uint64_t)done;
    }
    return QIX_OK;
}

qix_status qix_out_open(qix_out *out, int fd, qix_pace *pace, qix_fault *fault)
{
    static const uint8_t zeros[QIX_HEADER_BYTES];
    *out = (qix_out){.fd = fd, .pace = pace, .chunk = malloc(QIX_CHUNK_BYTES)};
    if (!out->chunk)
        return qix_no_memory(fault);
    return write_all(fd, zeros, sizeof zeros, fault);
}

void qix_out_free(qix_out *out)
{
    free(out->chunk);
    qix_bytes_free(&out->digests);
    *out = (qix_out){.fd = -1};
}

static qix_status flush_chunk(qix_out *out, size_t bytes, qix_fault *fault)
{
    uint8_t digest[QIX_DIGEST_BYTES];
    qix_sha256_of(out->chunk, bytes, digest);
    if (!qix_bytes_add(&out->digests, digest, sizeof digest))
        return qix_no_memory(fault);
    qix_status status = write_all(out->fd, out->chunk, bytes, fault);
    return status ? status : qix_pace_step(out->pace, bytes, fault);
}

qix_status qix_out_write(qix_out *out, const uint8_t *data, uint64_t bytes, qix_fault *fault)
{
    while (bytes > 0) {
        size_t used = (size_t)(out->payload_bytes % QIX_CHUNK_BYTES);
        size_t take = QIX_CHUNK_BYTES - used;
        if (take > bytes)
            take = (size_t)bytes;
        memcpy(out->chunk + used, data, take);
        data += take;
        bytes -= take;
        out->payload_bytes += take;
        if (used + take == QIX_CHUNK_BYTES) {
            qix_status status = flush_chunk(out, QIX_CHUNK_BYTES, fault);
            if (status)
                return status;
        }
    }
    return QIX_OK;
}

qix_status qix_out_begin(qix_out *out, enum qix_section_id id, qix_fault *fault)
{
    static const uint8_t zeros[QIX_SECTION_ALIGN];
    uint64_t over = (QIX_HEADER_BYTES + out->payload_bytes) % QIX_SECTION_ALIGN;
    qix_status status = qix_out_write(out, zeros, over ? QIX_SECTION_ALIGN - over : 0, fault);
    out->section_offsets[id] = QIX_HEADER_BYTES + out->payload_bytes;
    return status;
}

void qix_out_end(qix_out *out, enum qix_section_id id)
{
    out->section_bytes[id] = QIX_HEADER_BYTES + out->payload_bytes - out->section_offsets[id];
}

static void fill_header(const qix_out *out, uint8_t *header)
{
    memcpy(header, QIX_MAGIC, 8);
    qix_store_u32(header + 8, QIX_FORMAT_VERSION);
    qix_store_u32(header + 12, QIX_HEADER_BYTES);
    qix_store_u64(header + 16, QIX_HEADER_BYTES + out->payload_bytes + out->digests.used);
    qix_store_u64(header + 24, out->payload_bytes);
    qix_store_u32(header + 92, (uint32_t)(out->digests.used / QIX_DIGEST_BYTES));
    qix_store_u32(header + 108, QIX_SECTION_COUNT);
    uint8_t *entry = header + QIX_SECTION_TABLE_OFFSET;
    for (uint32_t id = QIX_PAGE_IDS; id < QIX_SECTION_END; id++, entry += QIX_SECTION_ENTRY_BYTES) {
        qix_store_u32(entry, id);
        qix_store_u64(entry + 8, out->section_offsets[id]);
        qix_store_u64(entry + 16, out->section_bytes[id]);
    }
    qix_sha256 sha;
    qix_sha256_init(&sha);
    qix_sha256_update(&sha, header, QIX_HEADER_BYTES);
    qix_sha256_update(&sha, out->digests.data, out->digests.used);
    qix_sha256_final(&sha, header + QIX_ROOT_OFFSET);
}

qix_status qix_out_finish(qix_out *out, uint8_t *header, bool sync, qix_fault *fault)
{
    size_t rest = (size_t)(out->payload_bytes % QIX_CHUNK_BYTES);
    qix_status status = rest ? flush_chunk(out, rest, fault) : QIX_OK;
    if (!status)
        status = write_all(out->fd, out->digests.data, out->digests.used, fault);
    if (status)
        return status;
    fill_header(out, header);
    if (lseek(out->fd, 0, SEEK_SET) < 0)
        return io_error(fault, "seek");
    status = write_all(out->fd, header, QIX_HEADER_BYTES, fault);
    if (!status && sync && fsync(out->fd) < 0)
        return io_error(fault, "fsync");
    return status;
}
