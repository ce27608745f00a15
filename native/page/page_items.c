#include "page_items.h"

#include <string.h>

void page_items_free(page_items *items)
{
    qix_bytes_free(&items->items);
    qix_bytes_free(&items->links);
    qix_bytes_free(&items->attributes);
    qix_bytes_free(&items->strings);
}

void page_items_reset(page_items *items)
{
    items->items.used = items->links.used = items->attributes.used = items->strings.used = 0;
    items->string_count = 0;
    items->has_failed = false;
}

static void add(page_items *items, qix_bytes *to, const void *data, size_t bytes)
{
    if (!qix_bytes_add(to, data, bytes))
        items->has_failed = true;
}

static int32_t end_string(page_items *items)
{
    add(items, &items->strings, "", 1);
    return items->string_count++;
}

int32_t page_items_string(page_items *items, const uint8_t *data, size_t bytes)
{
    const uint8_t *const zero = bytes > 0 ? memchr(data, 0, bytes) : NULL;
    add(items, &items->strings, data, zero ? (size_t)(zero - data) : bytes);
    return end_string(items);
}

/* The node after `node` in tree order below `top`, whose ancestors are on the stack; NULL at the end. */
static void *next_below(const page_tree *tree, qix_bytes *stack, void *node)
{
    void *found = tree->first_child(node);
    if (found && qix_bytes_add(stack, &node, sizeof node))
        return found;
    found = tree->next(node);
    while (!found && stack->used > sizeof node) {
        stack->used -= sizeof node;
        memcpy(&node, stack->data + stack->used, sizeof node);
        found = tree->next(node);
    }
    return found;
}

int32_t page_items_text(page_items *items, const page_tree *tree, const page_rules *rules, void *node, char separator,
                        size_t bytes_max)
{
    const size_t start = items->strings.used;
    qix_bytes stack = {0};
    bool is_first = true;
    void *at = tree->first_child(node);
    add(items, &stack, &node, sizeof node);
    for (uint32_t i = 0; at && i < rules->nodes_max && items->strings.used - start < bytes_max; i++) {
        size_t bytes = 0;
        const uint8_t *const text = tree->tag(at) == rules->text_tag ? tree->text(at, &bytes) : NULL;
        if (text) {
            if (separator != 0 && !is_first)
                add(items, &items->strings, &separator, 1);
            is_first = false;
            const uint8_t *const zero = bytes > 0 ? memchr(text, 0, bytes) : NULL;
            add(items, &items->strings, text, zero ? (size_t)(zero - text) : bytes);
        }
        at = next_below(tree, &stack, at);
    }
    qix_bytes_free(&stack);
    return end_string(items);
}

static bool is_named(const uint8_t *name, size_t bytes, const char *wanted)
{
    return bytes > 0 && name[0] == (uint8_t)wanted[0] && strncmp(wanted, (const char *)name, bytes) == 0 &&
           wanted[bytes] == 0;
}

static int32_t number_of(const page_rules *rules, const uint8_t *name, size_t bytes)
{
    for (size_t i = 0; i < rules->attribute_count; i++)
        if (is_named(name, bytes, rules->attributes[i]))
            return (int32_t)i;
    return PAGE_NONE;
}

/* Bytes of a reference without its fragment. White space before "#" is trimmed only where nothing follows, so such a
 * one is left as it is. */
static size_t target_bytes(const uint8_t *value, size_t bytes)
{
    const uint8_t *const mark = bytes > 0 ? memchr(value, '#', bytes) : NULL;
    return mark && (mark == value || mark[-1] > 0x20) ? (size_t)(mark - value) : bytes;
}

/* Add the attributes that the rules name, but for `target`, whose value becomes a string of its own: gives its number,
 * PAGE_NONE without one. */
static int32_t add_attributes(page_items *items, const page_tree *tree, const page_rules *rules, void *element,
                              const char *target)
{
    int32_t target_string = PAGE_NONE;
    for (void *at = tree->first_attribute(element); at; at = tree->next_attribute(at)) {
        size_t bytes = 0;
        const uint8_t *const name = tree->attribute_name(at, &bytes);
        const int32_t number = name ? number_of(rules, name, bytes) : PAGE_NONE;
        if (number == PAGE_NONE)
            continue;
        size_t value_bytes = 0;
        const uint8_t *const value = tree->attribute_value(at, &value_bytes);
        if (target && value && target_string == PAGE_NONE && strcmp(rules->attributes[number], target) == 0) {
            target_string = page_items_string(items, value, target_bytes(value, value_bytes));
            continue;
        }
        const page_attribute row = {number, value ? page_items_string(items, value, value_bytes) : PAGE_NONE};
        add(items, &items->attributes, &row, sizeof row);
    }
    return target_string;
}

static int32_t count_of(const page_items *items)
{
    return (int32_t)(items->attributes.used / sizeof(page_attribute));
}

void page_items_add(page_items *items, const page_tree *tree, const page_rules *rules, enum page_role role,
                    int32_t text, void *element)
{
    page_item row = {.role = (int32_t)role, .text = text, .attribute_start = count_of(items)};
    add_attributes(items, tree, rules, element, NULL);
    row.attribute_count = count_of(items) - row.attribute_start;
    add(items, &items->items, &row, sizeof row);
}

int32_t page_items_add_link(page_items *items, const page_tree *tree, const page_rules *rules, const page_link *link,
                            const char *target, void *element)
{
    page_link row = *link;
    row.attribute_start = count_of(items);
    row.target = add_attributes(items, tree, rules, element, target);
    row.attribute_count = count_of(items) - row.attribute_start;
    add(items, &items->links, &row, sizeof row);
    return (int32_t)(items->links.used / sizeof row) - 1;
}

page_link *page_items_link(page_items *items, int32_t number)
{
    page_link *const rows = (page_link *)items->links.data;
    return number != PAGE_NONE && (size_t)number < items->links.used / sizeof *rows ? rows + number : NULL;
}

void *page_attribute_of(const page_tree *tree, void *element, const char *name)
{
    for (void *at = tree->first_attribute(element); at; at = tree->next_attribute(at)) {
        size_t bytes = 0;
        const uint8_t *const found = tree->attribute_name(at, &bytes);
        if (found && is_named(found, bytes, name))
            return at;
    }
    return NULL;
}
