#include "qix_snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "qix_rank.h"
#include "qix_tf_code.h"

/* Range bounds were computed with other parameters than ours. For a frequency of at least 1,
 *   tf / (tf + K) <= tf / (tf + K') * (1 + K') / (1 + K)   where K' > K,
 * so that the largest such quotient over all length codes makes every bound safe. */
static double range_factor(const qix_segment *segment, const qix_ranker *ranker)
{
    double written[256], factor = 1.0;
    qix_norm_table(segment->range_k1, segment->range_b, segment->range_average, written);
    for (unsigned code = 0; code < 256; code++) {
        double quotient = (1.0 + written[code]) / (1.0 + ranker->norm_k[code]);
        if (quotient > factor)
            factor = quotient;
    }
    return factor * QIX_BOUND_SLACK;
}

/* The other way round, for what bounds a frequency part from below: the smallest such quotient. */
static double kth_factor(const qix_segment *segment, const qix_ranker *ranker)
{
    double written[256], factor = 1.0;
    qix_norm_table(segment->range_k1, segment->range_b, segment->range_average, written);
    for (unsigned code = 0; code < 256; code++) {
        double quotient = (1.0 + written[code]) / (1.0 + ranker->norm_k[code]);
        if (quotient < factor)
            factor = quotient;
    }
    return factor / QIX_BOUND_SLACK;
}

static uint32_t count_deleted(const qix_part *part)
{
    uint32_t count = 0, doc_count = part->segment->info.doc_count;
    for (uint32_t docid = 0; part->tombstones && docid < doc_count; docid++)
        count += part->tombstones[docid / 8] >> (docid % 8) & 1;
    return count;
}

static void fill_ranker(qix_snapshot *snapshot, double k1, double b)
{
    qix_ranker *ranker = &snapshot->ranker;
    double average = snapshot->doc_count ? (double)snapshot->total_length / (double)snapshot->doc_count : 0.0;
    qix_norm_table(k1, b, average, ranker->norm_k);
    for (unsigned tf = 1; tf < QIX_NORM_TFS; tf++)
        for (unsigned code = 0; code < 256; code++)
            ranker->norm32[tf][code] = (float)qix_norm(ranker, tf, code);
    for (unsigned tf_code = 1; tf_code < QIX_TF_ANY; tf_code++) {
        double tf = qix_tf_decode((uint8_t)tf_code);
        for (unsigned code = 0; code < 256; code++)
            ranker->pair_norm32[tf_code][code] = (float)(tf / (tf + ranker->norm_k[code]));
    }
    for (unsigned code = 0; code < 256; code++)
        ranker->pair_norm32[QIX_TF_ANY][code] = 1.0f;
}

qix_status qix_snapshot_new(const qix_part *parts, uint32_t part_count, double k1, double b,
                            qix_snapshot **ret_snapshot, qix_fault *ret_fault)
{
    if (part_count > QIX_PARTS_MAX)
        return qix_fail(ret_fault, QIX_ERR_ARGUMENT, 0, "a snapshot has at most 1024 parts");
    if (!(k1 >= 0.0 && k1 <= 1000.0 && b >= 0.0 && b <= 1.0))
        return qix_fail(ret_fault, QIX_ERR_ARGUMENT, 0, "k1 must be 0 to 1000 and b 0 to 1");
    qix_snapshot *snapshot = calloc(1, sizeof *snapshot + part_count * sizeof *snapshot->parts);
    if (!snapshot)
        return qix_no_memory(ret_fault);
    snapshot->spare = calloc(1, sizeof *snapshot->spare);
    if (!snapshot->spare) {
        free(snapshot);
        return qix_no_memory(ret_fault);
    }
    snapshot->part_count = part_count;
    for (uint32_t i = 0; i < part_count; i++) {
        snapshot->parts[i].part = parts[i];
        snapshot->parts[i].deleted_count = count_deleted(&parts[i]);
        snapshot->doc_count += parts[i].segment->info.doc_count;
        snapshot->total_length += parts[i].segment->info.total_length;
    }
    fill_ranker(snapshot, k1, b);
    for (uint32_t i = 0; i < part_count; i++) {
        snapshot->parts[i].range_factor = range_factor(parts[i].segment, &snapshot->ranker);
        snapshot->parts[i].kth_factor = kth_factor(parts[i].segment, &snapshot->ranker);
    }
    *ret_snapshot = snapshot;
    return QIX_OK;
}

void *qix_snapshot_take(const qix_snapshot *snapshot, size_t bytes)
{
    qix_spare *spare = atomic_exchange(snapshot->spare, NULL);
    if (spare && spare->bytes < bytes) {
        free(spare);
        spare = NULL;
    }
    if (!spare) {
        spare = malloc(sizeof *spare + bytes);
        if (!spare)
            return NULL;
        spare->bytes = bytes;
    }
    return spare + 1;
}

void qix_snapshot_give(const qix_snapshot *snapshot, void *memory)
{
    free(atomic_exchange(snapshot->spare, (qix_spare *)memory - 1));
}

qix_status qix_snapshot_settle(const qix_snapshot *snapshot, qix_status status, qix_fault *fault)
{
    for (uint32_t i = 0; i < snapshot->part_count; i++)
        if (qix_settle(snapshot->parts[i].part.segment, QIX_OK, fault)) {
            fault->part = i;
            return QIX_ERR_CORRUPT;
        }
    return status;
}

void qix_snapshot_free(qix_snapshot *snapshot)
{
    if (snapshot) {
        free(atomic_load(snapshot->spare));
        free(snapshot->spare);
    }
    free(snapshot);
}
