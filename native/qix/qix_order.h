/* Sorting references to rows by a comparison that needs a context. */
#ifndef QIX_ORDER_H
#define QIX_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether reference a must not come after b. */
typedef bool (*qix_in_order_fn)(const void *context, uint64_t a, uint64_t b);

/* Sort `count` references, stable; `scratch` has room for as many. Linear where they are in order already. */
void qix_sort_refs(uint64_t *refs, uint64_t *scratch, uint64_t count, qix_in_order_fn in_order, const void *context);

#endif
