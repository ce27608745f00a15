/* What an element means on its page: by its tag, or its name, unless an attribute hides it or gives it a role. */
#ifndef PAGE_MEANING_H
#define PAGE_MEANING_H

#include "page_tree.h"

/* The meaning of a node that is no text; all zero, with marker -1, for one that has none. */
page_element page_meaning_of(const page_tree *tree, const page_rules *rules, void *node, uintptr_t tag);

#endif
