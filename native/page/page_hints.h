/* Names that authors give their elements. */
#ifndef PAGE_HINTS_H
#define PAGE_HINTS_H

#include "page_tree.h"

/* What class, id and itemprop of an element say together: a set of PAGE_HINT_... */
int32_t page_hints_of_element(const page_tree *tree, void *element);

#endif
