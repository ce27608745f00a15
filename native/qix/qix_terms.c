/* The term dictionary: binary search over its index, then at most 16 front-coded keys. */
#include "qix_segment.h"

static int compare_keys(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes)
{
    int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static qix_status bad_entry(const qix_term_walk *walk, qix_fault *fault)
{
    return qix_corrupt(fault, qix_offset_of(walk->segment, walk->entry.pos),
                       "entry of the term dictionary breaks the format");
}

/* How an entry's key begins with that of the entry before, and its own bytes. */
typedef struct {
    uint32_t shared, suffix;
    const uint8_t *bytes;
} entry_key;

/* Read the entry at walk->entry, which is key number walk->index, all but its key's bytes: walk->key is as it was. */
static qix_status parse_entry(qix_term_walk *walk, entry_key *ret_key, qix_fault *fault)
{
    qix_reader *r = &walk->entry;
    entry_key at;
    uint32_t df;
    uint64_t postings, positions;
    if (!qix_read_varint32(r, &at.shared) || !qix_read_varint32(r, &at.suffix) ||
        !qix_read_bytes(r, at.suffix, &at.bytes) || !qix_read_varint32(r, &df) || !qix_read_varint(r, &postings) ||
        !qix_read_varint(r, &positions))
        return bad_entry(walk, fault);
    bool is_first = walk->index % QIX_DICT_BLOCK == 0;
    if (at.shared > walk->key_bytes || (is_first && at.shared > 0) || at.suffix == 0 ||
        at.suffix > QIX_KEY_BYTES_MAX - at.shared)
        return bad_entry(walk, fault);
    walk->key_bytes = at.shared + at.suffix;
    walk->term = (qix_term){.df = df,
                            .postings_at = walk->next_postings_at,
                            .postings_bytes = postings,
                            .positions_at = walk->next_positions_at,
                            .positions_bytes = positions};
    if (postings > UINT64_MAX - walk->next_postings_at || positions > UINT64_MAX - walk->next_positions_at)
        return bad_entry(walk, fault);
    walk->next_postings_at += postings;
    walk->next_positions_at += positions;
    *ret_key = at;
    return QIX_OK;
}

static qix_status read_entry(qix_term_walk *walk, qix_fault *fault)
{
    entry_key at;
    qix_status status = parse_entry(walk, &at, fault);
    if (!status)
        memcpy(walk->key + at.shared, at.bytes, at.suffix);
    return status;
}

/* Point the walk at a block's first entry, which is then to be read. */
static qix_status enter_block(qix_term_walk *walk, uint64_t block, qix_fault *fault)
{
    const qix_segment *segment = walk->segment;
    const uint8_t *record = segment->section[QIX_TERM_INDEX] + block * QIX_TERM_INDEX_BYTES;
    bool is_last = block + 1 == qix_dict_blocks(segment);
    qix_status status = qix_need(segment, record, QIX_TERM_INDEX_BYTES * (is_last ? 1 : 2), fault);
    if (status)
        return status;
    uint64_t from = qix_load_u64(record + 8);
    uint64_t to = is_last ? segment->section_bytes[QIX_TERMS] : qix_load_u64(record + QIX_TERM_INDEX_BYTES + 8);
    const uint8_t *terms = segment->section[QIX_TERMS];
    if (from > to || to > segment->section_bytes[QIX_TERMS]) /* right at open, if nobody has written to it since */
        return qix_corrupt(fault, qix_offset_of(segment, record) + 8, "term index leaves its section");
    walk->index = block * QIX_DICT_BLOCK;
    walk->entry = (qix_reader){terms + from, terms + to};
    walk->key_bytes = 0;
    walk->next_postings_at = qix_load_u64(record + 16);
    walk->next_positions_at = qix_load_u64(record + 24);
    return qix_need(segment, terms + from, to - from, fault);
}

qix_status qix_terms_enter(qix_term_walk *walk, uint64_t block, qix_fault *fault)
{
    qix_status status = enter_block(walk, block, fault);
    return status ? status : read_entry(walk, fault);
}

/* The first bytes of a key, zero filled, as a number that orders as they do. */
static uint64_t head_of(const uint8_t *key, uint32_t key_bytes)
{
    uint8_t head[QIX_KEY_HEAD_BYTES] = {0};
    memcpy(head, key, key_bytes < QIX_KEY_HEAD_BYTES ? key_bytes : QIX_KEY_HEAD_BYTES);
    return qix_load_u64_big(head);
}

/* <0, 0 or >0 as the first key of a block is before, at or after `key`, which has the same head. */
static qix_status compare_first(qix_term_walk *walk, uint64_t block, const uint8_t *key, uint32_t key_bytes,
                                int *ret_order, qix_fault *fault)
{
    qix_status status = qix_terms_enter(walk, block, fault);
    if (!status)
        *ret_order = compare_keys(walk->key, walk->key_bytes, key, key_bytes);
    return status;
}

qix_status qix_terms_next(qix_term_walk *walk, bool *ret_found, qix_fault *fault)
{
    *ret_found = walk->index + 1 < walk->segment->info.term_count;
    if (!*ret_found)
        return QIX_OK;
    qix_status status = QIX_OK;
    if ((walk->index + 1) % QIX_DICT_BLOCK == 0)
        status = enter_block(walk, (walk->index + 1) / QIX_DICT_BLOCK, fault);
    else
        walk->index++;
    return status ? status : read_entry(walk, fault);
}

/* The record that a search between two blocks looks at next. */
static inline const uint8_t *middle_record(const uint8_t *records, uint64_t low, uint64_t high)
{
    return records + (low + (high - low) / 2) * QIX_TERM_INDEX_BYTES;
}

/* The last block whose first key is <= key, or the first block; there is one. Keys are read only where heads say too
 * little, and both records that may be next are fetched while one is compared. */
static qix_status find_block(qix_term_walk *walk, const uint8_t *key, uint32_t key_bytes, uint64_t *ret_block,
                             qix_fault *fault)
{
    const qix_segment *segment = walk->segment;
    const uint8_t *records = segment->section[QIX_TERM_INDEX];
    bool is_hashed = qix_is_hashed(segment, records, segment->section_bytes[QIX_TERM_INDEX]);
    uint64_t low = 0, high = qix_dict_blocks(segment), head = head_of(key, key_bytes);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        const uint8_t *record = middle_record(records, low, high);
        qix_status status = is_hashed ? QIX_OK : qix_need(segment, record, QIX_KEY_HEAD_BYTES, fault);
        __builtin_prefetch(middle_record(records, low, middle));
        __builtin_prefetch(middle_record(records, middle, high));
        uint64_t first = status ? 0 : qix_load_u64_big(record);
        int order = first > head;
        if (!status && first == head)
            status = compare_first(walk, middle, key, key_bytes, &order, fault);
        if (status)
            return status;
        low = order <= 0 ? middle : low;
        high = order <= 0 ? high : middle;
    }
    *ret_block = low;
    return QIX_OK;
}

qix_status qix_terms_seek(const qix_segment *segment, const uint8_t *key, uint32_t key_bytes, qix_term_walk *walk,
                          bool *ret_found, qix_fault *fault)
{
    uint64_t block;
    walk->segment = segment;
    *ret_found = segment->info.term_count > 0;
    if (!*ret_found)
        return QIX_OK;
    qix_status status = find_block(walk, key, key_bytes, &block, fault);
    if (!status)
        status = qix_terms_enter(walk, block, fault);
    while (!status && *ret_found && compare_keys(walk->key, walk->key_bytes, key, key_bytes) < 0)
        status = qix_terms_next(walk, ret_found, fault);
    return status;
}

static uint32_t common_bytes(const uint8_t *a, const uint8_t *b, uint32_t bytes)
{
    uint32_t i = 0;
    while (i < bytes && a[i] == b[i])
        i++;
    return i;
}

/* Look for `key` in a block from its first entry on, copying no key. `equal` bytes of the entry before are those of
 * `key`, and it is lower: an entry that shares more with it is lower too, one that shares less is higher. */
static qix_status scan_block(qix_term_walk *walk, const uint8_t *key, uint32_t key_bytes, bool *ret_found,
                             qix_fault *fault)
{
    uint64_t end = walk->index + QIX_DICT_BLOCK;
    uint32_t equal = 0;
    end = end < walk->segment->info.term_count ? end : walk->segment->info.term_count;
    *ret_found = false;
    for (; walk->index < end; walk->index++) {
        entry_key at;
        qix_status status = parse_entry(walk, &at, fault);
        if (status || at.shared < equal)
            return status;
        if (at.shared > equal)
            continue;
        uint32_t left = key_bytes - equal, both = at.suffix < left ? at.suffix : left;
        uint32_t more = common_bytes(at.bytes, key + equal, both);
        equal += more;
        if (more == left || (more < both && at.bytes[more] > key[equal])) {
            *ret_found = equal == walk->key_bytes && equal == key_bytes;
            return QIX_OK;
        }
    }
    return QIX_OK;
}

qix_status qix_terms_find(const qix_segment *segment, const uint8_t *key, uint32_t key_bytes, qix_term *ret_term,
                          bool *ret_found, qix_fault *fault)
{
    qix_term_walk walk;
    uint64_t block;
    walk.segment = segment;
    *ret_found = false;
    if (segment->info.term_count == 0)
        return QIX_OK;
    qix_status status = find_block(&walk, key, key_bytes, &block, fault);
    if (!status)
        status = enter_block(&walk, block, fault);
    if (!status)
        status = scan_block(&walk, key, key_bytes, ret_found, fault);
    if (!status && *ret_found)
        *ret_term = walk.term;
    return status;
}

qix_status qix_term_df(const qix_segment *segment, const uint8_t *key, uint32_t key_bytes, uint32_t *ret_df,
                       qix_fault *ret_fault)
{
    qix_term term = {0};
    bool found;
    qix_status status = qix_terms_find(segment, key, key_bytes, &term, &found, ret_fault);
    status = qix_settle(segment, status, ret_fault);
    if (!status)
        *ret_df = found ? term.df : 0;
    return status;
}
