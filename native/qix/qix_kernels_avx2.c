/* The inner loops for x86-64 with AVX2; never run without (qix_kernels.c). */
#include "qix_kernels.h"

#ifdef QIX_WITH_AVX2
#include <immintrin.h>

#define QIX_KERNELS_AVX2
#define QIX_TARGET __attribute__((target("avx2")))
#define QIX_KERNELS_OF qix_kernels_avx2
#define QIX_KERNELS_NAME "avx2"
#include "qix_kernels_of.h"
#endif
