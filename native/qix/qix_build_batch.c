/* Words on their way into the table. A word of a large corpus is rarely in the cache, and neither is its entry or the
 * end of its chain: a batch asks for each of these for all its words before it uses the first. */
#include "qix_builder.h"
#include "qix_position.h"

bool qix_close_posting(qix_pool *pool, qix_entry *entry)
{
    if (entry->tf == 0)
        return true;
    bool once = entry->tf == 1;
    if (!qix_chain_add(pool, &entry->postings, entry->gap << 1 | once) ||
        (!once &&
         (!qix_chain_add(pool, &entry->postings, entry->tf) || !qix_chain_add(pool, &entry->postings, entry->count))))
        return false;
    entry->df++;
    entry->tf = 0;
    return true;
}

/* Make an entry ready for the document at hand. */
static bool begin_posting(qix_builder *b, qix_entry *entry)
{
    if (entry->seen == b->doc_count + 1)
        return true;
    if (!qix_close_posting(&b->pool, entry))
        return false;
    entry->gap = b->doc_count + 1 - entry->seen;
    entry->seen = b->doc_count + 1;
    entry->count = 0;
    entry->place = QIX_BODY_FIELD << QIX_POSITION_BITS;
    return true;
}

qix_entry *qix_touch(qix_builder *b, const qix_table_key *key)
{
    uint32_t number;
    if (!qix_table_find(&b->table, &b->pool, key, &number))
        return NULL;
    qix_entry *entry = &b->table.entries[number];
    return begin_posting(b, entry) ? entry : NULL;
}

static bool add_occurrence(qix_builder *b, qix_entry *entry, uint32_t field, uint32_t word)
{
    uint32_t place = field << QIX_POSITION_BITS | word;
    if (entry->count > 0 && entry->place == place)
        return true; /* an alternate that is the same term at the same place */
    bool other_field = entry->place >> QIX_POSITION_BITS != field;
    uint32_t step = other_field ? word : place - entry->place;
    entry->tf += b->options.field_weights[field];
    entry->count++;
    entry->place = place;
    if (!b->options.with_positions)
        return true;
    return qix_chain_add(&b->pool, &entry->positions, step << 1 | other_field) &&
           (!other_field || qix_chain_add(&b->pool, &entry->positions, field));
}

static bool add_word(qix_builder *b, const qix_batch_word *word)
{
    qix_entry *entry;
    if (word->entry != QIX_NO_ENTRY && qix_table_is(&b->table, &b->pool, word->entry, &word->key)) {
        entry = &b->table.entries[word->entry];
        if (!begin_posting(b, entry))
            return false;
    } else {
        entry = qix_touch(b, &word->key);
    }
    return entry && add_occurrence(b, entry, word->field, word->word);
}

bool qix_batch_end(qix_builder *b)
{
    qix_batch *batch = b->batch;
    uint32_t count = batch->count;
    batch->count = batch->bytes_used = 0;
    for (uint32_t i = 0; i < count; i++)
        batch->words[i].entry = qix_table_peek(&b->table, batch->words[i].key.hash);
    for (uint32_t i = 0; i < count; i++) {
        if (batch->words[i].entry == QIX_NO_ENTRY)
            continue;
        const qix_entry *entry = &b->table.entries[batch->words[i].entry];
        __builtin_prefetch(b->pool.data + entry->key_at);
        __builtin_prefetch(b->pool.data + entry->positions.at, 1);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!add_word(b, &batch->words[i]))
            return false;
    return true;
}

bool qix_batch_add(qix_builder *b, const uint8_t *term, uint32_t term_bytes, bool copies, uint32_t field, uint32_t word)
{
    qix_batch *batch = b->batch;
    if (copies) {
        uint8_t *copy = batch->bytes + batch->bytes_used;
        memcpy(copy, term, term_bytes);
        batch->bytes_used += term_bytes;
        term = copy;
    }
    uint64_t hash = qix_table_hash(&b->table, 0, term, term_bytes);
    qix_table_prefetch(&b->table, hash);
    batch->words[batch->count++] =
        (qix_batch_word){.key = {.term = term, .bytes = term_bytes, .hash = hash}, .field = field, .word = word};
    return batch->count < QIX_BATCH_WORDS || qix_batch_end(b);
}
