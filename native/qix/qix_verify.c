/* The deep check: every byte hashed, every invariant of the format tried. It trusts nothing that qix_open did not
 * check. */
#include "qix_rank.h"
#include "qix_segment.h"
#include "qix_tf_code.h"

typedef struct {
    const qix_segment *segment;
    qix_fault *faults;
    uint32_t capacity;
    uint32_t count;
    double norm_k[256];
    /* of the list at hand */
    qix_list list;
    qix_term term;
    bool is_word;
    uint32_t kth_docs[QIX_KTH_COUNT];
    double range_norm; /* highest frequency part of the range at hand */
    uint64_t range;
    qix_block block;
    qix_positions positions;
} checker;

static void add_fault(checker *v, uint64_t offset, const char *reason)
{
    if (v->count < v->capacity)
        qix_corrupt(&v->faults[v->count], offset, reason);
    v->count++;
}

static void add_fault_at(checker *v, const uint8_t *at, const char *reason)
{
    add_fault(v, qix_offset_of(v->segment, at), reason);
}

/* Take over a fault that a reader found. */
static void take_fault(checker *v, const qix_fault *fault)
{
    add_fault(v, fault->offset, fault->reason);
}

static void check_chunks(checker *v)
{
    qix_fault fault;
    for (uint32_t chunk = 0; chunk < v->segment->info.chunk_count; chunk++)
        if (qix_check_chunks(v->segment, chunk, 1, &fault))
            take_fault(v, &fault);
}

static void check_zeros(checker *v, uint64_t from, uint64_t to, const char *reason)
{
    for (uint64_t at = from; at < to; at++)
        if (v->segment->data[at] != 0) {
            add_fault(v, at, reason);
            return;
        }
}

static void check_padding(checker *v)
{
    const qix_segment *segment = v->segment;
    uint64_t table_end = QIX_SECTION_TABLE_OFFSET + (uint64_t)QIX_SECTION_COUNT * QIX_SECTION_ENTRY_BYTES;
    check_zeros(v, 107, 108, "a reserved byte of the header is not zero");
    check_zeros(v, 136, QIX_SECTION_TABLE_OFFSET, "a reserved byte of the header is not zero");
    check_zeros(v, table_end, QIX_HEADER_BYTES, "a reserved byte of the header is not zero");
    uint64_t end = QIX_HEADER_BYTES;
    for (uint32_t id = QIX_PAGE_IDS; id < QIX_SECTION_END; id++) {
        uint64_t start = qix_offset_of(segment, segment->section[id]);
        check_zeros(v, end, start, "a byte between sections is not zero");
        end = start + segment->section_bytes[id];
    }
}

static bool is_covered(const uint8_t *pairs, uint32_t tf, uint32_t code)
{
    for (uint32_t i = 0; i < QIX_PAIRS; i++)
        if (qix_tf_decode(pairs[2 * i]) >= tf && pairs[2 * i + 1] <= code)
            return true;
    return false;
}

/* A range has ended: its byte must bound what was in it, and be 0 only if nothing was. */
static void close_range(checker *v)
{
    uint8_t byte = v->list.range_bounds[v->range];
    if (byte / QIX_RANGE_ONE < v->range_norm || (byte == 0) != !(v->range_norm > 0.0))
        add_fault_at(v, v->list.range_bounds + v->range, "range bound is not above the scores of its range");
    v->range_norm = 0.0;
    v->range++;
}

static void check_posting(checker *v, uint32_t docid, uint32_t tf, uint32_t code)
{
    double norm = tf / (tf + v->norm_k[code]);
    for (uint32_t i = 0; i < QIX_KTH_COUNT; i++)
        v->kth_docs[i] += norm >= qix_list_kth(&v->list, i);
    if (!v->list.range_bounds)
        return;
    while (v->range < docid >> v->segment->range_shift)
        close_range(v);
    if (norm > v->range_norm)
        v->range_norm = norm;
}

static const char *check_summaries(checker *v, uint32_t block)
{
    const uint8_t *pairs = v->list.block_pairs + 2 * QIX_PAIRS * (uint64_t)block;
    for (uint32_t i = 0; i < v->block.count; i++) {
        uint32_t docid = v->block.docids[i], tf = v->block.tfs[i], code = v->block.codes[i];
        if (code != qix_code_of(v->segment, docid))
            return "length code of a posting is not the document's";
        if (!is_covered(pairs, tf, code) || !is_covered(v->list.pairs, tf, code))
            return "impact pairs do not cover a posting";
        check_posting(v, docid, tf, code);
    }
    return NULL;
}

/* Each position lies in a field, and their weights make up the frequency. */
static const char *check_positions(checker *v)
{
    const char *reason = NULL;
    uint64_t total = v->positions.starts[v->block.count];
    for (uint32_t i = 0; i < v->block.count; i++) {
        qix_position_walk walk = qix_positions_walk(&v->positions, i);
        uint64_t tf = 0;
        while (qix_position_next(&walk, &reason))
            tf += v->segment->info.field_weights[qix_position_field(walk.value)];
        if (reason)
            return reason;
        if (tf != v->block.tfs[i])
            return "positions do not make up the frequency";
    }
    return total > 0 && v->positions.next.pos == v->positions.next.end ? NULL : "bytes follow the positions of a block";
}

static bool check_block(checker *v, uint32_t block)
{
    qix_fault fault;
    if (qix_list_decode(&v->list, block, &v->block, &fault)) {
        take_fault(v, &fault);
        return false;
    }
    const char *reason = v->list.is_long ? check_summaries(v, block) : NULL;
    if (!reason && v->is_word && v->segment->info.has_positions) {
        if (qix_list_positions(&v->list, block, &v->block, &v->positions, &fault)) {
            take_fault(v, &fault);
            return false;
        }
        reason = check_positions(v);
    }
    if (reason)
        add_fault_at(v, v->list.bytes.pos, reason);
    return reason == NULL;
}

static void check_long(checker *v)
{
    const uint8_t *head = v->list.pairs;
    if (v->list.range_bounds)
        while (v->range < v->list.range_count)
            close_range(v);
    for (uint32_t i = 0; i < QIX_KTH_COUNT; i++)
        if (qix_list_kth(&v->list, i) > 0.0 && v->kth_docs[i] < qix_kth_k[i])
            add_fault_at(v, head + QIX_KTH_OFFSET + 2 * i, "fewer postings than k reach the k-th best of the list");
    check_zeros(v, qix_offset_of(v->segment, head + 15), qix_offset_of(v->segment, head + 16),
                "a reserved byte of a list is not zero");
    check_zeros(v, qix_offset_of(v->segment, head + 24), qix_offset_of(v->segment, head + 32),
                "a reserved byte of a list is not zero");
    uint64_t first = QIX_LIST_HEADER_BYTES + (uint64_t)QIX_BLOCK_SUMMARY_BYTES * v->list.block_count;
    if (qix_load_u32(v->list.block_offsets) != first)
        add_fault_at(v, v->list.block_offsets, "the first block does not follow the summaries");
}

static void check_list(checker *v)
{
    qix_fault fault;
    if (qix_list_open(v->segment, &v->term, &v->list, &fault)) {
        take_fault(v, &fault);
        return;
    }
    v->range = 0;
    v->range_norm = 0.0;
    memset(v->kth_docs, 0, sizeof v->kth_docs);
    for (uint32_t block = 0; block < v->list.block_count; block++)
        if (!check_block(v, block))
            return;
    if (v->list.is_long)
        check_long(v);
}

/* What the index says of a block must be what its first entry is. */
static void check_index_record(checker *v, const qix_term_walk *walk, uint64_t postings_at, uint64_t positions_at)
{
    const uint8_t *record = v->segment->section[QIX_TERM_INDEX] + walk->index / QIX_DICT_BLOCK * QIX_TERM_INDEX_BYTES;
    uint8_t head[QIX_KEY_HEAD_BYTES] = {0};
    memcpy(head, walk->key, walk->key_bytes < QIX_KEY_HEAD_BYTES ? walk->key_bytes : QIX_KEY_HEAD_BYTES);
    if (memcmp(head, record, sizeof head) != 0)
        add_fault_at(v, record, "term index has another key than its block");
    if (qix_load_u64(record + 16) != postings_at || qix_load_u64(record + 24) != positions_at)
        add_fault_at(v, record + 16, "lists do not follow each other");
}

static bool ascends(const qix_term_walk *walk, const uint8_t *last, uint32_t last_bytes)
{
    int order = memcmp(last, walk->key, last_bytes < walk->key_bytes ? last_bytes : walk->key_bytes);
    return order < 0 || (order == 0 && last_bytes < walk->key_bytes);
}

static void check_terms(checker *v)
{
    uint8_t last[QIX_KEY_BYTES_MAX];
    uint32_t last_bytes = 0;
    uint64_t postings_at = 0, positions_at = 0;
    qix_term_walk walk;
    qix_fault fault;
    bool found;
    qix_status status = qix_terms_seek(v->segment, last, 0, &walk, &found, &fault);
    while (!status && found) {
        if (walk.index % QIX_DICT_BLOCK == 0)
            check_index_record(v, &walk, postings_at, positions_at);
        if (!ascends(&walk, last, last_bytes))
            add_fault_at(v, walk.entry.pos, "keys do not ascend");
        bool is_last = (walk.index + 1) % QIX_DICT_BLOCK == 0 || walk.index + 1 == v->segment->info.term_count;
        if (is_last && walk.entry.pos != walk.entry.end)
            add_fault_at(v, walk.entry.pos, "bytes follow a block of the dictionary");
        memcpy(last, walk.key, walk.key_bytes);
        last_bytes = walk.key_bytes;
        v->term = walk.term;
        v->is_word = walk.key[0] == 0;
        check_list(v);
        postings_at = walk.next_postings_at;
        positions_at = walk.next_positions_at;
        status = qix_terms_next(&walk, &found, &fault);
    }
    if (status)
        take_fault(v, &fault);
    else if (postings_at != v->segment->section_bytes[QIX_POSTINGS] ||
             positions_at != v->segment->section_bytes[QIX_POSITIONS])
        add_fault(v, 80, "bytes follow the last list");
}

qix_status qix_verify(const qix_segment *segment, qix_fault *ret_faults, uint32_t fault_capacity, uint32_t *ret_count)
{
    checker v = {.segment = segment, .faults = ret_faults, .capacity = fault_capacity};
    qix_norm_table(segment->range_k1, segment->range_b, segment->range_average, v.norm_k);
    check_chunks(&v);
    if (v.count == 0) { /* what lies in a damaged chunk means nothing */
        check_padding(&v);
        check_terms(&v);
    }
    qix_fault torn;
    if (qix_settle(segment, QIX_OK, &torn)) { /* whatever else was found, this is why */
        v.count = 0;
        take_fault(&v, &torn);
    }
    *ret_count = v.count;
    return QIX_OK;
}
