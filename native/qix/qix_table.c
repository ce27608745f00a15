#define _DEFAULT_SOURCE /* getentropy */
#include "qix_table.h"

#include <unistd.h>

#include "qix_reader.h"

#define SLOTS_FIRST (1u << 12)
#define ENTRIES_FIRST (1u << 11)
#define KEY_HEAD_BYTES 2u

bool qix_table_init(qix_table *table)
{
    *table = (qix_table){.slots = calloc(SLOTS_FIRST, sizeof *table->slots), .slot_mask = SLOTS_FIRST - 1};
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
    return (uint64_t)table->count * sizeof *table->entries + ((uint64_t)table->slot_mask + 1) * sizeof *table->slots;
}

void qix_table_clear(qix_table *table)
{
    memset(table->slots, 0, ((size_t)table->slot_mask + 1) * sizeof *table->slots);
    table->count = 0;
}

/* Both halves of the product of two 64-bit numbers, folded: each bit of the result depends on every bit of both. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Up to eight bytes; those of a longer run are its first eight. */
static inline uint64_t load_head(const uint8_t *p, uint32_t bytes)
{
    if (bytes >= 8)
        return qix_load_u64(p);
    if (bytes >= 4)
        return qix_load_u32(p) | (uint64_t)qix_load_u32(p + bytes - 4) << 32;
    return bytes == 0 ? 0 : p[0] | (uint64_t)p[bytes / 2] << 8 | (uint64_t)p[bytes - 1] << 16;
}

/* Folded multiplication, as in wyhash (Wang Yi 2019): sixteen bytes a step; the last two loads may overlap. The seed
 * is secret, and part of a factor of each product. */
uint64_t qix_table_hash(const qix_table *table, uint8_t space, const uint8_t *term, uint32_t bytes)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u, other = 0xd6e8feb86659fd93u;
    uint64_t h = table->seed ^ space;
    uint32_t left = bytes;
    const uint8_t *p = term;
    for (; left > 16; left -= 16, p += 16)
        h = fold(qix_load_u64(p) ^ odd, qix_load_u64(p + 8) ^ h);
    uint64_t head = load_head(p, left), tail = left > 8 ? qix_load_u64(p + left - 8) : 0;
    h = fold(head ^ odd, tail ^ h ^ other);
    return fold(h ^ table->seed, odd ^ bytes);
}

static bool grow_slots(qix_table *table)
{
    uint32_t slots = (table->slot_mask + 1) * 2;
    qix_slot *fresh = slots ? calloc(slots, sizeof *fresh) : NULL;
    if (!fresh)
        return false;
    for (uint64_t i = 0; i <= table->slot_mask; i++) {
        if (!table->slots[i].entry)
            continue;
        uint32_t slot = table->entries[table->slots[i].entry - 1].hash & (slots - 1);
        while (fresh[slot].entry)
            slot = (slot + 1) & (slots - 1);
        fresh[slot] = table->slots[i];
    }
    free(table->slots);
    table->slots = fresh;
    table->slot_mask = slots - 1;
    return true;
}

static bool grow_entries(qix_table *table)
{
    uint32_t capacity = table->capacity ? table->capacity * 2 : ENTRIES_FIRST;
    qix_entry *entries = aligned_alloc(sizeof *entries, (size_t)capacity * sizeof *entries);
    if (!entries)
        return false;
    if (table->count > 0)
        memcpy(entries, table->entries, (size_t)table->count * sizeof *entries);
    free(table->entries);
    table->entries = entries;
    table->capacity = capacity;
    return true;
}

static bool add_entry(qix_table *table, qix_pool *pool, const qix_table_key *key)
{
    uint32_t at;
    if ((table->count == table->capacity && !grow_entries(table)) ||
        !qix_pool_take(pool, KEY_HEAD_BYTES + 1 + key->bytes, &at))
        return false;
    qix_store_u16(pool->data + at, (uint16_t)(key->bytes + 1));
    pool->data[at + KEY_HEAD_BYTES] = key->space;
    memcpy(pool->data + at + KEY_HEAD_BYTES + 1, key->term, key->bytes);
    table->entries[table->count++] = (qix_entry){.hash = (uint32_t)key->hash, .key_at = at};
    return true;
}

bool qix_table_is(const qix_table *table, const qix_pool *pool, uint32_t entry, const qix_table_key *key)
{
    const uint8_t *stored = pool->data + table->entries[entry].key_at;
    return qix_load_u16(stored) == key->bytes + 1 && stored[KEY_HEAD_BYTES] == key->space &&
           memcmp(stored + KEY_HEAD_BYTES + 1, key->term, key->bytes) == 0;
}

uint32_t qix_table_peek(const qix_table *table, uint64_t hash)
{
    uint32_t slot = (uint32_t)hash & table->slot_mask;
    for (; table->slots[slot].entry; slot = (slot + 1) & table->slot_mask)
        if (table->slots[slot].tag == hash >> 32) {
            __builtin_prefetch(&table->entries[table->slots[slot].entry - 1], 1);
            return table->slots[slot].entry - 1;
        }
    return QIX_NO_ENTRY;
}

bool qix_table_find(qix_table *table, qix_pool *pool, const qix_table_key *key, uint32_t *ret_entry)
{
    if (table->count >= (table->slot_mask + 1) / 2 && !grow_slots(table))
        return false;
    uint32_t slot = (uint32_t)key->hash & table->slot_mask;
    for (; table->slots[slot].entry; slot = (slot + 1) & table->slot_mask)
        if (table->slots[slot].tag == key->hash >> 32 && qix_table_is(table, pool, table->slots[slot].entry - 1, key)) {
            *ret_entry = table->slots[slot].entry - 1;
            return true;
        }
    if (!add_entry(table, pool, key))
        return false;
    table->slots[slot] = (qix_slot){.entry = table->count, .tag = (uint32_t)(key->hash >> 32)};
    *ret_entry = table->count - 1;
    return true;
}
