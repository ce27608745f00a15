#include "qix_status.h"

#include <stdio.h>

qix_status qix_fail(qix_fault *fault, qix_status status, uint64_t offset, const char *reason)
{
    if (fault) {
        fault->offset = offset;
        fault->part = 0;
        snprintf(fault->reason, sizeof fault->reason, "%s", reason);
    }
    return status;
}
