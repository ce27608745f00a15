/* Property: whatever the query program and the file, a search ends within bounds and gives a status; its hits come best first,
 * ties by page id, and are as many as it says. In a file without faults it finds what a search for everything finds.
 * Nothing is found in a file that has lost its end. fuzz_query.c has sound files and the queries that reach every plan. */
#include "fuzz_file.h"

#define K 5u
#define ALL QIX_TOP_K_MAX
#define DOCS_MAX 5000u

static uint64_t pages[ALL], first_pages[K];
static double scores[ALL], first_scores[K];

static void check_order(const uint64_t *page_ids, const double *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (values[i] > values[i - 1] || (values[i] == values[i - 1] && page_ids[i] <= page_ids[i - 1]))
            abort();
}

static void search(const qix_segment *segment, const qix_snapshot *snapshot, const uint8_t *program,
                   uint32_t program_bytes)
{
    qix_fault fault;
    qix_search_info info, all;
    uint32_t faults;
    qix_verify(segment, &fault, 1, &faults);
    qix_status status = qix_search(snapshot, program, program_bytes, K, first_pages, first_scores, &info, &fault);
    if (status == QIX_OK && info.hit_count > K)
        abort();
    if (status == QIX_OK && faults == 0) {
        check_order(first_pages, first_scores, info.hit_count);
        if (qix_search(snapshot, program, program_bytes, ALL, pages, scores, &all, &fault) != QIX_OK || !all.exact ||
            info.match_count > all.match_count || info.hit_count != (all.hit_count < K ? all.hit_count : K) ||
            memcmp(pages, first_pages, info.hit_count * sizeof *pages) != 0 ||
            memcmp(scores, first_scores, info.hit_count * sizeof *scores) != 0)
            abort();
    }
}

static void search_torn(const qix_snapshot *snapshot, const uint8_t *program, uint32_t program_bytes)
{
    qix_search_info info;
    qix_fault fault;
    if (qix_search(snapshot, program, program_bytes, K, first_pages, first_scores, &info, &fault) == QIX_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
    if (bytes < 2 || bytes - 2 < qix_load_u16(input))
        return 0;
    uint32_t program_bytes = qix_load_u16(input);
    uint64_t file_bytes;
    qix_fault fault;
    qix_segment *segment;
    qix_segment_info info;
    uint8_t *file = fuzz_file(input + 2 + program_bytes, bytes - 2 - program_bytes, &file_bytes);
    if (file && qix_open(file, file_bytes, &segment, &fault) == QIX_OK) {
        qix_part part = {segment, NULL};
        qix_snapshot *snapshot;
        qix_get_info(segment, &info);
        if (qix_snapshot_new(&part, 1, 1.2, 0.75, &snapshot, &fault) != QIX_OK)
            abort();
        if (info.doc_count <= DOCS_MAX) {
            search(segment, snapshot, input + 2, program_bytes);
            fuzz_cut(file, file_bytes, input, bytes);
            if (info.chunk_count > 0)
                search_torn(snapshot, input + 2, program_bytes);
        }
        qix_snapshot_free(snapshot);
        qix_close(segment);
    }
    free(file);
    return 0;
}
