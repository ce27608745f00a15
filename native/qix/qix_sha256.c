#include "qix_sha256.h"

#include <stdatomic.h>
#include <string.h>

#include "qix_sha256_blocks.h"

/* FIPS 180-4 section 4.2.2: fractional parts of the cube roots of the first 64 primes. */
const uint32_t qix_sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static inline uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline void store_be32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)(x >> 24);
    p[1] = (uint8_t)(x >> 16);
    p[2] = (uint8_t)(x >> 8);
    p[3] = (uint8_t)x;
}

/* Section 6.2.2. The variables a to h rotate by name, so that no round moves them. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                               \
    do {                                                                                                               \
        uint32_t t1 =                                                                                                  \
            h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + qix_sha256_k[i] + w[i];         \
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));                      \
        d += t1;                                                                                                       \
        h = t1 + t2;                                                                                                   \
    } while (0)

static void compress_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = load_be32(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i += 8) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void qix_sha256_portable(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    for (; count > 0; count--, blocks += 64)
        compress_block(state, blocks);
}

/* The fastest that this processor has. Threads that ask at once come to the same answer. */
static qix_sha256_blocks *fastest(void)
{
    static _Atomic(qix_sha256_blocks *) chosen;
    qix_sha256_blocks *blocks = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!blocks) {
        blocks = qix_sha256_x86();
        if (!blocks)
            blocks = qix_sha256_arm();
        if (!blocks)
            blocks = qix_sha256_portable;
        atomic_store_explicit(&chosen, blocks, memory_order_relaxed);
    }
    return blocks;
}

void qix_sha256_init(qix_sha256 *sha)
{
    /* Section 5.3.3. */
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, initial, sizeof initial);
    sha->total_bytes = 0;
    sha->compress = fastest();
}

void qix_sha256_update(qix_sha256 *sha, const uint8_t *data, size_t bytes)
{
    size_t used = (size_t)(sha->total_bytes % 64);
    sha->total_bytes += bytes;
    if (used > 0) {
        size_t take = bytes < 64 - used ? bytes : 64 - used;
        memcpy(sha->block + used, data, take);
        if (used + take < 64)
            return;
        sha->compress(sha->state, sha->block, 1);
        data += take;
        bytes -= take;
    }
    sha->compress(sha->state, data, bytes / 64);
    if (bytes % 64 > 0)
        memcpy(sha->block, data + bytes / 64 * 64, bytes % 64);
}

void qix_sha256_final(qix_sha256 *sha, uint8_t ret_digest[32])
{
    /* Section 5.1.1: a one bit, zeros, and the length in bits as a big-endian 64-bit number. */
    uint64_t bits = sha->total_bytes * 8;
    uint8_t padding[72] = {0x80};
    size_t used = (size_t)(sha->total_bytes % 64);
    size_t zeros = (used < 56 ? 56 : 120) - used;
    store_be32(padding + zeros, (uint32_t)(bits >> 32));
    store_be32(padding + zeros + 4, (uint32_t)bits);
    qix_sha256_update(sha, padding, zeros + 8);
    for (int i = 0; i < 8; i++)
        store_be32(ret_digest + 4 * i, sha->state[i]);
}

void qix_sha256_digest(const uint8_t *data, uint64_t bytes, uint32_t portable, uint8_t *ret_digest)
{
    qix_sha256 sha;
    qix_sha256_init(&sha);
    if (portable)
        sha.compress = qix_sha256_portable;
    qix_sha256_update(&sha, data, (size_t)bytes);
    qix_sha256_final(&sha, ret_digest);
}

void qix_sha256_of(const uint8_t *data, size_t bytes, uint8_t ret_digest[32])
{
    qix_sha256_digest(data, bytes, 0, ret_digest);
}
