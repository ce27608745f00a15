/* Long work that somebody controls: it can be stopped, shows how far it is, and keeps to a budget of writing and of
 * processor time by sleeping. */
#ifndef QIX_PACE_H
#define QIX_PACE_H

#include "qix_status.h"

typedef struct {
    qix_control *control; /* NULL: nobody does */
    uint64_t due_ns;      /* when the work done so far should have been done at the earliest */
    uint64_t cpu_ns;      /* of this thread, at the last step */
} qix_pace;

void qix_pace_begin(qix_pace *pace, qix_control *control, uint64_t total);
/* Called every few milliseconds of work, and for each mebibyte written. QIX_ERR_STOPPED if it is to end. */
qix_status qix_pace_step(qix_pace *pace, uint64_t bytes_written, qix_fault *fault);
/* Note that so much of the total is done. */
void qix_pace_progress(const qix_pace *pace, uint64_t bytes);

#endif
