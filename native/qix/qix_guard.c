#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "qix_guard.h"

#include <stdlib.h>

static qix_guard *_Atomic guards;

#ifdef __linux__

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sigaction previous;
static uintptr_t page_bytes;

/* Put zeros from the page that is missing to the end of the mapping: a file loses its end, never its middle. Only what
 * may be called in a handler: loads, stores and the system call mmap. */
static bool mend(qix_guard *guard, uintptr_t at)
{
    uintptr_t end = atomic_load_explicit(&guard->end, memory_order_acquire);
    uintptr_t start = atomic_load_explicit(&guard->start, memory_order_relaxed);
    if (at < start || at >= end)
        return false;
    uintptr_t page = at & ~(page_bytes - 1), whole = (end + page_bytes - 1) & ~(page_bytes - 1);
    uint64_t none = QIX_GUARD_WHOLE;
    atomic_compare_exchange_strong(&guard->torn_at, &none, (uint64_t)(page - start));
    void *zeros = mmap((void *)page, whole - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return zeros != MAP_FAILED;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
    (void)context;
    int before = errno;
    bool is_mended = false;
    qix_guard *guard = info->si_code > 0 ? atomic_load_explicit(&guards, memory_order_acquire) : NULL;
    for (; guard && !is_mended; guard = atomic_load_explicit(&guard->next, memory_order_acquire))
        is_mended = mend(guard, (uintptr_t)info->si_addr);
    if (!is_mended) { /* not ours: the access is repeated under the handler that was there before */
        sigaction(number, &previous, NULL);
        if (info->si_code <= 0)
            raise(number);
    }
    errno = before;
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
}

static void install_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

static bool is_mapping(uintptr_t start)
{
    return start % page_bytes == 0;
}

#else

static void install_once(void)
{
}

static bool is_mapping(uintptr_t start)
{
    (void)start;
    return false;
}

#endif

/* Claim a guard that nobody uses: `start` is 1 while it is claimed and guards nothing yet. */
static qix_guard *claim(void)
{
    for (qix_guard *guard = atomic_load(&guards); guard; guard = atomic_load(&guard->next)) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&guard->start, &none, 1))
            return guard;
    }
    qix_guard *guard = calloc(1, sizeof *guard);
    if (!guard)
        return NULL;
    atomic_store(&guard->start, 1);
    qix_guard *first = atomic_load(&guards);
    do
        atomic_store(&guard->next, first);
    while (!atomic_compare_exchange_weak(&guards, &first, guard));
    return guard;
}

qix_guard *qix_guard_new(const uint8_t *data, uint64_t bytes)
{
    install_once();
    qix_guard *guard = claim();
    if (!guard)
        return NULL;
    uintptr_t start = (uintptr_t)data;
    atomic_store(&guard->torn_at, QIX_GUARD_WHOLE);
    if (bytes > 0 && is_mapping(start)) {
        atomic_store(&guard->start, start);
        atomic_store(&guard->end, start + (uintptr_t)bytes);
    }
    return guard;
}

void qix_guard_free(qix_guard *guard)
{
    if (!guard)
        return;
    atomic_store(&guard->end, 0);
    atomic_store(&guard->start, 0);
}
