/* A text as flat arrays in files: what queries are drawn from, and what the exhaustive scorer reads.
 *
 * In one folder; numbers are in the machine's own byte order:
 *   terms.txt      one term a line; its line is its number, in order of first sight
 *   tokens.u32     the term number of every token, document after document
 *   documents.u64  where each document's tokens begin; one more entry for the end
 *   lists.u64      where each term's postings begin; one more entry for the end
 *   docids.u32     documents of the postings, ascending within a list
 *   tfs.u32        how often the term stands in each */
#ifndef JIRD_BENCH_FLAT_H
#define JIRD_BENCH_FLAT_H

#include <stddef.h>
#include <stdint.h>

/* A file mapped into memory. */
typedef struct {
    void *data;
    size_t bytes;
} mapped;

_Noreturn void die(const char *what, const char *name);
void *grow(void *data, size_t count, size_t size);
mapped map_existing(const char *folder, const char *name);
mapped map_new(const char *folder, const char *name, size_t bytes);

/* Terms by their bytes: an open-addressing table of term numbers. */
typedef struct {
    const char **starts;
    uint32_t *lengths;
    uint64_t *hashes;
    uint32_t count;
    uint32_t room;
    uint32_t *slots;
    uint64_t slot_count;
} dictionary;

#define NO_TERM UINT32_MAX

void dictionary_new(dictionary *terms);
/* The number of a term that is there, or NO_TERM. */
uint32_t dictionary_find(const dictionary *terms, const char *start, size_t length);
/* The number of a term; a new one is added. The bytes must stay where they are. */
uint32_t dictionary_add(dictionary *terms, const char *start, size_t length);

void flatten(const char *text, const char *folder);

#endif
