/* SHA-256 (FIPS 180-4), so that a segment can be checked without a crypto library. The processor's own instructions are
 * used where it has them; digests do not depend on it. */
#ifndef QIX_SHA256_H
#define QIX_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "qix_api_guard.h"

typedef struct {
    uint32_t state[8];
    uint64_t total_bytes;
    uint8_t block[64];
    void (*compress)(uint32_t state[8], const uint8_t *blocks, size_t count); /* qix_sha256_blocks.h */
} qix_sha256;

void qix_sha256_init(qix_sha256 *sha);
void qix_sha256_update(qix_sha256 *sha, const uint8_t *data, size_t bytes);
void qix_sha256_final(qix_sha256 *sha, uint8_t ret_digest[32]);

/* The digest of one run of bytes. */
void qix_sha256_of(const uint8_t *data, size_t bytes, uint8_t ret_digest[32]);

#endif
