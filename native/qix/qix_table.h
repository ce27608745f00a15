/* The builder's terms: a hash table from keys to what is known of each term so far. */
#ifndef QIX_TABLE_H
#define QIX_TABLE_H

#include "qix_pool.h"

/* One key. The middle group is about the document at hand. */
typedef struct {
    uint32_t hash;
    uint32_t key_at; /* in the pool */
    uint32_t key_bytes;
    uint32_t df;
    uint32_t posted; /* ordinal + 1 of the last document in `postings` */

    uint32_t seen; /* ordinal + 1 of the document that the next four are about */
    uint32_t tf;
    uint32_t count;
    uint32_t word;  /* of the last position */
    uint32_t field; /* of the last position */

    /* Of each document: varint (ordinal difference << 1 | tf is 1), else varint tf, varint count. */
    qix_chain postings;
    /* Of each position: varint (word difference << 1 | field changes), and if so varint field; the difference is then
     * from 0. A document begins at word 0 of the body. */
    qix_chain positions;
} qix_entry;

typedef struct {
    qix_entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* entry + 1, or 0 */
    uint32_t slot_mask;
    uint64_t seed;
} qix_table;

bool qix_table_init(qix_table *table);
void qix_table_free(qix_table *table);
uint64_t qix_table_bytes(const qix_table *table);

/* The number of the entry of a namespace and a term, made if it is new; false when memory ends. */
bool qix_table_find(qix_table *table, qix_pool *pool, uint8_t space, const uint8_t *term, uint32_t term_bytes,
                    uint32_t *ret_entry);

#endif
