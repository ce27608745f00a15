/* Bytes that are needed again later: in memory while few, then in an unlinked file. What becomes a section when those
 * before it are written, and what the builder has no room for. */
#ifndef QIX_SPOOL_H
#define QIX_SPOOL_H

#include "qix_guard.h"
#include "qix_out.h"

typedef struct {
    const char *folder;
    qix_pace *pace; /* NULL: nobody waits for it */
    qix_bytes tail;
    uint64_t file_bytes;
    int fd; /* -1 while everything is in memory */
} qix_spool;

void qix_spool_init(qix_spool *spool, const char *folder, qix_pace *pace);
void qix_spool_free(qix_spool *spool);
uint64_t qix_spool_bytes(const qix_spool *spool);
/* After a failure (a full disk) the bytes written so far are still there, and it can be tried again. */
qix_status qix_spool_write(qix_spool *spool, const void *data, size_t bytes, qix_fault *fault);
/* Bring everything to the file. */
qix_status qix_spool_flush(qix_spool *spool, qix_fault *fault);
/* Forget what was written since the spool was flushed at `bytes`. */
void qix_spool_cut(qix_spool *spool, uint64_t bytes);
/* Append the bytes to `out` as section `id`. */
qix_status qix_spool_copy(qix_spool *spool, qix_out *out, enum qix_section_id id, qix_fault *fault);

/* The bytes of a flushed spool, mapped: they take no memory of their own. If the disk cannot be read they become zeros,
 * which qix_spool_settle tells at the end. */
typedef struct {
    const uint8_t *data;
    uint64_t bytes;
    qix_guard *guard;
} qix_spool_map;

qix_status qix_spool_map_open(const qix_spool *spool, qix_spool_map *ret_map, qix_fault *fault);
qix_status qix_spool_settle(const qix_spool_map *map, qix_status status, qix_fault *fault);
/* A map that is all zeros may be closed. */
void qix_spool_map_close(qix_spool_map *map);

#endif
