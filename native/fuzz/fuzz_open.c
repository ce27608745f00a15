/* Property: whatever the bytes, opening a file, looking terms and pages up, checking it in depth and merging it end, stay
 * within the file and give a status. A merge of a file in which the deep check finds nothing is itself without faults. */
#define _GNU_SOURCE /* mkstemp, pread */
#include <stdlib.h>
#include <unistd.h>

#include "fuzz_file.h"

#define TERMS 8u
#define FAULTS 4u

static void look_up(const qix_segment *segment)
{
    static uint8_t keys[TERMS * QIX_KEY_BYTES_MAX];
    uint32_t ends[TERMS], dfs[TERMS], count, docid;
    qix_fault fault;
    qix_document row;
    qix_list_terms(segment, (const uint8_t *)"\0w", 2, TERMS, keys, ends, dfs, &count, &fault);
    qix_term_df(segment, (const uint8_t *)"\0word", 5, dfs, &fault);
    if (qix_find_page(segment, 3, &docid, &fault) == QIX_OK && docid != UINT32_MAX &&
        qix_get_document(segment, docid, &row, &fault) == QIX_OK && row.page_id != 3)
        abort();
}

/* Merge the file alone, and check what was written. */
static void merge(const qix_segment *segment, bool is_sound)
{
    char path[] = "/tmp/fuzz-merge-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        abort();
    unlink(path);
    qix_part part = {segment, NULL};
    qix_segment_info info;
    qix_fault fault;
    qix_status status = qix_merge(&part, 1, fd, "/tmp", QIX_ORDER_ORIGIN, 0, &info, &fault);
    if (is_sound && status != QIX_OK)
        abort();
    if (status == QIX_OK && is_sound) {
        uint8_t *data = malloc(info.file_bytes);
        qix_segment *merged;
        uint32_t faults;
        if (!data || pread(fd, data, info.file_bytes, 0) != (ssize_t)info.file_bytes ||
            qix_open(data, info.file_bytes, &merged, &fault) != QIX_OK ||
            qix_verify(merged, &fault, 1, &faults) != QIX_OK || faults != 0)
            abort();
        qix_close(merged);
        free(data);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
    uint64_t file_bytes;
    qix_fault faults[FAULTS];
    qix_segment *segment;
    uint8_t *file = fuzz_file(input, bytes, &file_bytes);
    if (file && qix_open(file, file_bytes, &segment, faults) == QIX_OK) {
        uint32_t count;
        look_up(segment);
        qix_verify(segment, faults, FAULTS, &count);
        merge(segment, count == 0);
        qix_close(segment);
    }
    free(file);
    return 0;
}
