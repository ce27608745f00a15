#include "page_meaning.h"

#include <stdbool.h>
#include <string.h>

#include "page_text.h"

static bool is_text(const uint8_t *data, size_t bytes, const char *wanted)
{
    return strlen(wanted) == bytes && memcmp(data, wanted, bytes) == 0;
}

static const page_element *by_name(const page_name *names, size_t count, const uint8_t *name, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (is_text(name, bytes, names[i].name))
            return &names[i].element;
    return NULL;
}

/* "display:none", with or without a blank. */
static bool is_hiding_style(const uint8_t *style, size_t bytes)
{
    for (size_t at = 0; at + 12 <= bytes; at++)
        if (style[at] == 'd' && memcmp(style + at, "display:", 8) == 0 &&
            (memcmp(style + at + 8, "none", 4) == 0 || (at + 13 <= bytes && memcmp(style + at + 8, " none", 5) == 0)))
            return true;
    return false;
}

/* The landmark that a role attribute names; NULL for another role. */
static const page_element *landmark_of(const page_rules *rules, const uint8_t *role, size_t bytes)
{
    uint8_t lower[32];
    size_t used = 0;
    for (size_t space; (space = page_space(role, bytes)) > 0; bytes -= space)
        role += space;
    for (; used < bytes && page_space(role + used, bytes - used) == 0; used++) {
        if (used == sizeof lower)
            return NULL;
        lower[used] = role[used] >= 'A' && role[used] <= 'Z' ? (uint8_t)(role[used] | 0x20) : role[used];
    }
    if (!page_is_blank(role + used, bytes - used))
        return NULL;
    return by_name(rules->landmarks, rules->landmark_count, lower, used);
}

/* Whether an attribute hides its element. */
static bool is_hiding(const uint8_t *name, size_t name_bytes, const uint8_t *value, size_t bytes)
{
    if (is_text(name, name_bytes, "hidden"))
        return !value || !is_text(value, bytes, "until-found");
    return value && is_text(name, name_bytes, "style") && is_hiding_style(value, bytes);
}

page_element page_meaning_of(const page_tree *tree, const page_rules *rules, void *node, uintptr_t tag)
{
    static const page_element nothing = {.marker = -1};
    const page_element *element = &nothing;
    if (tree->type(node) != PAGE_TYPE_ELEMENT)
        return nothing;
    if (tag < rules->element_count) {
        if (rules->elements[tag].is_known)
            element = &rules->elements[tag];
    } else {
        size_t bytes = 0;
        const uint8_t *const name = tree->name(node, &bytes);
        const page_element *const named = name ? by_name(rules->names, rules->name_count, name, bytes) : NULL;
        if (named)
            element = named;
    }
    const page_element *meaning = element;
    for (void *at = tree->first_attribute(node); at; at = tree->next_attribute(at)) {
        size_t name_bytes = 0;
        const uint8_t *const name = tree->attribute_name(at, &name_bytes);
        if (!name || name_bytes < 4 || name_bytes > 6) /* role, style, hidden */
            continue;
        size_t bytes = 0;
        const uint8_t *const value = tree->attribute_value(at, &bytes);
        if (element->may_take_role && value && is_text(name, name_bytes, "role")) {
            const page_element *const landmark = landmark_of(rules, value, bytes);
            if (landmark)
                return *landmark; /* a hidden one too */
        } else if (!element->is_always_shown && is_hiding(name, name_bytes, value, bytes)) {
            meaning = &rules->muted;
        }
    }
    return *meaning;
}
