/* The walk itself: one loop over the nodes, with a stack of the open elements. */
#include "page_walk.h"

#include <stdlib.h>
#include <string.h>

#include "page_hints.h"
#include "page_meaning.h"
#include "page_source.h"

static void break_for(page_walk *w, const page_element *element)
{
    if (element->layout == PAGE_BLOCK)
        page_text_break_line(&w->text);
    else if (element->layout == PAGE_CELL)
        page_text_break_cell(&w->text);
}

/* Note a block; its text begins behind what was written so far, and the line end that is due. */
static void open_block(page_walk *w, const open_element *open)
{
    const int32_t hints = open->element.is_always_shown ? 0 : page_hints_of_element(w->tree, open->node);
    const page_block block = {.parent = w->block,
                              .flags = (int32_t)open->element.flags,
                              .hints = hints,
                              .start = (int32_t)w->text.length + (w->text.length > 0),
                              .link_chars = w->link_chars};
    if (qix_bytes_add(&w->blocks, &block, sizeof block))
        w->block = (int32_t)(w->blocks.used / sizeof block) - 1;
    else
        w->text.has_failed = true;
}

/* End a block; one without text is forgotten. */
static void close_block(page_walk *w, const open_element *open)
{
    page_block *const block = (page_block *)w->blocks.data + w->block;
    block->end = (int32_t)w->text.length;
    block->link_chars = open->anchor == PAGE_NONE ? w->link_chars - block->link_chars : block->end - block->start;
    if (block->end <= block->start)
        w->blocks.used -= sizeof *block;
    w->block = open->block;
}

static void enter(page_walk *w, open_element *open)
{
    const page_element *const element = &open->element;
    open->flags = w->flags;
    open->is_muted = w->is_muted;
    open->anchor = w->anchor;
    open->range = PAGE_NONE;
    open->block = w->block;
    break_for(w, element);
    if (element->layout == PAGE_BLOCK && !w->is_muted)
        open_block(w, open);
    if (element->role != PAGE_NO_ROLE)
        page_act(w, open->node, element->role);
    w->flags = open->flags | element->flags;
    if (element->marker < 0 || w->is_muted || w->marker_count >= w->rules->markers_max)
        return;
    w->marker_count++;
    open->range = (int32_t)page_text_open(&w->text, element->marker);
    page_link *const anchor = page_items_link(&w->items, open->anchor);
    if (anchor && element->is_headline)
        anchor->has_headline = 1;
}

static void close_anchor(page_walk *w, const open_element *open)
{
    const page_link *const link = w->anchor == open->anchor ? NULL : page_items_link(&w->items, w->anchor);
    if (link && link->start != PAGE_NONE) {
        page_text_close(&w->text, (uint32_t)link->start);
        w->link_chars += page_text_chars(&w->text, (uint32_t)link->start);
    }
    w->anchor = open->anchor;
}

static void leave(page_walk *w, const open_element *open)
{
    const uint8_t role = open->element.role;
    w->flags = open->flags;
    w->is_muted = open->is_muted;
    if (open->range != PAGE_NONE)
        page_text_close(&w->text, (uint32_t)open->range);
    if (role == PAGE_ANCHOR) {
        close_anchor(w, open);
    } else if (role == PAGE_PREFORMATTED) {
        page_text_break_line(&w->text);
        w->text.preformatted--;
    } else if (role == PAGE_FOREIGN) {
        w->foreign--;
    }
    break_for(w, &open->element);
    if (w->block != open->block)
        close_block(w, open);
}

static bool pop(page_walk *w, open_element *ret_open)
{
    if (w->open.used == 0)
        return false;
    w->open.used -= sizeof *ret_open;
    memcpy(ret_open, w->open.data + w->open.used, sizeof *ret_open);
    return true;
}

/* Read one element up to its children; gives the child to go on with, NULL if there is none to be walked. */
static void *read_element(page_walk *w, void *node, uintptr_t tag)
{
    open_element open = {.node = node, .element = page_meaning_of(w->tree, w->rules, node, tag)};
    void *child = w->tree->first_child(node);
    enter(w, &open);
    if (!child || page_is_leaf(open.element.role)) {
        leave(w, &open);
        return NULL;
    }
    if (w->open.used / sizeof open >= w->rules->depth_max) {
        w->full |= PAGE_FULL_DEPTH;
        page_read_flat(w, child);
        leave(w, &open);
        return NULL;
    }
    if (qix_bytes_add(&w->open, &open, sizeof open))
        return child;
    w->text.has_failed = true;
    return NULL;
}

static void walk_all(page_walk *w, void *node)
{
    open_element open;
    uint32_t left = w->rules->nodes_max;
    for (; left > 0; left--) {
        const uintptr_t tag = w->tree->tag(node);
        void *following = NULL;
        if (tag == w->rules->text_tag)
            page_add_text(w, node);
        else
            following = read_element(w, node, tag);
        if (!following)
            following = w->tree->next(node);
        while (!following && pop(w, &open)) {
            leave(w, &open);
            following = w->tree->next(open.node);
        }
        if (!following)
            break;
        node = following;
    }
    if (left == 0)
        w->full |= PAGE_FULL_NODES;
    while (pop(w, &open))
        leave(w, &open);
}

static void reset(page_walk *w, const page_tree *tree, const page_rules *rules)
{
    page_text_reset(&w->text, rules->chars_max);
    page_items_reset(&w->items);
    w->open.used = 0;
    w->tree = tree;
    w->rules = rules;
    w->full = w->flags = w->foreign = w->marker_count = 0;
    w->anchor = w->block = PAGE_NONE;
    w->link_chars = 0;
    w->blocks.used = w->found.used = 0;
    w->is_muted = w->has_title = false;
    memset(w->counts, 0, sizeof w->counts);
}

/* Put the ends of their texts into the links, which held the numbers of the ranges. */
static void place_links(page_walk *w)
{
    page_link *const links = (page_link *)w->items.links.data;
    const page_range *const ranges = (const page_range *)w->text.ranges.data;
    const size_t range_count = w->text.ranges.used / sizeof *ranges;
    for (size_t i = 0; i < w->items.links.used / sizeof *links; i++) {
        const int32_t range = links[i].start;
        const bool has_text = range != PAGE_NONE && (size_t)range < range_count;
        links[i].end = has_text ? ranges[range].end : PAGE_NONE;
        links[i].start = has_text ? ranges[range].start : PAGE_NONE;
    }
}

/* Keep the ranges of markers alone; gives their number. */
static size_t keep_markers(page_walk *w)
{
    page_range *const ranges = (page_range *)w->text.ranges.data;
    size_t kept = 0;
    for (size_t i = 0; i < w->text.ranges.used / sizeof *ranges; i++)
        if (ranges[i].kind >= 0)
            ranges[kept++] = ranges[i];
    return kept;
}

static void give(page_walk *w, page_result *ret_result)
{
    *ret_result = (page_result){
        .text = w->text.out.data,
        .text_bytes = w->text.out.used,
        .strings = w->items.strings.data,
        .string_bytes = w->items.strings.used,
        .markers = (const page_range *)w->text.ranges.data,
        .marker_count = keep_markers(w),
        .items = (const page_item *)w->items.items.data,
        .item_count = w->items.items.used / sizeof(page_item),
        .links = (const page_link *)w->items.links.data,
        .link_count = w->items.links.used / sizeof(page_link),
        .attributes = (const page_attribute *)w->items.attributes.data,
        .attribute_count = w->items.attributes.used / sizeof(page_attribute),
        .blocks = (const page_block *)w->blocks.data,
        .block_count = w->blocks.used / sizeof(page_block),
        .found = (const page_range *)w->found.data,
        .found_count = w->found.used / sizeof(page_range),
        .full = w->full,
        .has_unwanted = page_has_unwanted(w->text.out.data, w->text.out.used, '\n'),
    };
}

static bool find_main(page_walk *w)
{
    const size_t count = w->blocks.used / sizeof(page_block);
    size_t found = 0;
    if (count == 0)
        return true;
    if (!qix_bytes_reserve(&w->found, 2 * count * sizeof(page_range)) ||
        page_find_main(w->text.out.data, w->text.out.used, (const page_block *)w->blocks.data, count, &w->rules->kinds,
                       (page_range *)w->found.data, &found) != 0)
        return false;
    w->found.used = found * sizeof(page_range);
    return true;
}

page_walk *page_walk_new(void)
{
    return calloc(1, sizeof(page_walk));
}

void page_walk_free(page_walk *walk)
{
    if (!walk)
        return;
    page_text_free(&walk->text);
    page_items_free(&walk->items);
    qix_bytes_free(&walk->open);
    qix_bytes_free(&walk->flat);
    qix_bytes_free(&walk->blocks);
    qix_bytes_free(&walk->found);
    free(walk);
}

int page_walk_run(page_walk *walk, const page_tree *tree, const page_rules *rules, void *root, page_result *ret_result)
{
    reset(walk, tree, rules);
    if (tree->type(root) == PAGE_TYPE_ELEMENT)
        page_items_add(&walk->items, tree, rules, PAGE_ROOT, PAGE_NONE, root);
    walk_all(walk, root);
    page_text_break_line(&walk->text);
    if (walk->text.is_full)
        walk->full |= PAGE_FULL_TEXT;
    if (walk->text.has_failed || walk->items.has_failed || !find_main(walk))
        return -1;
    place_links(walk);
    give(walk, ret_result);
    return 0;
}
