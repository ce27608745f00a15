/* The ways to compress blocks of SHA-256: plain C, and what processors have for it. All give the same states. */
#ifndef QIX_SHA256_BLOCKS_H
#define QIX_SHA256_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* FIPS 180-4 section 4.2.2. */
extern const uint32_t qix_sha256_k[64];

/* Take `count` blocks of 64 bytes into the state, section 6.2.2. */
typedef void qix_sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t count);

qix_sha256_blocks qix_sha256_portable;

/* With the SHA extensions of x86-64, or of Armv8 under Linux; NULL where this processor, or this build, has none. */
qix_sha256_blocks *qix_sha256_x86(void);
qix_sha256_blocks *qix_sha256_arm(void);

#endif
