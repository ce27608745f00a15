/* A set of page ids, so that a builder takes each page once. */
#ifndef QIX_PAGES_H
#define QIX_PAGES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t *slots; /* 0 is empty: page ids begin at 1 */
    uint32_t mask;
    uint32_t count;
} qix_pages;

bool qix_pages_init(qix_pages *pages);
void qix_pages_free(qix_pages *pages);
uint64_t qix_pages_bytes(const qix_pages *pages);

/* Add a page; *ret_is_new is false if it is there. False when memory ends. */
bool qix_pages_add(qix_pages *pages, uint64_t page_id, bool *ret_is_new);

#endif
