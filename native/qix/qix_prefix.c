/* The commonest terms with a prefix, for completing what someone types: in bounded time for any prefix.
 *
 * Up to QIX_PREFIX_KEYS_MAX keys are all read. Above that (one letter, in a large dictionary) only those blocks of the
 * dictionary are read whose 16 terms have the most bytes of postings, which the term index tells without reading a
 * key: a term that is in many documents has many. What is left out are terms that share a block of little weight. */
#include "qix_best_terms.h"

#define QIX_PREFIX_KEYS_MAX 65536u
#define QIX_PREFIX_BLOCKS_MAX 4096u
/* Classes of weight: eight for each doubling, up to 2^64. */
#define WEIGHT_CLASSES 512u

/* Keys from `from` up to before `to` have the prefix. */
typedef struct {
    const qix_segment *segment;
    const uint8_t *prefix;
    uint32_t prefix_bytes;
    uint64_t from, to;
} key_range;

static bool has_prefix(const qix_term_walk *walk, const key_range *range)
{
    return walk->key_bytes >= range->prefix_bytes && memcmp(walk->key, range->prefix, range->prefix_bytes) == 0;
}

/* Where the keys with the prefix end: the first key at or after the prefix with its last byte one higher. */
static qix_status find_end(key_range *range, qix_fault *fault)
{
    uint8_t after[QIX_KEY_BYTES_MAX];
    uint32_t after_bytes = range->prefix_bytes;
    range->to = range->segment->info.term_count;
    memcpy(after, range->prefix, after_bytes);
    while (after_bytes > 0 && after[after_bytes - 1] == 0xFF)
        after_bytes--;
    if (after_bytes == 0)
        return QIX_OK;
    after[after_bytes - 1]++;
    qix_term_walk walk;
    bool found;
    qix_status status = qix_terms_seek(range->segment, after, after_bytes, &walk, &found, fault);
    if (!status && found)
        range->to = walk.index;
    return status;
}

static qix_status offer_all(qix_term_walk *walk, const key_range *range, qix_best_terms *best, qix_fault *fault)
{
    bool found = true;
    qix_status status = QIX_OK;
    while (!status && found && has_prefix(walk, range)) {
        qix_best_offer(best, walk, 0);
        status = qix_terms_next(walk, &found, fault);
    }
    return status;
}

/* Bytes of postings of a block's terms; of the last block, whose end the index does not say, all of them. */
static uint64_t weigh(const qix_segment *segment, uint64_t block)
{
    const uint8_t *record = segment->section[QIX_TERM_INDEX] + block * QIX_TERM_INDEX_BYTES;
    if (block + 1 == qix_dict_blocks(segment))
        return UINT64_MAX;
    uint64_t from = qix_load_u64(record + 16), to = qix_load_u64(record + QIX_TERM_INDEX_BYTES + 16);
    return to > from ? to - from : 0;
}

static uint32_t class_of(uint64_t weight)
{
    if (weight < 16)
        return (uint32_t)weight;
    uint32_t top = 63 - (uint32_t)__builtin_clzll(weight);
    return 8 * top + (uint32_t)(weight >> (top - 3) & 7);
}

/* The lowest class such that the blocks of it and of those above are no more than may be read. */
static uint32_t lowest_class(const qix_segment *segment, uint64_t from, uint64_t to)
{
    uint64_t blocks_of[WEIGHT_CLASSES] = {0}, taken = 0;
    for (uint64_t block = from; block < to; block++)
        blocks_of[class_of(weigh(segment, block))]++;
    uint32_t lowest = WEIGHT_CLASSES;
    while (lowest > 0 && taken + blocks_of[lowest - 1] <= QIX_PREFIX_BLOCKS_MAX)
        taken += blocks_of[--lowest];
    return lowest;
}

static qix_status offer_block(uint64_t block, const key_range *range, qix_best_terms *best, qix_fault *fault)
{
    qix_term_walk walk = {.segment = range->segment};
    bool found = true;
    qix_status status = qix_terms_enter(&walk, block, fault);
    while (!status && found && walk.index / QIX_DICT_BLOCK == block) {
        if (has_prefix(&walk, range))
            qix_best_offer(best, &walk, 0);
        status = qix_terms_next(&walk, &found, fault);
    }
    return status;
}

/* Read the heaviest blocks; those of the class in which the budget ends, by their order, until it is used up. */
static qix_status offer_heaviest(const key_range *range, qix_best_terms *best, qix_fault *fault)
{
    const qix_segment *segment = range->segment;
    uint64_t from = range->from / QIX_DICT_BLOCK, to = (range->to + QIX_DICT_BLOCK - 1) / QIX_DICT_BLOCK;
    qix_status status = qix_need_section(segment, QIX_TERM_INDEX, fault);
    if (status)
        return status;
    uint32_t lowest = lowest_class(segment, from, to), left = QIX_PREFIX_BLOCKS_MAX;
    for (uint64_t block = from; block < to && !status; block++) {
        uint32_t weight_class = class_of(weigh(segment, block));
        if (weight_class >= lowest)
            status = offer_block(block, range, best, fault);
        else if (weight_class + 1 == lowest && left > 0) {
            left--;
            status = offer_block(block, range, best, fault);
        }
    }
    return status;
}

static qix_status collect(key_range *range, qix_best_terms *best, qix_fault *fault)
{
    qix_term_walk walk;
    bool found;
    qix_status status = qix_terms_seek(range->segment, range->prefix, range->prefix_bytes, &walk, &found, fault);
    if (status || !found || !has_prefix(&walk, range))
        return status;
    range->from = walk.index;
    status = find_end(range, fault);
    if (status)
        return status;
    return range->to <= range->from + QIX_PREFIX_KEYS_MAX ? offer_all(&walk, range, best, fault)
                                                          : offer_heaviest(range, best, fault);
}

qix_status qix_list_terms(const qix_segment *segment, const uint8_t *prefix, uint32_t prefix_bytes, uint32_t limit,
                          uint8_t *ret_keys, uint32_t *ret_ends, uint32_t *ret_dfs, uint32_t *ret_count,
                          qix_fault *ret_fault)
{
    if (limit < 1 || limit > QIX_LIST_TERMS_MAX || prefix_bytes > QIX_KEY_BYTES_MAX)
        return qix_fail(ret_fault, QIX_ERR_ARGUMENT, 0, "limit must be 1 to 10000, and the prefix at most 512 bytes");
    key_range range = {.segment = segment, .prefix = prefix, .prefix_bytes = prefix_bytes};
    qix_best_terms best;
    qix_status status = qix_best_init(&best, limit, ret_fault);
    if (!status)
        status = qix_settle(segment, collect(&range, &best, ret_fault), ret_fault);
    if (!status)
        qix_best_write(&best, ret_keys, ret_ends, ret_dfs, ret_count);
    qix_best_free(&best);
    return status;
}
