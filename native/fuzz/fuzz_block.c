/* Property: a decoder takes any bytes and stays within them; what it accepts, the encoder writes so that it decodes to the same
 * values again. Input: kind (bit 0: tail block), postings - 1, last docid before the block (4), then the block. */
#include <stdlib.h>

#include "qix_block.h"
#include "qix_kernels.h"
#include "qix_position.h"

#define DOC_COUNT (1u << 30)
/* Positions of a block that are encoded again; more only cost time. */
#define VALUES_MAX 4096u

static void same_block(const qix_block *a, const qix_block *b)
{
    if (a->count != b->count || memcmp(a->docids, b->docids, a->count * sizeof *a->docids) != 0 ||
        memcmp(a->tfs, b->tfs, a->count * sizeof *a->tfs) != 0)
        abort();
    if (a->has_codes && memcmp(a->codes, b->codes, a->count * sizeof *a->codes) != 0)
        abort();
}

static void encode_again(const qix_block *block, bool is_tail, int64_t previous)
{
    qix_bytes out = {0};
    qix_block again;
    bool done =
        is_tail ? qix_tail_encode(&out, previous, block) : qix_block_encode(&out, previous, block, block->has_codes);
    if (!done)
        abort();
    qix_reader r = {out.data, out.data + out.used};
    const char *reason = is_tail ? qix_tail_decode(&r, previous, DOC_COUNT, block->count, &again)
                                 : qix_block_decode(&r, previous, DOC_COUNT, &again);
    if (reason)
        abort();
    same_block(block, &again);
    qix_bytes_free(&out);
}

/* What is read in steps and posting by posting is what is read at once. */
static void read_in_steps(qix_reader r, int64_t previous, const qix_block *whole)
{
    qix_block open;
    if (qix_block_open(&r, &open) || qix_block_docids(&open, previous, DOC_COUNT))
        abort();
    for (uint32_t i = 0; i < open.count; i++)
        if (open.docids[i] != whole->docids[i] || qix_block_tf(&open, i) != whole->tfs[i] ||
            (open.has_codes && qix_block_code(&open, i) != whole->codes[i]))
            abort();
}

/* What two ascending arrays have in common, with gaps from the bytes in turn. */
static void same_intersection(const uint8_t *gaps, unsigned shift)
{
    uint32_t a[2][QIX_BLOCK + QIX_KEYS_SLACK], b[2][QIX_BLOCK + QIX_KEYS_SLACK];
    uint32_t count = gaps[0] % (QIX_BLOCK + 1), other_count = gaps[1] % (QIX_BLOCK + 1);
    for (uint32_t i = 0, at = 0, other = 0; i < QIX_BLOCK; i++) {
        a[0][i] = a[1][i] = at += 1 + (gaps[2 * i] & ((1u << shift) - 1));
        b[0][i] = b[1][i] = other += 1 + (gaps[2 * i + 1] & ((1u << shift) - 1));
    }
    uint32_t found = qix_kernels_any.intersect(a[0], count, b[0], other_count);
    if (qix_kernels()->intersect(a[1], count, b[1], other_count) != found ||
        memcmp(a[0], a[1], found * sizeof *a[0]) != 0)
        abort();
}

/* The inner loops for this processor give what those for any give. */
static void same_kernels(const uint8_t *input, size_t bytes)
{
    uint8_t body[16 * 32];
    uint32_t a[QIX_BLOCK], b[QIX_BLOCK];
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(input[i % bytes] + i / bytes);
    for (unsigned width = 0; width <= 32; width++) {
        qix_kernels_any.unpack(body, width, a);
        qix_kernels()->unpack(body, width, b);
        if (memcmp(a, b, sizeof a) != 0)
            abort();
        qix_kernels_any.sum_gaps(a, input[0]);
        qix_kernels()->sum_gaps(b, input[0]);
        if (memcmp(a, b, sizeof a) != 0)
            abort();
        same_intersection(body, width % 4);
    }
}

/* Read the same bytes as positions of the block; encode what could be read, and read that. */
static void try_positions(qix_reader r, const qix_block *block)
{
    static uint32_t values[VALUES_MAX];
    qix_positions positions, again;
    uint32_t counts[QIX_BLOCK], total = 0;
    const char *reason = NULL;
    if (qix_positions_open(r, block, &positions))
        return;
    for (uint32_t i = 0; i < block->count; i++) {
        qix_position_walk walk = qix_positions_walk(&positions, i);
        for (counts[i] = 0; qix_position_next(&walk, &reason); counts[i]++) {
            if (total == VALUES_MAX)
                return;
            values[total++] = walk.value;
        }
        if (reason)
            return;
    }
    qix_bytes out = {0};
    if (!qix_positions_encode(&out, block, counts, values))
        abort();
    if (qix_positions_open((qix_reader){out.data, out.data + out.used}, block, &again))
        abort();
    for (uint32_t i = block->count, at = total; i-- > 0;) { /* backwards, so that reading jumps */
        at -= counts[i];
        qix_position_walk walk = qix_positions_walk(&again, i);
        for (uint32_t j = 0; j < counts[i]; j++)
            if (!qix_position_next(&walk, &reason) || walk.value != values[at + j])
                abort();
    }
    qix_bytes_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
    if (bytes < 6)
        return 0;
    bool is_tail = input[0] & 1;
    uint32_t count = is_tail ? input[1] % QIX_BLOCK + 1 : QIX_BLOCK;
    int64_t previous = (int64_t)(qix_load_u32(input + 2) % DOC_COUNT) - 1;
    if (is_tail && count == QIX_BLOCK)
        count--;
    qix_block block;
    qix_reader r = {input + 6, input + bytes};
    const char *reason = is_tail ? qix_tail_decode(&r, previous, DOC_COUNT, count, &block)
                                 : qix_block_decode(&r, previous, DOC_COUNT, &block);
    same_kernels(input, bytes);
    if (!reason && !is_tail)
        read_in_steps((qix_reader){input + 6, input + bytes}, previous, &block);
    if (!reason)
        encode_again(&block, is_tail, previous);
    for (uint32_t i = 0; i < count; i++) {
        block.docids[i] = i;
        block.tfs[i] = 1 + input[i % bytes] % 3;
    }
    block.count = count;
    try_positions((qix_reader){input + 6, input + bytes}, &block);
    return 0;
}
