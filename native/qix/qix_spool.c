#define _GNU_SOURCE /* O_CLOEXEC, mkostemp, pread */
#include "qix_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A spool keeps this much in memory before it writes. */
#define SPOOL_BYTES (1u << 20)
#define PATH_BYTES 4096

static qix_status io_error(qix_fault *fault, const char *what)
{
    return qix_fail(fault, QIX_ERR_IO, (uint64_t)errno, what);
}

void qix_spool_init(qix_spool *spool, const char *folder, qix_pace *pace)
{
    *spool = (qix_spool){.folder = folder, .pace = pace, .fd = -1};
}

void qix_spool_free(qix_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    qix_bytes_free(&spool->tail);
    spool->fd = -1;
}

uint64_t qix_spool_bytes(const qix_spool *spool)
{
    return spool->file_bytes + spool->tail.used;
}

static qix_status open_file(qix_spool *spool, qix_fault *fault)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/.spool-XXXXXX", spool->folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return io_error(fault, "spool file");
    }
    spool->fd = mkostemp(path, O_CLOEXEC);
    if (spool->fd < 0 || unlink(path) < 0)
        return io_error(fault, "spool file");
    return QIX_OK;
}

qix_status qix_spool_flush(qix_spool *spool, qix_fault *fault)
{
    qix_status status = spool->fd < 0 ? open_file(spool, fault) : QIX_OK;
    size_t written = 0;
    while (!status && written < spool->tail.used) {
        ssize_t done = pwrite(spool->fd, spool->tail.data + written, spool->tail.used - written,
                              (off_t)(spool->file_bytes + written));
        if (done < 0 && errno != EINTR)
            status = io_error(fault, "write of a spool file");
        else if (done > 0)
            written += (size_t)done;
    }
    if (status)
        return status;
    spool->file_bytes += written;
    spool->tail.used = 0;
    return spool->pace ? qix_pace_step(spool->pace, written, fault) : QIX_OK;
}

qix_status qix_spool_write(qix_spool *spool, const void *data, size_t bytes, qix_fault *fault)
{
    if (!qix_bytes_add(&spool->tail, data, bytes))
        return qix_no_memory(fault);
    return spool->tail.used < SPOOL_BYTES ? QIX_OK : qix_spool_flush(spool, fault);
}

void qix_spool_cut(qix_spool *spool, uint64_t bytes)
{
    spool->tail.used = 0;
    spool->file_bytes = bytes;
}

static qix_status copy_file(qix_spool *spool, qix_out *out, qix_fault *fault)
{
    uint8_t buffer[1u << 16];
    for (uint64_t at = 0; at < spool->file_bytes;) {
        uint64_t left = spool->file_bytes - at;
        ssize_t got = pread(spool->fd, buffer, left < sizeof buffer ? left : sizeof buffer, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return io_error(fault, "read of a spool file");
        qix_status status = qix_out_write(out, buffer, (uint64_t)got, fault);
        if (status)
            return status;
        at += (uint64_t)got;
        qix_pace_progress(out->pace, (uint64_t)got);
    }
    return QIX_OK;
}

qix_status qix_spool_copy(qix_spool *spool, qix_out *out, enum qix_section_id id, qix_fault *fault)
{
    qix_status status = qix_out_begin(out, id, fault);
    if (!status)
        status = copy_file(spool, out, fault);
    if (!status)
        status = qix_out_write(out, spool->tail.data, spool->tail.used, fault);
    qix_out_end(out, id);
    return status;
}

qix_status qix_spool_map_open(const qix_spool *spool, qix_spool_map *ret_map, qix_fault *fault)
{
    *ret_map = (qix_spool_map){0};
    if (spool->file_bytes == 0)
        return QIX_OK;
    void *data = mmap(NULL, spool->file_bytes, PROT_READ, MAP_SHARED, spool->fd, 0);
    if (data == MAP_FAILED)
        return io_error(fault, "mapping of a spool file");
    *ret_map = (qix_spool_map){data, spool->file_bytes, qix_guard_new(data, spool->file_bytes)};
    return ret_map->guard ? QIX_OK : qix_no_memory(fault);
}

qix_status qix_spool_settle(const qix_spool_map *map, qix_status status, qix_fault *fault)
{
    if (!map->guard || qix_guard_torn_at(map->guard) == QIX_GUARD_WHOLE)
        return status;
    return qix_fail(fault, QIX_ERR_IO, EIO, "read of a spool file");
}

void qix_spool_map_close(qix_spool_map *map)
{
    qix_guard_free(map->guard);
    if (map->bytes > 0)
        munmap((void *)(uintptr_t)map->data, map->bytes);
    *map = (qix_spool_map){0};
}
