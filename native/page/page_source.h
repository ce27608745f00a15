/* Characters that a page must not hold; both loops are written so that the compiler can do many bytes at a time. */
#ifndef PAGE_SOURCE_H
#define PAGE_SOURCE_H

#include <stdbool.h>

#include "page_guard.h"

/* Whether there are control characters but tab, line feed and `allowed`, or U+FFFE or U+FFFF. */
bool page_has_unwanted(const uint8_t *data, size_t bytes, uint8_t allowed);

#endif
