#include "qix_kernels.h"

#include <stddef.h>

#include "qix_api_guard.h"

_Atomic(const qix_kernel_table *) qix_kernels_picked;

void qix_use_portable(uint32_t yes)
{
    atomic_store_explicit(&qix_kernels_picked, yes ? &qix_kernels_any : NULL, memory_order_release);
}

const qix_kernel_table *qix_kernels_pick(void)
{
    const qix_kernel_table *table = &qix_kernels_any;
#ifdef QIX_WITH_AVX2
    if (__builtin_cpu_supports("avx2"))
        table = &qix_kernels_avx2;
#endif
    atomic_store_explicit(&qix_kernels_picked, table, memory_order_release);
    return table;
}
