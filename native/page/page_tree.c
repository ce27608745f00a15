/* dlopen's RTLD_NOLOAD is no part of POSIX. */
#define _GNU_SOURCE
#include "page_tree.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* C has no cast from what dlsym gives to a function; POSIX says that the bits are the same. */
static bool find(void *library, const char *name, void *ret_function)
{
    void *symbol = dlsym(library, name);
    memcpy(ret_function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(void *library, page_tree *tree)
{
    return find(library, "lxb_dom_node_first_child_noi", &tree->first_child) &&
           find(library, "lxb_dom_node_next_noi", &tree->next) &&
           find(library, "lxb_dom_node_tag_id_noi", &tree->tag) &&
           find(library, "lxb_dom_node_type_noi", &tree->type) &&
           find(library, "lxb_dom_node_text_content", &tree->text) &&
           find(library, "lxb_dom_element_qualified_name", &tree->name) &&
           find(library, "lxb_dom_element_first_attribute_noi", &tree->first_attribute) &&
           find(library, "lxb_dom_element_next_attribute_noi", &tree->next_attribute) &&
           find(library, "lxb_dom_attr_qualified_name", &tree->attribute_name) &&
           find(library, "lxb_dom_attr_value_noi", &tree->attribute_value);
}

page_tree *page_tree_of_library(const char *path)
{
    /* The library stays loaded for as long as the process lives: Python unloads no extension. */
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    page_tree *tree = library ? malloc(sizeof *tree) : NULL;
    if (tree && !find_all(library, tree)) {
        free(tree);
        tree = NULL;
    }
    return tree;
}

void page_tree_free(page_tree *tree)
{
    free(tree);
}
