/* page_api.h has no include guard and no includes, because cffi reads it; C includes it from here. */
#ifndef PAGE_GUARD_H
#define PAGE_GUARD_H

#include <stddef.h>
#include <stdint.h>

#include "page_api.h"

#endif
