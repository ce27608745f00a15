/* Text with one document a line and blanks between its tokens -> the arrays of flat.h.
 *
 * The text and everything of its size is mapped, so that anonymous memory grows with the number of terms and documents
 * alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flat.h"

typedef struct {
    dictionary terms;
    uint64_t *ends; /* documents seen, and where each one's tokens end */
    uint64_t document_count;
    uint64_t document_room;
    uint64_t token_count;
    uint32_t *last; /* 1 + the last document that held each term */
    uint32_t *dfs;
    uint32_t term_room;
} state;

static void write_all(FILE *out, const void *data, size_t bytes, const char *name)
{
    if (bytes && fwrite(data, 1, bytes, out) != bytes)
        die("cannot write", name);
}

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (!out)
        die("cannot make", path);
    return out;
}

static void finish(FILE *out, const char *name)
{
    if (fclose(out))
        die("cannot write", name);
}

static void count_in_document(state *all, uint32_t term)
{
    if (term >= all->term_room) {
        uint32_t room = all->term_room ? 2 * all->term_room : 1u << 16;
        all->last = grow(all->last, room, sizeof *all->last);
        all->dfs = grow(all->dfs, room, sizeof *all->dfs);
        memset(all->last + all->term_room, 0, (room - all->term_room) * sizeof *all->last);
        memset(all->dfs + all->term_room, 0, (room - all->term_room) * sizeof *all->dfs);
        all->term_room = room;
    }
    uint32_t document = (uint32_t)all->document_count + 1;
    if (all->last[term] != document) {
        all->last[term] = document;
        all->dfs[term]++;
    }
}

static void read_line(state *all, const char *at, const char *end, FILE *tokens)
{
    while (at < end) {
        if (*at == ' ') {
            at++;
            continue;
        }
        const char *stop = memchr(at, ' ', (size_t)(end - at));
        if (!stop)
            stop = end;
        uint32_t term = dictionary_add(&all->terms, at, (size_t)(stop - at));
        count_in_document(all, term);
        write_all(tokens, &term, sizeof term, "tokens.u32");
        all->token_count++;
        at = stop;
    }
    if (all->document_count == all->document_room) {
        all->document_room = all->document_room ? 2 * all->document_room : 1u << 16;
        all->ends = grow(all->ends, all->document_room, sizeof *all->ends);
    }
    all->ends[all->document_count++] = all->token_count;
}

static void write_postings(const state *all, const char *folder)
{
    uint32_t term_count = all->terms.count;
    mapped lists = map_new(folder, "lists.u64", ((size_t)term_count + 1) * sizeof(uint64_t));
    uint64_t *starts = lists.data, *next = grow(NULL, (size_t)term_count + 1, sizeof *next);
    starts[0] = 0;
    for (uint32_t term = 0; term < term_count; term++) {
        next[term] = starts[term];
        starts[term + 1] = starts[term] + all->dfs[term];
    }
    mapped tokens = map_existing(folder, "tokens.u32");
    uint32_t *docids = map_new(folder, "docids.u32", starts[term_count] * sizeof *docids).data;
    uint32_t *tfs = map_new(folder, "tfs.u32", starts[term_count] * sizeof *tfs).data;
    const uint32_t *token = tokens.data;
    for (uint64_t document = 0, at = 0; document < all->document_count; document++)
        for (; at < all->ends[document]; at++) {
            uint64_t *slot = &next[token[at]];
            if (*slot == starts[token[at]] || docids[*slot - 1] != document) {
                docids[*slot] = (uint32_t)document;
                tfs[(*slot)++] = 1;
            } else {
                tfs[*slot - 1]++;
            }
        }
}

void flatten(const char *text, const char *folder)
{
    state all = {0};
    dictionary_new(&all.terms);
    mapped input = map_existing("", text);
    const char *at = input.data, *end = at + input.bytes;
    FILE *tokens = create(folder, "tokens.u32");
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        read_line(&all, at, stop ? stop : end, tokens);
        at = stop ? stop + 1 : end;
    }
    finish(tokens, "tokens.u32");
    errno = 0;
    if (!all.token_count || all.document_count >= UINT32_MAX)
        die(all.token_count ? "too many documents" : "no tokens", text);
    FILE *documents = create(folder, "documents.u64");
    const uint64_t zero = 0;
    write_all(documents, &zero, sizeof zero, "documents.u64");
    write_all(documents, all.ends, all.document_count * sizeof *all.ends, "documents.u64");
    finish(documents, "documents.u64");
    FILE *terms = create(folder, "terms.txt");
    for (uint32_t term = 0; term < all.terms.count; term++)
        fprintf(terms, "%.*s\n", (int)all.terms.lengths[term], all.terms.starts[term]);
    finish(terms, "terms.txt");
    write_postings(&all, folder);
    printf("%lu %lu %u\n", (unsigned long)all.document_count, (unsigned long)all.token_count, all.terms.count);
}
