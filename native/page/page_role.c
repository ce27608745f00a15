#include <string.h>

#include "page_walk.h"

static void add_some(page_walk *w, void *node, enum page_role role, uint32_t max)
{
    if (w->counts[role]++ < max)
        page_items_add(&w->items, w->tree, w->rules, role, PAGE_NONE, node);
}

static uint32_t link_count(const page_walk *w)
{
    return w->counts[PAGE_ANCHOR] + w->counts[PAGE_FRAME];
}

/* The value of an attribute, NULL without one; it may be empty. */
static const uint8_t *value_of(const page_walk *w, void *node, const char *name, size_t *ret_bytes)
{
    void *const attribute = page_attribute_of(w->tree, node, name);
    return attribute ? w->tree->attribute_value(attribute, ret_bytes) : NULL;
}

static bool has_text(const page_walk *w, void *node, const char *name)
{
    size_t bytes = 0;
    return value_of(w, node, name, &bytes) && bytes > 0;
}

static int32_t add_link(page_walk *w, void *node, enum page_role role, int32_t range, int32_t text)
{
    const page_link link = {.flags = (int32_t)w->flags, .start = range, .text = text, .alt = PAGE_NONE};
    w->counts[role]++;
    return page_items_add_link(&w->items, w->tree, w->rules, &link, role == PAGE_FRAME ? "src" : "href", node);
}

static void open_anchor(page_walk *w, void *node)
{
    size_t bytes = 0;
    if (!value_of(w, node, "href", &bytes))
        return;
    if (link_count(w) >= w->rules->links_max) {
        w->full |= PAGE_FULL_LINKS;
        return;
    }
    int32_t range = PAGE_NONE;
    int32_t label = PAGE_NONE;
    if (w->is_muted)
        /* Menus are hidden until someone points at them; their words still name the target. Four bytes hold any
         * character. */
        label = page_items_text(&w->items, w->tree, w->rules, node, ' ', (size_t)w->rules->label_chars_max * 4);
    else
        range = (int32_t)page_text_open(&w->text, PAGE_NONE);
    w->anchor = add_link(w, node, PAGE_ANCHOR, range, label);
    page_link *const link = page_items_link(&w->items, w->anchor);
    if (link && (w->flags & w->rules->headline_flag) != 0)
        link->has_headline = 1;
}

/* Give the link around a picture the picture's words, if it is the first with any. */
static void take_alt(page_walk *w, void *node)
{
    page_link *const link = page_items_link(&w->items, w->anchor);
    size_t bytes = 0;
    if (!link || link->alt != PAGE_NONE)
        return;
    const uint8_t *const alt = value_of(w, node, "alt", &bytes);
    if (alt && !page_is_blank(alt, page_prefix(alt, bytes, w->rules->label_chars_max)))
        link->alt = page_items_string(&w->items, alt, bytes);
}

static void take_image(page_walk *w, void *node, enum page_role role)
{
    take_alt(w, node);
    if (role == PAGE_SOURCE && !has_text(w, node, "srcset"))
        return; /* of audio or video */
    add_some(w, node, PAGE_IMAGE, w->rules->images_max);
}

static void take_title(page_walk *w, void *node)
{
    if (w->has_title || w->foreign > 0)
        return;
    w->has_title = true;
    const int32_t text = page_items_text(&w->items, w->tree, w->rules, node, 0, w->rules->chars_max);
    page_items_add(&w->items, w->tree, w->rules, PAGE_TITLE, text, node);
}

void page_act(page_walk *w, void *node, enum page_role role)
{
    switch (role) {
    case PAGE_ANCHOR:
        open_anchor(w, node);
        break;
    case PAGE_FRAME:
        if (link_count(w) < w->rules->links_max && has_text(w, node, "src"))
            add_link(w, node, PAGE_FRAME, PAGE_NONE, PAGE_NONE);
        break;
    case PAGE_IMAGE:
    case PAGE_SOURCE:
        take_image(w, node, role);
        break;
    case PAGE_META:
    case PAGE_LINK:
    case PAGE_BASE:
        add_some(w, node, role, w->rules->head_max);
        break;
    case PAGE_TIME:
        add_some(w, node, role, w->rules->times_max);
        break;
    case PAGE_TITLE:
        take_title(w, node);
        break;
    case PAGE_LINE_BREAK:
        page_text_break_line(&w->text);
        break;
    case PAGE_PREFORMATTED:
        w->text.preformatted++;
        break;
    case PAGE_DIALOG:
        if (!page_attribute_of(w->tree, node, "open"))
            w->is_muted = true;
        break;
    case PAGE_MUTED:
        w->is_muted = true;
        break;
    case PAGE_FOREIGN:
        w->foreign++;
        break;
    default:
        break;
    }
}
