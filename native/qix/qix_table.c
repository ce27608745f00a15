#define _DEFAULT_SOURCE /* getentropy */
#include "qix_table.h"

#include <unistd.h>

#define SLOTS_FIRST (1u << 12)
#define ENTRIES_FIRST (1u << 11)

bool qix_table_init(qix_table *table)
{
    *table = (qix_table){.slots = calloc(SLOTS_FIRST, sizeof(uint32_t)), .slot_mask = SLOTS_FIRST - 1};
    /* A page must not be able to choose words that collide; without entropy the address of the table has to do. */
    if (getentropy(&table->seed, sizeof table->seed) != 0)
        table->seed = (uint64_t)(uintptr_t)table;
    return table->slots != NULL;
}

void qix_table_free(qix_table *table)
{
    free(table->entries);
    free(table->slots);
    *table = (qix_table){0};
}

uint64_t qix_table_bytes(const qix_table *table)
{
    return (uint64_t)table->capacity * sizeof *table->entries + ((uint64_t)table->slot_mask + 1) * sizeof *table->slots;
}

/* Eight bytes a step, each mixed by a multiplication with an odd constant and a shift that brings the high bits down.
 */
static uint32_t hash_key(uint64_t seed, uint8_t space, const uint8_t *term, uint32_t bytes)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t h = (seed ^ space) * odd ^ bytes;
    for (uint64_t word; bytes > 0;) {
        uint32_t step = bytes < 8 ? bytes : 8;
        word = 0;
        memcpy(&word, term, step);
        h = (h ^ word) * odd;
        h ^= h >> 32;
        term += step;
        bytes -= step;
    }
    h *= odd;
    return (uint32_t)(h >> 32);
}

static bool grow_slots(qix_table *table)
{
    uint32_t slots = (table->slot_mask + 1) * 2;
    uint32_t *fresh = slots ? calloc(slots, sizeof *fresh) : NULL;
    if (!fresh)
        return false;
    for (uint32_t entry = 0; entry < table->count; entry++) {
        uint32_t slot = table->entries[entry].hash & (slots - 1);
        while (fresh[slot])
            slot = (slot + 1) & (slots - 1);
        fresh[slot] = entry + 1;
    }
    free(table->slots);
    table->slots = fresh;
    table->slot_mask = slots - 1;
    return true;
}

static bool grow_entries(qix_table *table)
{
    uint32_t capacity = table->capacity ? table->capacity * 2 : ENTRIES_FIRST;
    qix_entry *entries = realloc(table->entries, (size_t)capacity * sizeof *entries);
    if (!entries)
        return false;
    table->entries = entries;
    table->capacity = capacity;
    return true;
}

static bool add_entry(qix_table *table, qix_pool *pool, uint32_t hash, uint8_t space, const uint8_t *term,
                      uint32_t term_bytes)
{
    uint32_t key_at;
    if ((table->count == table->capacity && !grow_entries(table)) || !qix_pool_take(pool, term_bytes + 1, &key_at))
        return false;
    pool->data[key_at] = space;
    memcpy(pool->data + key_at + 1, term, term_bytes);
    table->entries[table->count++] = (qix_entry){.hash = hash, .key_at = key_at, .key_bytes = term_bytes + 1};
    return true;
}

bool qix_table_find(qix_table *table, qix_pool *pool, uint8_t space, const uint8_t *term, uint32_t term_bytes,
                    uint32_t *ret_entry)
{
    uint32_t hash = hash_key(table->seed, space, term, term_bytes);
    if (table->count >= (table->slot_mask + 1) / 2 && !grow_slots(table))
        return false;
    uint32_t slot = hash & table->slot_mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->slot_mask) {
        const qix_entry *entry = &table->entries[table->slots[slot] - 1];
        const uint8_t *key = pool->data + entry->key_at;
        if (entry->hash == hash && entry->key_bytes == term_bytes + 1 && key[0] == space &&
            memcmp(key + 1, term, term_bytes) == 0) {
            *ret_entry = table->slots[slot] - 1;
            return true;
        }
    }
    if (!add_entry(table, pool, hash, space, term, term_bytes))
        return false;
    table->slots[slot] = table->count;
    *ret_entry = table->count - 1;
    return true;
}
