/* The API's types for C, and how a failure is written down. */
#ifndef QIX_STATUS_H
#define QIX_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "qix_api_guard.h"

/* Fill in a fault and return `status`, so that a check is one line. `fault` may be NULL. */
qix_status qix_fail(qix_fault *fault, qix_status status, uint64_t offset, const char *reason);

static inline qix_status qix_corrupt(qix_fault *fault, uint64_t offset, const char *reason)
{
    return qix_fail(fault, QIX_ERR_CORRUPT, offset, reason);
}

static inline qix_status qix_no_memory(qix_fault *fault)
{
    return qix_fail(fault, QIX_ERR_MEMORY, 0, "out of memory");
}

#endif
