/* What keeps a process alive when the file of a mapped segment loses its end.
 *
 * Whoever truncates a file that is mapped, or pulls its disk, makes the next look at the missing bytes a SIGBUS. A
 * handler (Linux only) puts pages of zeros where the guarded bytes were and marks the guard as torn; the reader goes on
 * over zeros, which it bounds-checks like any other bytes, and every function of the API asks its guards at its end, so
 * that nothing that was read from then on is given out. No jump leaves a frame: memory and locks of the call are as
 * after any other fault, whatever thread it runs in. A SIGBUS elsewhere goes to whom it went before. */
#ifndef QIX_GUARD_H
#define QIX_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct qix_guard {
    atomic_uintptr_t start, end;    /* of the guarded bytes; end 0: free */
    _Atomic(uint64_t) torn_at;      /* offset of the first byte that was missed, or QIX_GUARD_WHOLE */
    struct qix_guard *_Atomic next; /* guards are used again and never freed: the handler may be reading any */
} qix_guard;

#define QIX_GUARD_WHOLE UINT64_MAX

/* Guard bytes that were mapped by mmap. Bytes that do not begin on a page cannot be a mapping; they get a guard that is
 * never torn. NULL when memory ends. */
qix_guard *qix_guard_new(const uint8_t *data, uint64_t bytes);
/* Before the bytes are unmapped. `guard` may be NULL. */
void qix_guard_free(qix_guard *guard);

static inline uint64_t qix_guard_torn_at(const qix_guard *guard)
{
    return atomic_load_explicit(&guard->torn_at, memory_order_acquire);
}

#endif
