/* How the walk reads a tree: a table of functions, so that it can be given any. Lexbor's own are made for this: they
 * keep their names and arguments while its structures change. */
#ifndef PAGE_TREE_H
#define PAGE_TREE_H

#include "page_guard.h"

/* Nodes and attributes belong to the tree and stay where they are during a walk. Functions give NULL where there is
 * nothing; texts are UTF-8, and live as long as the tree. */
struct page_tree {
    void *(*first_child)(void *node);
    void *(*next)(void *node);
    uintptr_t (*tag)(void *node);
    uint8_t *(*text)(void *node, size_t *ret_bytes); /* of a text node */
    const uint8_t *(*name)(void *element, size_t *ret_bytes);
    void *(*first_attribute)(void *element);
    void *(*next_attribute)(void *attribute);
    const uint8_t *(*attribute_name)(void *attribute, size_t *ret_bytes);
    const uint8_t *(*attribute_value)(void *attribute, size_t *ret_bytes);
    int (*type)(void *node); /* PAGE_TYPE_ELEMENT for an element, as in the DOM Standard */
};

#define PAGE_TYPE_ELEMENT 1

#endif
