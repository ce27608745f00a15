/* A collection of generated documents, and what a query finds in it: every document scored by the definitions of
 * qix_rank.h, from its words alone. */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "qix_heap.h"
#include "qix_query.h"
#include "qix_rank.h"

#define DOCS 4500u
#define WORDS 24u /* "qa" to "qx" */
#define HOSTS 3u  /* "h0" to "h2" */
#define TITLE_MAX 4u
#define BODY_MAX 40u
#define TITLE_FIELD 0u
#define BODY_FIELD 4u
#define TITLE_WEIGHT 4u

typedef struct {
    uint64_t page_id;
    uint32_t title_count, body_count, host;
    uint8_t title[TITLE_MAX], body[BODY_MAX];
    bool is_deleted;
} fuzz_doc;

/* What a snapshot holds. Deleted documents count in its statistics, and are in no result. */
typedef struct {
    const fuzz_doc *docs[DOCS];
    uint32_t count;
    bool has_deleted;
    uint64_t total_length;
    double norm_k[256];
    uint32_t word_df[WORDS], host_df[HOSTS];
} fuzz_view;

static inline uint32_t fuzz_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* The lower a word's number, the commoner it is: from nearly every document to a handful. */
static inline uint8_t fuzz_word(uint32_t *state)
{
    uint32_t word = 0;
    while (word + 1 < WORDS && fuzz_random(state) % 5 < 3)
        word++;
    return (uint8_t)word;
}

static inline void fuzz_make_doc(fuzz_doc *doc, uint32_t number)
{
    uint32_t state = number * 2654435761u + 1;
    doc->page_id = 1 + (number * 7919u) % 100003u;
    doc->host = fuzz_random(&state) % HOSTS;
    doc->is_deleted = fuzz_random(&state) % 5 == 0;
    doc->title_count = fuzz_random(&state) % (TITLE_MAX + 1);
    doc->body_count = fuzz_random(&state) % (BODY_MAX + 1);
    for (uint32_t i = 0; i < doc->title_count; i++)
        doc->title[i] = fuzz_word(&state);
    for (uint32_t i = 0; i < doc->body_count; i++)
        doc->body[i] = number % 9 == 0 ? (uint8_t)(number / 9 % 3) : fuzz_word(&state); /* some repeat one word */
}

static inline uint32_t fuzz_length(const fuzz_doc *doc)
{
    return doc->title_count * TITLE_WEIGHT + doc->body_count;
}

/* Weighted frequency of a phrase in some fields (a bit each; 0: all); one word is a phrase too. -1 stands for a word
 * that no document has. */
static inline uint32_t fuzz_tf(const fuzz_doc *doc, const int *words, const uint32_t *offsets, uint32_t count,
                               uint32_t fields)
{
    uint32_t tf = 0;
    for (uint32_t field = TITLE_FIELD; field <= BODY_FIELD; field += BODY_FIELD) {
        const uint8_t *text = field == TITLE_FIELD ? doc->title : doc->body;
        uint32_t length = field == TITLE_FIELD ? doc->title_count : doc->body_count;
        for (uint32_t at = 0; at < length && (fields == 0 || fields >> field & 1); at++) {
            uint32_t agreed = 0;
            while (agreed < count && offsets[agreed] < length - at && text[at + offsets[agreed]] == words[agreed])
                agreed++;
            tf += agreed == count ? (field == TITLE_FIELD ? TITLE_WEIGHT : 1) : 0;
        }
    }
    return tf;
}

static inline int fuzz_word_of(const qix_node *node)
{
    bool is_word = node->key_bytes == 3 && node->key[0] == 0 && node->key[1] == 'q';
    return is_word && node->key[2] >= 'a' && node->key[2] < 'a' + (int)WORDS ? node->key[2] - 'a' : -1;
}

static inline int fuzz_host_of(const qix_node *node)
{
    bool is_host = node->key_bytes == 3 && node->key[0] == 1 && node->key[1] == 'h';
    return is_host && node->key[2] >= '0' && node->key[2] < '0' + (int)HOSTS ? node->key[2] - '0' : -1;
}

static inline double fuzz_idf(const fuzz_view *view, const qix_node *node)
{
    int word = fuzz_word_of(node), host = fuzz_host_of(node);
    return qix_idf(view->count, word >= 0 ? view->word_df[word] : host >= 0 ? view->host_df[host] : 0);
}

static inline void fuzz_count(fuzz_view *view)
{
    static const uint32_t here = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        view->total_length += fuzz_length(view->docs[i]);
        view->host_df[view->docs[i]->host]++;
        for (int word = 0; word < (int)WORDS; word++)
            view->word_df[word] += fuzz_tf(view->docs[i], &word, &here, 1, 0) > 0;
    }
    qix_norm_table(1.2, 0.75, view->count ? (double)view->total_length / (double)view->count : 0.0, view->norm_k);
}

/* Whether the document matches node `at`, and its part of the score. */
static inline bool fuzz_match(const fuzz_view *view, const qix_query *query, uint32_t at, const fuzz_doc *doc,
                              double *ret_score)
{
    const qix_node *node = &query->nodes[at];
    bool needs_all = node->kind == QIX_NODE_AND, matches = needs_all;
    double sum = 0.0, score, idf = 0.0;
    *ret_score = 0.0;
    if (node->kind == QIX_NODE_TERM || node->kind == QIX_NODE_PHRASE) {
        int words[QIX_PHRASE_TERMS_MAX];
        uint32_t offsets[QIX_PHRASE_TERMS_MAX], count = 0;
        for (uint32_t i = node->kind == QIX_NODE_TERM ? at : at + 1; i < node->end; i++) {
            words[count] = fuzz_word_of(&query->nodes[i]);
            offsets[count++] = query->nodes[i].offset;
            idf += fuzz_idf(view, &query->nodes[i]);
        }
        uint32_t tf = fuzz_tf(doc, words, offsets, count, node->fields);
        if (node->kind == QIX_NODE_TERM && fuzz_host_of(node) == (int)doc->host)
            tf = node->fields == 0;
        *ret_score = node->weight * idf * (tf / (tf + view->norm_k[qix_length_encode(fuzz_length(doc))]));
        return tf > 0;
    }
    for (uint32_t child = at + 1; child < node->end; child = query->nodes[child].end) {
        bool is_there = fuzz_match(view, query, child, doc, &score), is_not = query->nodes[child].kind == QIX_NODE_NOT;
        if (is_not ? is_there : needs_all && !is_there)
            return false;
        matches = matches || (is_there && !is_not);
        if (is_there && !is_not)
            sum += score;
    }
    *ret_score = node->kind == QIX_NODE_AND || node->kind == QIX_NODE_OR ? sum : 0.0;
    return matches;
}

/* The k best live documents into `heap`, best first; gives how many match. */
static inline uint64_t fuzz_search_all(const fuzz_view *view, const qix_query *query, qix_heap *heap)
{
    uint64_t matches = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        double score;
        if ((view->has_deleted && view->docs[i]->is_deleted) || !fuzz_match(view, query, 0, view->docs[i], &score))
            continue;
        matches++;
        if (score >= heap->threshold)
            qix_heap_push(heap, (qix_hit){score, view->docs[i]->page_id});
    }
    qix_heap_sort(heap);
    return matches;
}

#endif
