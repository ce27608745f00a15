#include "page_meaning.h"

#include <stdbool.h>
#include <string.h>

#include "page_items.h"
#include "page_text.h"

static bool is_hidden(const page_tree *tree, uint32_t hints, void *node)
{
    size_t bytes = 0;
    if ((hints & PAGE_HAS_HIDDEN) != 0) {
        const uint8_t *const hidden = page_attribute_of(tree, node, "hidden", &bytes);
        if (hidden && !(bytes == 11 && memcmp(hidden, "until-found", 11) == 0))
            return true;
    }
    if ((hints & PAGE_HAS_STYLES) == 0)
        return false;
    const uint8_t *const style = page_attribute_of(tree, node, "style", &bytes);
    for (size_t at = 0; style && at + 12 <= bytes; at++)
        if (memcmp(style + at, "display:", 8) == 0 &&
            (memcmp(style + at + 8, "none", 4) == 0 || (at + 13 <= bytes && memcmp(style + at + 8, " none", 5) == 0)))
            return true;
    return false;
}

static const page_element *by_name(const page_name *names, size_t count, const uint8_t *name, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i].name) == bytes && memcmp(names[i].name, name, bytes) == 0)
            return &names[i].element;
    return NULL;
}

/* The landmark that a role attribute names; NULL for another role, or none. */
static const page_element *landmark_of(const page_tree *tree, const page_rules *rules, void *node)
{
    uint8_t lower[32];
    size_t bytes = 0;
    const uint8_t *role = page_attribute_of(tree, node, "role", &bytes);
    if (!role)
        return NULL;
    for (size_t space; (space = page_space(role, bytes)) > 0; bytes -= space)
        role += space;
    size_t used = 0;
    for (; used < bytes && page_space(role + used, bytes - used) == 0; used++) {
        if (used == sizeof lower)
            return NULL;
        lower[used] = role[used] >= 'A' && role[used] <= 'Z' ? (uint8_t)(role[used] | 0x20) : role[used];
    }
    if (!page_is_blank(role + used, bytes - used))
        return NULL;
    return by_name(rules->landmarks, rules->landmark_count, lower, used);
}

static const page_element nothing = {.marker = -1};

page_element page_meaning_of(const page_tree *tree, const page_rules *rules, uint32_t hints, void *node, uintptr_t tag)
{
    const page_element *found = &nothing;
    const bool is_numbered = tag < rules->element_count;
    if (is_numbered && rules->elements[tag].is_known)
        found = &rules->elements[tag];
    if ((is_numbered && hints == 0) || tree->type(node) != PAGE_TYPE_ELEMENT)
        return *found;
    if (!is_numbered) {
        size_t bytes = 0;
        const uint8_t *const name = tree->name(node, &bytes);
        const page_element *const named = name ? by_name(rules->names, rules->name_count, name, bytes) : NULL;
        found = named ? named : found;
    }
    const page_element *meaning = found;
    if ((hints & (PAGE_HAS_HIDDEN | PAGE_HAS_STYLES)) != 0 && !found->is_always_shown && is_hidden(tree, hints, node))
        meaning = &rules->muted;
    if ((hints & PAGE_HAS_ROLES) != 0 && found->may_take_role) {
        const page_element *const landmark = landmark_of(tree, rules, node);
        meaning = landmark ? landmark : meaning;
    }
    return *meaning;
}
