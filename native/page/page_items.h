/* What the walk takes from attributes: items in tree order, their attributes, and the strings of both. */
#ifndef PAGE_ITEMS_H
#define PAGE_ITEMS_H

#include "page_tree.h"
#include "qix_bytes.h"

#define PAGE_NONE (-1)

typedef struct {
    qix_bytes items;      /* page_item */
    qix_bytes links;      /* page_link */
    qix_bytes attributes; /* page_attribute */
    qix_bytes strings;    /* each ended by a zero byte */
    int32_t string_count;
    bool has_failed; /* memory was short, and something is missing */
} page_items;

void page_items_free(page_items *items);
void page_items_reset(page_items *items);

/* Add a string, up to its first zero byte; gives its number. */
int32_t page_items_string(page_items *items, const uint8_t *data, size_t bytes);
/* Add the text of all text nodes below `node`, `separator` between them (none if it is 0); what is behind
 * `bytes_max` bytes may be left out. */
int32_t page_items_text(page_items *items, const page_tree *tree, const page_rules *rules, void *node, char separator,
                        size_t bytes_max);
/* Add an item with the attributes of `element` that the rules name. */
void page_items_add(page_items *items, const page_tree *tree, const page_rules *rules, enum page_role role,
                    int32_t text, void *element);
/* Add a link with the attributes of `element`, but for the one that is its target; gives its number. Until the walk
 * has ended, `start` of the link is the number of its range. */
int32_t page_items_add_link(page_items *items, const page_tree *tree, const page_rules *rules, const page_link *link,
                            const char *target, void *element);
/* The link of that number; valid until another is added. NULL for PAGE_NONE, or if there was no memory for it. */
page_link *page_items_link(page_items *items, int32_t number);

/* The attribute of that name; NULL if the element does not have it. */
void *page_attribute_of(const page_tree *tree, void *element, const char *name);

#endif
