#include "qix_pages.h"

#include <stdlib.h>

#define SLOTS_FIRST (1u << 10)

bool qix_pages_init(qix_pages *pages)
{
    *pages = (qix_pages){.slots = calloc(SLOTS_FIRST, sizeof *pages->slots), .mask = SLOTS_FIRST - 1};
    return pages->slots != NULL;
}

void qix_pages_free(qix_pages *pages)
{
    free(pages->slots);
    *pages = (qix_pages){0};
}

uint64_t qix_pages_bytes(const qix_pages *pages)
{
    return ((uint64_t)pages->mask + 1) * sizeof *pages->slots;
}

static uint64_t *find_slot(uint64_t *slots, uint32_t mask, uint64_t page_id)
{
    uint32_t slot = (uint32_t)(page_id * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (slots[slot] && slots[slot] != page_id)
        slot = (slot + 1) & mask;
    return &slots[slot];
}

static bool grow(qix_pages *pages)
{
    uint32_t slots = (pages->mask + 1) * 2;
    uint64_t *fresh = slots ? calloc(slots, sizeof *fresh) : NULL;
    if (!fresh)
        return false;
    for (uint64_t i = 0; i <= pages->mask; i++)
        if (pages->slots[i])
            *find_slot(fresh, slots - 1, pages->slots[i]) = pages->slots[i];
    free(pages->slots);
    pages->slots = fresh;
    pages->mask = slots - 1;
    return true;
}

bool qix_pages_add(qix_pages *pages, uint64_t page_id, bool *ret_is_new)
{
    if (pages->count >= (pages->mask + 1) / 2 && !grow(pages))
        return false;
    uint64_t *slot = find_slot(pages->slots, pages->mask, page_id);
    *ret_is_new = *slot == 0;
    if (*ret_is_new) {
        *slot = page_id;
        pages->count++;
    }
    return true;
}
