/* Property: whatever the bytes, opening a file, looking terms and pages up, checking it in depth and merging it end, stay
 * within the file and give a status. A merge of a file in which the deep check finds nothing is itself without faults.
 * A file that loses its end while it is open is refused by whatever looks at it. */
#define _GNU_SOURCE /* mkstemp, pread */
#include <stdlib.h>
#include <unistd.h>

#include "fuzz_file.h"

#define TERMS 8u
#define FAULTS 4u
#define DOCS_MAX 100000u

static void look_up(const qix_segment *segment)
{
    static uint8_t keys[TERMS * QIX_KEY_BYTES_MAX];
    uint32_t ends[TERMS], dfs[TERMS], count, docid;
    qix_fault fault;
    qix_document row;
    qix_list_terms(segment, (const uint8_t *)"\0w", 2, TERMS, keys, ends, dfs, &count, &fault);
    qix_near_terms(segment, (const uint8_t *)"\0wrod", 5, 2, TERMS, keys, ends, dfs, &count, &fault);
    qix_term_df(segment, (const uint8_t *)"\0word", 5, dfs, &fault);
    if (qix_find_page(segment, 3, &docid, &fault) == QIX_OK && docid != UINT32_MAX &&
        qix_get_document(segment, docid, &row, &fault) == QIX_OK && row.page_id != 3)
        abort();
}

/* Merge the file with itself, each half of the documents from one of the two, and check what was written. */
static void merge(const qix_segment *segment, uint32_t order, bool is_sound)
{
    char path[] = "/tmp/fuzz-merge-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        abort();
    unlink(path);
    static uint8_t odd[DOCS_MAX / 8 + 1], even[DOCS_MAX / 8 + 1];
    memset(odd, 0xaa, sizeof odd);
    memset(even, 0x55, sizeof even);
    qix_part parts[2] = {{segment, odd}, {segment, even}};
    qix_segment_info info;
    qix_fault fault;
    qix_status status = qix_merge(parts, 2, fd, "/tmp", order, 0, NULL, &info, &fault);
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
        qix_segment_info info;
        qix_get_info(segment, &info);
        look_up(segment);
        qix_verify(segment, faults, FAULTS, &count);
        if (info.doc_count <= DOCS_MAX)
            merge(segment, input[bytes - 1] % 2 ? QIX_ORDER_GIVEN : QIX_ORDER_ORIGIN, count == 0);
        fuzz_cut(file, file_bytes, input, bytes);
        look_up(segment);
        if (qix_verify(segment, faults, FAULTS, &count) != QIX_OK || (info.chunk_count > 0 && count == 0))
            abort();
        if (info.doc_count <= DOCS_MAX)
            merge(segment, QIX_ORDER_ORIGIN, false);
        qix_close(segment);
    }
    free(file);
    return 0;
}
