/* Property: any tree gives a text and tables that agree with each other. Ranges lie within the text, in order; items
 * name ranges, strings and attributes that there are; no limit is exceeded; a second walk gives the same. The input is a
 * program that builds the tree: begin an element, end one, add a text or an attribute. */
#include <stdlib.h>
#include <string.h>

#include "page_tree.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())
#define NODES_MAX 4096u
#define TEXT_TAG 1u
/* Tags from here on have no number in the rules. */
#define TAG_COUNT 40u
#define CHARS_MAX 300u
#define LINKS_MAX 20u

/* A node or an attribute; strings point into the input. */
typedef struct fuzz_node {
    struct fuzz_node *first, *last, *next, *parent, *attributes;
    uintptr_t tag;
    const uint8_t *name, *value;
    size_t name_bytes, value_bytes;
} fuzz_node;

static void *first_child(void *node)
{
    return ((fuzz_node *)node)->first;
}

static void *next(void *node)
{
    return ((fuzz_node *)node)->next;
}

static uintptr_t tag(void *node)
{
    return ((fuzz_node *)node)->tag;
}

static int type(void *node)
{
    return ((fuzz_node *)node)->tag == TEXT_TAG ? 3 : PAGE_TYPE_ELEMENT;
}

static uint8_t *text(void *node, size_t *ret_bytes)
{
    *ret_bytes = ((fuzz_node *)node)->value_bytes;
    return (uint8_t *)(uintptr_t)((fuzz_node *)node)->value;
}

static const uint8_t *name(void *node, size_t *ret_bytes)
{
    *ret_bytes = ((fuzz_node *)node)->name_bytes;
    return ((fuzz_node *)node)->name;
}

static void *attributes(void *node)
{
    return ((fuzz_node *)node)->attributes;
}

static const uint8_t *value(void *node, size_t *ret_bytes)
{
    *ret_bytes = ((fuzz_node *)node)->value_bytes;
    return ((fuzz_node *)node)->value_bytes == 1 ? NULL : ((fuzz_node *)node)->value;
}

static const page_tree tree = {first_child, next, tag, text, name, attributes, next, name, value, type};
static const char *const names[] = {"href", "role", "hidden", "style", "src", "srcset", "alt", "open", "title"};
#define NAME_COUNT (sizeof names / sizeof *names)

/* One element for every role, layout and kind of marker. */
static page_element element_of(uintptr_t number)
{
    return (page_element){
        .is_known = number % 5 != 0,
        .layout = (uint8_t)(number % 3),
        .role = (uint8_t)(number % PAGE_ROOT),
        .is_headline = number % 7 == 0,
        .may_take_role = number % 2 == 0,
        .is_always_shown = number % 11 == 0,
        .marker = (int16_t)(number % 4 == 0 ? number : -1),
        .flags = 1u << number % 16,
    };
}

static size_t take_length(const uint8_t **data, size_t *left)
{
    if (*left == 0)
        return 0;
    const size_t wanted = *(*data)++;
    (*left)--;
    return wanted < *left ? wanted : *left;
}

static void append(fuzz_node *parent, fuzz_node *node)
{
    node->parent = parent;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
}

static void build(fuzz_node *nodes, const uint8_t *data, size_t left)
{
    fuzz_node *at = nodes; /* the root, of a tag that means nothing */
    for (size_t used = 1; left > 0 && used < NODES_MAX; used++) {
        fuzz_node *const node = nodes + used;
        const uint8_t step = *data++;
        left--;
        if (step % 4 == 0 && at->parent) {
            at = at->parent;
        } else if (step % 4 == 1) {
            node->tag = 2u + step / 4 % (TAG_COUNT + 2u);
            node->name = (const uint8_t *)"named";
            node->name_bytes = step > 128 ? 5 : 4;
            append(at, node);
            at = node;
        } else {
            node->value_bytes = take_length(&data, &left);
            node->value = data;
            data += node->value_bytes;
            left -= node->value_bytes;
            if (step % 4 == 2) {
                node->tag = TEXT_TAG;
                append(at, node);
            } else {
                node->name = (const uint8_t *)names[step / 4 % NAME_COUNT];
                node->name_bytes = strlen(names[step / 4 % NAME_COUNT]);
                node->next = at->attributes;
                at->attributes = node;
            }
        }
    }
}

static size_t count_chars(const uint8_t *data, size_t bytes)
{
    size_t chars = 0;
    for (size_t i = 0; i < bytes; i++)
        chars += (data[i] & 0xc0u) != 0x80u;
    return chars;
}

static void check(const page_result *result)
{
    int32_t string_count = 0;
    const size_t chars = count_chars(result->text, result->text_bytes);
    CHECK(chars <= CHARS_MAX + 1u); /* a separator may stand last */
    for (size_t i = 0; i < result->string_bytes; i++)
        string_count += result->strings[i] == 0;
    CHECK(result->string_bytes == 0 || result->strings[result->string_bytes - 1] == 0);
    for (size_t i = 0; i < result->marker_count; i++) {
        const page_range range = result->markers[i];
        CHECK(range.kind >= 0);
        CHECK(range.start == -1 || (range.start <= range.end && (size_t)range.end <= CHARS_MAX + 1u));
    }
    for (size_t i = 0; i < result->item_count; i++) {
        const page_item item = result->items[i];
        CHECK(item.text >= -1 && item.text < string_count);
        CHECK(item.attribute_start >= 0 && item.attribute_count >= 0);
        CHECK((size_t)item.attribute_start + (size_t)item.attribute_count <= result->attribute_count);
    }
    CHECK(result->link_count <= LINKS_MAX);
    for (size_t i = 0; i < result->link_count; i++) {
        const page_link link = result->links[i];
        CHECK(link.start == -1 || (link.start <= link.end && (size_t)link.end <= CHARS_MAX + 1u));
        CHECK(link.target >= 0 && link.target < string_count);
        CHECK(link.text >= -1 && link.text < string_count && link.alt >= -1 && link.alt < string_count);
        CHECK(link.attribute_start >= 0 && link.attribute_count >= 0);
        CHECK((size_t)link.attribute_start + (size_t)link.attribute_count <= result->attribute_count);
    }
    for (size_t i = 0; i < result->attribute_count; i++) {
        CHECK(result->attributes[i].name >= 0 && result->attributes[i].name < (int32_t)NAME_COUNT);
        CHECK(result->attributes[i].value >= -1 && result->attributes[i].value < string_count);
    }
}

static uint8_t *copy(const uint8_t *data, size_t bytes)
{
    uint8_t *const bytes_again = malloc(bytes + 1);
    CHECK(bytes_again != NULL);
    if (bytes > 0)
        memcpy(bytes_again, data, bytes);
    return bytes_again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    page_element elements[TAG_COUNT];
    for (uintptr_t i = 0; i < TAG_COUNT; i++)
        elements[i] = element_of(i);
    const page_name named[] = {{"named", element_of(12)}, {"main", element_of(8)}};
    const page_rules rules = {
        .elements = elements,
        .element_count = TAG_COUNT,
        .names = named,
        .name_count = 2,
        .landmarks = named,
        .landmark_count = 2,
        .attributes = names,
        .attribute_count = NAME_COUNT,
        .muted = element_of(PAGE_MUTED),
        .headline_flag = 2,
        .text_tag = TEXT_TAG,
        .depth_max = 12,
        .nodes_max = 500,
        .chars_max = CHARS_MAX,
        .label_chars_max = 16,
        .markers_max = 30,
        .links_max = LINKS_MAX,
        .images_max = 10,
        .head_max = 5,
        .times_max = 3,
    };
    fuzz_node *const nodes = calloc(NODES_MAX, sizeof *nodes);
    page_walk *const walk = page_walk_new();
    uint8_t *const input = copy(data, size); /* so that reading one byte too far is seen */
    page_result first, second;
    CHECK(nodes != NULL && walk != NULL);
    build(nodes, input, size);
    CHECK(page_walk_run(walk, &tree, &rules, nodes, &first) == 0);
    check(&first);
    const size_t text_bytes = first.text_bytes;
    uint8_t *const kept = copy(first.text, text_bytes);
    CHECK(page_walk_run(walk, &tree, &rules, nodes, &second) == 0);
    CHECK(second.text_bytes == text_bytes && (text_bytes == 0 || memcmp(second.text, kept, text_bytes) == 0));
    CHECK(second.full == first.full && second.item_count == first.item_count && second.link_count == first.link_count);
    free(kept);
    free(input);
    page_walk_free(walk);
    free(nodes);
    return 0;
}
