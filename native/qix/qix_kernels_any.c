/* The inner loops for any machine. */
#define QIX_TARGET
#define QIX_KERNELS_OF qix_kernels_any
#define QIX_KERNELS_NAME "any"
#include "qix_kernels_of.h"
