#include <string.h>

#include "page_walk.h"

/* An element below the deepest level that is walked, and whether its end is a gap. */
typedef struct {
    void *node;
    bool is_gap;
} flat_element;

static void add_gap(page_walk *w, bool is_gap)
{
    if (is_gap)
        page_text_add(&w->text, (const uint8_t *)" ", 1);
}

void page_add_text(page_walk *w, void *node)
{
    size_t bytes = 0;
    if (w->is_muted)
        return;
    const uint8_t *const text = w->tree->text(node, &bytes);
    if (text)
        page_text_add(&w->text, text, bytes);
    else
        w->text.has_failed = true; /* the tree had no memory for it */
}

void page_read_flat(page_walk *w, void *node)
{
    const page_rules *const rules = w->rules;
    w->flat.used = 0;
    for (uint32_t i = 0; i < rules->nodes_max; i++) {
        const uintptr_t tag = w->tree->tag(node);
        flat_element flat = {node, false};
        void *child = NULL;
        if (tag == rules->text_tag) {
            page_add_text(w, node);
        } else {
            const page_element element = tag < rules->element_count ? rules->elements[tag] : (page_element){0};
            flat.is_gap = element.layout != PAGE_INLINE || element.role == PAGE_LINE_BREAK;
            add_gap(w, flat.is_gap);
            if (!page_is_leaf(element.role))
                child = w->tree->first_child(node);
        }
        if (child && qix_bytes_add(&w->flat, &flat, sizeof flat)) {
            node = child;
            continue;
        }
        add_gap(w, flat.is_gap);
        void *following = w->tree->next(node);
        while (!following) {
            if (w->flat.used == 0)
                return;
            w->flat.used -= sizeof flat;
            memcpy(&flat, w->flat.data + w->flat.used, sizeof flat);
            add_gap(w, flat.is_gap);
            following = w->tree->next(flat.node);
        }
        node = following;
    }
    w->full |= PAGE_FULL_NODES;
}
