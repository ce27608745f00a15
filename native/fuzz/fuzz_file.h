/* A whole QIX file from a fuzzer's input: the meaningful part of a header, then the payload. What an input need not guess is
 * put right here: magic, version, sizes and digests, so that the code behind those checks is reached. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdlib.h>
#include <string.h>

#include "qix_format.h"
#include "qix_reader.h"
#include "qix_sha256.h"
#include "qix_status.h"

#define FUZZ_HEAD_BYTES (QIX_SECTION_TABLE_OFFSET + QIX_SECTION_COUNT * QIX_SECTION_ENTRY_BYTES)

static void fuzz_digests(uint8_t *file, uint64_t payload)
{
    uint8_t *table = file + QIX_HEADER_BYTES + payload;
    uint64_t chunks = 0;
    for (uint64_t at = 0; at < payload; at += QIX_CHUNK_BYTES, chunks++) {
        uint64_t bytes = payload - at < QIX_CHUNK_BYTES ? payload - at : QIX_CHUNK_BYTES;
        qix_sha256_of(file + QIX_HEADER_BYTES + at, bytes, table + chunks * QIX_DIGEST_BYTES);
    }
    memset(file + QIX_ROOT_OFFSET, 0, QIX_DIGEST_BYTES);
    qix_sha256 sha;
    qix_sha256_init(&sha);
    qix_sha256_update(&sha, file, QIX_HEADER_BYTES);
    qix_sha256_update(&sha, table, chunks * QIX_DIGEST_BYTES);
    qix_sha256_final(&sha, file + QIX_ROOT_OFFSET);
}

/* What a cut leaves of a file in its last page, and what the guard of a mapping puts behind it: zeros. Where it is cut
 * comes from the input. */
static inline void fuzz_cut(uint8_t *file, uint64_t file_bytes, const uint8_t *input, size_t bytes)
{
    uint64_t from = QIX_HEADER_BYTES + (file_bytes - QIX_HEADER_BYTES) * input[bytes / 2] / 256;
    memset(file + from, 0, file_bytes - from);
}

/* The file, to be freed, and its size; NULL if the input is too short. */
static uint8_t *fuzz_file(const uint8_t *input, size_t bytes, uint64_t *ret_bytes)
{
    if (bytes < FUZZ_HEAD_BYTES)
        return NULL;
    uint64_t payload = bytes - FUZZ_HEAD_BYTES;
    uint64_t chunks = payload / QIX_CHUNK_BYTES + (payload % QIX_CHUNK_BYTES != 0);
    *ret_bytes = QIX_HEADER_BYTES + payload + chunks * QIX_DIGEST_BYTES;
    uint8_t *file = calloc(1, *ret_bytes);
    if (!file)
        abort();
    memcpy(file, input, FUZZ_HEAD_BYTES);
    memcpy(file + QIX_HEADER_BYTES, input + FUZZ_HEAD_BYTES, payload);
    memcpy(file, QIX_MAGIC, 8);
    qix_store_u32(file + 8, QIX_FORMAT_VERSION);
    qix_store_u32(file + 12, QIX_HEADER_BYTES);
    qix_store_u64(file + 16, *ret_bytes);
    qix_store_u64(file + 24, payload);
    qix_store_u32(file + 92, (uint32_t)chunks);
    qix_store_u32(file + 108, QIX_SECTION_COUNT);
    fuzz_digests(file, payload);
    return file;
}

#endif
