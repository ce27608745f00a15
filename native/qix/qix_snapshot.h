/* Segments that are searched together, with statistics shared by all (J27): N, df and lengths count every document that
 * is in a segment, deleted ones too until a merge drops them, as Lucene and Tantivy do. */
#ifndef QIX_SNAPSHOT_H
#define QIX_SNAPSHOT_H

#include "qix_cursor.h"

typedef struct {
    qix_part part;
    double range_factor; /* makes range bounds of the part safe under the snapshot's parameters */
    double kth_factor;   /* the same for the k-th best of its lists, which bound from below */
    uint32_t deleted_count;
} qix_snapshot_part;

/* Working memory of a search that has ended, kept for the next: getting and giving back so much costs more than a search
 * for a rare term. */
typedef struct {
    size_t bytes;
} qix_spare;

struct qix_snapshot {
    qix_spare *_Atomic *spare; /* a slot, which may be empty; behind a pointer since searches see a const snapshot */
    uint64_t doc_count;
    uint64_t total_length;
    qix_ranker ranker;
    uint32_t part_count;
    qix_snapshot_part parts[];
};

/* Memory of at least `bytes`, or NULL; and giving it back. Any thread may. */
void *qix_snapshot_take(const qix_snapshot *snapshot, size_t bytes);
void qix_snapshot_give(const qix_snapshot *snapshot, void *memory);

/* qix_settle for every part. */
qix_status qix_snapshot_settle(const qix_snapshot *snapshot, qix_status status, qix_fault *fault);

#endif
