/* The builder's terms: a hash table from keys to what is known of each term so far. */
#ifndef QIX_TABLE_H
#define QIX_TABLE_H

#include "qix_pool.h"

/* One key, in one line of the processor's cache. */
typedef struct {
    uint32_t hash;   /* low half */
    uint32_t key_at; /* in the pool: bytes of the key (2), namespace, term */
    uint32_t df;     /* documents in `postings` */

    /* of the last document that has it, which is not in `postings` while tf > 0 */
    uint32_t seen; /* ordinal + 1 */
    uint32_t gap;  /* ordinal + 1 less that of the document before */
    uint32_t tf;
    uint32_t count;
    uint32_t place; /* of the last position: field << QIX_POSITION_BITS | word */

    /* Of each document: varint (ordinal difference << 1 | tf is 1), else varint tf, varint count. */
    qix_chain postings;
    /* Of each position: varint (word difference << 1 | field changes), and if so varint field; the difference is then
     * from 0. A document begins at word 0 of the body. */
    qix_chain positions;
} qix_entry;

_Static_assert(sizeof(qix_entry) == 64, "an entry is a cache line");

typedef struct {
    uint32_t entry; /* + 1, or 0: empty */
    uint32_t tag;   /* high half of the hash */
} qix_slot;

typedef struct {
    qix_entry *entries;
    uint32_t count;
    uint32_t capacity;
    qix_slot *slots;
    uint32_t slot_mask;
    uint64_t seed;
} qix_table;

typedef struct {
    const uint8_t *term;
    uint32_t bytes;
    uint8_t space;
    uint64_t hash;
} qix_table_key;

#define QIX_NO_ENTRY UINT32_MAX

bool qix_table_init(qix_table *table);
void qix_table_free(qix_table *table);
uint64_t qix_table_bytes(const qix_table *table);
/* Forget all keys; keeps the memory. */
void qix_table_clear(qix_table *table);

uint64_t qix_table_hash(const qix_table *table, uint8_t space, const uint8_t *term, uint32_t bytes);

/* The number of the first entry that has this hash, or QIX_NO_ENTRY. Asks memory for what qix_table_find will look at
 * next. */
uint32_t qix_table_peek(const qix_table *table, uint64_t hash);
static inline void qix_table_prefetch(const qix_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slots[(uint32_t)hash & table->slot_mask]);
}

/* The number of the entry of a key, made if it is new; false when memory ends. */
bool qix_table_find(qix_table *table, qix_pool *pool, const qix_table_key *key, uint32_t *ret_entry);

/* Whether an entry is that of a key. */
bool qix_table_is(const qix_table *table, const qix_pool *pool, uint32_t entry, const qix_table_key *key);

#endif
