/* qix_api.h has no include guard and no includes, because cffi reads it; C includes it from here. */
#ifndef QIX_API_GUARD_H
#define QIX_API_GUARD_H

#include <stdint.h>

#include "qix_api.h"

#endif
