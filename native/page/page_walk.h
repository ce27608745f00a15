/* The state of a walk, which its parts share: page_walk.c is the loop, page_role.c what single elements do, page_flat.c
 * the rest of a branch that is too deep. */
#ifndef PAGE_WALK_H
#define PAGE_WALK_H

#include "page_items.h"
#include "page_text.h"

/* What an open element changed, so that its end can restore it. */
typedef struct {
    void *node;
    page_element element;
    uint32_t flags;
    bool is_muted;
    int32_t range;  /* that it opened, PAGE_NONE for none */
    int32_t anchor; /* number of the link around it */
    int32_t block;  /* number of the block around it */
} open_element;

struct page_walk {
    page_text text;
    page_items items;
    qix_bytes open;     /* open_element */
    qix_bytes flat;     /* flat_element */
    qix_bytes blocks;   /* page_block */
    qix_bytes found;    /* page_range */
    int32_t block;      /* number of the innermost open block, PAGE_NONE for none */
    int32_t link_chars; /* of links that have ended */
    const page_tree *tree;
    const page_rules *rules;
    uint32_t full;
    uint32_t flags;
    int32_t anchor; /* number of the innermost open link, PAGE_NONE for none */
    bool is_muted;
    bool has_title;
    uint32_t foreign; /* open elements of another language, whose titles are not the page's */
    uint32_t marker_count;
    uint32_t counts[PAGE_ROOT + 1]; /* items by role */
};

/* Elements whose children are not walked: they are no text of the page's body. */
static inline bool page_is_leaf(uint8_t role)
{
    const uint32_t leaves =
        1u << PAGE_SKIPPED | 1u << PAGE_TITLE | 1u << PAGE_FRAME | 1u << PAGE_META | 1u << PAGE_LINK | 1u << PAGE_BASE;
    return (leaves >> role & 1u) != 0;
}

/* Do what a role asks at the start of an element. */
void page_act(page_walk *w, void *node, enum page_role role);
/* Add the text of a text node, unless it is not shown. */
void page_add_text(page_walk *w, void *node);
/* Read the text of `node` and of what follows it below the deepest level: words, and no structure. */
void page_read_flat(page_walk *w, void *node);

#endif
