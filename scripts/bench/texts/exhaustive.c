/* Every document of a text scored for every query: what an exact engine must find, in the time that it takes.
 *
 *   exhaustive flatten TEXT FOLDER                  the arrays of flat.h; prints documents, tokens, terms
 *   exhaustive score FOLDER FORMULA K < QUERIES     one line a query, in their order
 *
 * A query is its kind (or, and, phrase), a tab, and words with blanks between. Its answer is the number of documents
 * that match, then `docid:score` of the best K, best first, ties by ascending docid, and behind them all documents
 * whose score is within NEAR of the K-th, for engines that round otherwise; tabs between.
 *
 * FORMULA is BM25 with k1 1.2 and b 0.75:
 *   byte   idf ln(1 + (N - n + 0.5) / (n + 0.5)), lengths as one byte: QIX; Tantivy, times 2.2
 *   exact  the same idf, lengths as they are: bm25s' "lucene"
 *   rsj    idf max(1e-6, ln((N - n + 0.5) / (n + 0.5))), exact lengths, times 2.2: SQLite FTS5
 * Sums run over the words of a query from left to right, in doubles. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flat.h"

#define K1 1.2
#define B 0.75
#define NEAR 1e-5
#define WORDS_MAX 64

typedef struct {
    uint64_t docid;
    double score;
} hit;

typedef struct {
    dictionary terms;
    const uint32_t *tokens, *docids, *tfs;
    const uint64_t *documents, *lists;
    uint64_t document_count;
    double *norms; /* k1 * (1 - b + b * length / average) of each document */
    double *scores;
    uint8_t *found; /* how many words of the query each document holds */
    hit *hits;
    int is_rsj;
} text;

/* The length that one byte stands for: exact below 40, then four significant bits, rounded down. */
static uint64_t byte_length(uint64_t length)
{
    if (length < 40)
        return length;
    unsigned shift = 0;
    while ((length - 24) >> shift >= 16)
        shift++;
    return 24 + ((length - 24) >> shift << shift);
}

static void load(text *all, const char *folder, const char *formula)
{
    int is_byte = !strcmp(formula, "byte");
    all->is_rsj = !strcmp(formula, "rsj");
    if (!is_byte && !all->is_rsj && strcmp(formula, "exact"))
        die("no such formula", formula);
    mapped documents = map_existing(folder, "documents.u64"), names = map_existing(folder, "terms.txt");
    all->tokens = map_existing(folder, "tokens.u32").data;
    all->docids = map_existing(folder, "docids.u32").data;
    all->tfs = map_existing(folder, "tfs.u32").data;
    all->lists = map_existing(folder, "lists.u64").data;
    all->documents = documents.data;
    all->document_count = documents.bytes / sizeof(uint64_t) - 1;
    dictionary_new(&all->terms);
    for (const char *at = names.data, *end = at + names.bytes; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        dictionary_add(&all->terms, at, (size_t)(stop - at));
        at = stop + 1;
    }
    double average = (double)all->documents[all->document_count] / (double)all->document_count;
    all->norms = grow(NULL, all->document_count, sizeof *all->norms);
    all->scores = grow(NULL, all->document_count, sizeof *all->scores);
    all->found = grow(NULL, all->document_count, 1);
    all->hits = grow(NULL, all->document_count, sizeof *all->hits);
    for (uint64_t d = 0; d < all->document_count; d++) {
        uint64_t length = all->documents[d + 1] - all->documents[d];
        all->norms[d] = K1 * (1.0 - B + B * (double)(is_byte ? byte_length(length) : length) / average);
    }
}

static double idf(const text *all, uint64_t df)
{
    double n = (double)all->document_count, found = (double)df, odds = (n - found + 0.5) / (found + 0.5);
    return all->is_rsj ? fmax(1e-6, log(odds)) : log(1.0 + odds);
}

static double part(const text *all, double weight, uint32_t tf, uint64_t docid)
{
    double value = weight * ((double)tf / ((double)tf + all->norms[docid]));
    return all->is_rsj ? value * (K1 + 1.0) : value;
}

static uint64_t df_of(const text *all, uint32_t term)
{
    return all->lists[term + 1] - all->lists[term];
}

static void add_term(text *all, uint32_t term)
{
    double weight = idf(all, df_of(all, term));
    for (uint64_t at = all->lists[term]; at < all->lists[term + 1]; at++) {
        all->scores[all->docids[at]] += part(all, weight, all->tfs[at], all->docids[at]);
        all->found[all->docids[at]]++;
    }
}

static uint32_t count_phrase(const text *all, const uint32_t *terms, unsigned count, uint64_t docid)
{
    uint32_t tf = 0;
    for (uint64_t at = all->documents[docid]; at + count <= all->documents[docid + 1]; at++)
        tf += !memcmp(all->tokens + at, terms, count * sizeof *terms);
    return tf;
}

/* Documents that hold the words next to each other; the phrase weighs as much as its words together. */
static void add_phrase(text *all, const uint32_t *terms, unsigned count)
{
    double weight = 0.0;
    uint32_t rarest = terms[0];
    for (unsigned i = 0; i < count; i++) {
        weight += idf(all, df_of(all, terms[i]));
        if (df_of(all, terms[i]) < df_of(all, rarest))
            rarest = terms[i];
    }
    for (uint64_t at = all->lists[rarest]; at < all->lists[rarest + 1]; at++) {
        uint32_t docid = all->docids[at], tf = count_phrase(all, terms, count, docid);
        if (!tf)
            continue;
        all->scores[docid] = part(all, weight, tf, docid);
        all->found[docid] = 1;
    }
}

static int by_rank(const void *left, const void *right)
{
    const hit *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->docid < b->docid ? -1 : a->docid > b->docid;
}

static void answer(text *all, unsigned least, uint64_t k)
{
    uint64_t count = 0;
    for (uint64_t d = 0; d < all->document_count; d++)
        if (all->found[d] && all->found[d] >= least)
            all->hits[count++] = (hit){d, all->scores[d]};
    qsort(all->hits, count, sizeof *all->hits, by_rank);
    printf("%lu", (unsigned long)count);
    double worst = count >= k ? all->hits[k - 1].score * (1.0 - NEAR) : 0.0;
    for (uint64_t i = 0; i < count && (i < k || all->hits[i].score >= worst); i++)
        printf("\t%lu:%.17g", (unsigned long)all->hits[i].docid, all->hits[i].score);
    putchar('\n');
}

static void score(text *all, char *line, uint64_t k)
{
    uint32_t terms[WORDS_MAX];
    unsigned count = 0, missing = 0;
    char *words = strchr(line, '\t');
    if (!words)
        die("no tab in query", line);
    *words++ = 0;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        if (count == WORDS_MAX)
            die("too many words", word);
        terms[count] = dictionary_find(&all->terms, word, strlen(word));
        if (terms[count] == NO_TERM)
            missing++;
        else
            count++;
    }
    memset(all->scores, 0, all->document_count * sizeof *all->scores);
    memset(all->found, 0, all->document_count);
    if (!strcmp(line, "or")) {
        for (unsigned i = 0; i < count; i++)
            add_term(all, terms[i]);
        answer(all, 1, k);
    } else if (!strcmp(line, "and")) {
        for (unsigned i = 0; i < count; i++)
            add_term(all, terms[i]);
        answer(all, count + missing, k);
    } else if (!strcmp(line, "phrase")) {
        if (!missing && count)
            add_phrase(all, terms, count);
        answer(all, 1, k);
    } else {
        die("no such kind", line);
    }
}

int main(int count, char **arguments)
{
    if (count == 4 && !strcmp(arguments[1], "flatten")) {
        flatten(arguments[2], arguments[3]);
        return 0;
    }
    if (count != 5 || strcmp(arguments[1], "score")) {
        fprintf(stderr, "usage: exhaustive flatten TEXT FOLDER | exhaustive score FOLDER FORMULA K < QUERIES\n");
        return 2;
    }
    text all = {0};
    load(&all, arguments[2], arguments[3]);
    uint64_t k = strtoul(arguments[4], NULL, 10);
    char *line = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getline(&line, &room, stdin)) > 0;) {
        line[strcspn(line, "\n")] = 0;
        score(&all, line, k);
    }
    return ferror(stdin) || fflush(stdout) ? 1 : 0;
}
