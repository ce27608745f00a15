#include <string.h>

#include "page_walk.h"

int32_t page_add_item(page_walk *w, void *node, enum page_role role, int32_t range, int32_t text)
{
    const page_item item = {
        .role = (int32_t)role, .flags = (int32_t)w->flags, .range = range, .text = text, .alt = PAGE_NONE};
    w->counts[role]++;
    return page_items_add(&w->items, w->tree, w->rules, &item, node);
}

static void add_some(page_walk *w, void *node, enum page_role role, uint32_t max)
{
    if (w->counts[role] < max)
        page_add_item(w, node, role, PAGE_NONE, PAGE_NONE);
}

static uint32_t link_count(const page_walk *w)
{
    return w->counts[PAGE_ANCHOR] + w->counts[PAGE_FRAME];
}

static bool has_value(const page_walk *w, void *node, const char *name)
{
    size_t bytes = 0;
    return page_attribute_of(w->tree, node, name, &bytes) && bytes > 0;
}

/* A link leads somewhere if its href has a value, which may be empty. */
static bool has_reference(const page_walk *w, void *node)
{
    for (void *at = w->tree->first_attribute(node); at; at = w->tree->next_attribute(at)) {
        size_t bytes = 0;
        const uint8_t *const name = w->tree->attribute_name(at, &bytes);
        if (name && bytes == 4 && memcmp(name, "href", 4) == 0)
            return w->tree->attribute_value(at, &bytes) != NULL;
    }
    return false;
}

static void open_anchor(page_walk *w, void *node)
{
    if (!has_reference(w, node))
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
    w->anchor = page_add_item(w, node, PAGE_ANCHOR, range, label);
    page_item *const item = page_item_of(w, w->anchor);
    if (item && (w->flags & w->rules->headline_flag) != 0)
        item->has_headline = 1;
}

/* Give the link around a picture the picture's words, if it is the first with any. */
static void take_alt(page_walk *w, void *node)
{
    page_item *const anchor = page_item_of(w, w->anchor);
    size_t bytes = 0;
    const uint8_t *alt = NULL;
    if (!anchor || anchor->alt != PAGE_NONE)
        return;
    alt = page_attribute_of(w->tree, node, "alt", &bytes);
    if (alt && !page_is_blank(alt, page_prefix(alt, bytes, w->rules->label_chars_max)))
        anchor->alt = page_items_string(&w->items, alt, bytes);
}

static void take_image(page_walk *w, void *node, enum page_role role)
{
    take_alt(w, node);
    if (role == PAGE_SOURCE && !has_value(w, node, "srcset"))
        return; /* of audio or video */
    if (w->counts[PAGE_IMAGE] < w->rules->images_max)
        page_add_item(w, node, PAGE_IMAGE, PAGE_NONE, PAGE_NONE);
}

static void take_title(page_walk *w, void *node)
{
    if (w->has_title || w->foreign > 0)
        return;
    w->has_title = true;
    page_add_item(w, node, PAGE_TITLE, PAGE_NONE,
                  page_items_text(&w->items, w->tree, w->rules, node, 0, w->rules->chars_max));
}

void page_act(page_walk *w, void *node, enum page_role role)
{
    size_t bytes = 0;
    switch (role) {
    case PAGE_ANCHOR:
        open_anchor(w, node);
        break;
    case PAGE_FRAME:
        if (link_count(w) < w->rules->links_max && has_value(w, node, "src"))
            page_add_item(w, node, PAGE_FRAME, PAGE_NONE, PAGE_NONE);
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
        if (!page_attribute_of(w->tree, node, "open", &bytes))
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
