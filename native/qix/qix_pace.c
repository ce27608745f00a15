#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */
#include "qix_pace.h"

#include <time.h>

#define SECOND_NS 1000000000u
/* A stop is noticed within so long. */
#define NAP_NS 20000000u
/* Work that fell behind its budget may catch up so much: time of waiting for a disk is not given back for ever. */
#define CREDIT_NS SECOND_NS

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static qix_status check_stop(const qix_pace *pace, qix_fault *fault)
{
    if (!__atomic_load_n(&pace->control->is_stopped, __ATOMIC_RELAXED))
        return QIX_OK;
    return qix_fail(fault, QIX_ERR_STOPPED, 0, "it was stopped");
}

void qix_pace_begin(qix_pace *pace, qix_control *control, uint64_t total)
{
    *pace = (qix_pace){.control = control};
    if (!control)
        return;
    pace->due_ns = clock_ns(CLOCK_MONOTONIC);
    pace->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    __atomic_store_n(&control->total, total, __ATOMIC_RELAXED);
}

qix_status qix_pace_step(qix_pace *pace, uint64_t bytes_written, qix_fault *fault)
{
    const qix_control *control = pace->control;
    if (!control)
        return QIX_OK;
    uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    double writing = control->bytes_per_s ? (double)bytes_written * SECOND_NS / (double)control->bytes_per_s : 0.0;
    double computing = control->cpu_percent ? (double)(cpu - pace->cpu_ns) * 100.0 / control->cpu_percent : 0.0;
    pace->cpu_ns = cpu;
    pace->due_ns += (uint64_t)(writing > computing ? writing : computing);
    if (pace->due_ns + CREDIT_NS < now)
        pace->due_ns = now - CREDIT_NS;
    qix_status status = check_stop(pace, fault);
    while (!status && pace->due_ns > now) {
        uint64_t left = pace->due_ns - now;
        struct timespec nap = {.tv_nsec = (long)(left < NAP_NS ? left : NAP_NS)};
        nanosleep(&nap, NULL);
        now = clock_ns(CLOCK_MONOTONIC);
        status = check_stop(pace, fault);
    }
    return status;
}

void qix_pace_progress(const qix_pace *pace, uint64_t bytes)
{
    if (pace->control)
        __atomic_fetch_add(&pace->control->done, bytes, __ATOMIC_RELAXED);
}
