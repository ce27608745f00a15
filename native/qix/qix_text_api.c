#include <assert.h>
#include <string.h>

#include "qix_text.h"
#include "qix_unicode_tables.h"

/* After the standard headers, since it includes none itself: cffi reads it too. */
#include "qix_text_api.h"

/* A pass, with a mark in the text from which byte offsets are turned into code points. */
typedef struct text_pass {
    const uint8_t *text;
    uint32_t mark_byte;
    uint32_t mark_char;
    uint32_t has_held; /* `held` was read but did not fit */
    qix_token held;
    uint64_t tokenizer[]; /* qix_tokenizer */
} text_pass;

static qix_tokenizer *tokenizer_of(text_pass *pass)
{
    return (qix_tokenizer *)pass->tokenizer;
}

int qix_analysis_version(void)
{
    return QIX_ANALYSIS_VERSION;
}

const char *qix_text_unicode_version(void)
{
    return qix_unicode_version;
}

size_t qix_text_pass_size(void)
{
    return sizeof(text_pass) + qix_tokenizer_size();
}

void qix_text_pass_init(void *pass, const uint8_t *text, size_t text_bytes)
{
    text_pass *p = pass;
    memset(p, 0, sizeof *p);
    p->text = text;
    qix_tokenizer_init(tokenizer_of(p), text, text_bytes);
}

/* The code point at a byte offset. Offsets hardly ever go back, and then by a compound's length at most, so that all
 * calls of a pass together are linear in the text. */
static uint32_t char_at(text_pass *p, uint32_t byte)
{
    while (p->mark_byte < byte) {
        p->mark_char += (p->text[p->mark_byte] & 0xc0u) != 0x80u;
        p->mark_byte++;
    }
    while (p->mark_byte > byte) {
        p->mark_byte--;
        p->mark_char -= (p->text[p->mark_byte] & 0xc0u) != 0x80u;
    }
    return p->mark_char;
}

size_t qix_text_pass_read(void *pass, qix_token_row *rows, size_t row_count, uint8_t *terms, size_t terms_size)
{
    text_pass *p = pass;
    size_t count = 0;
    size_t used = 0;
    while (count < row_count) {
        if (!p->has_held && !qix_tokenizer_next(tokenizer_of(p), &p->held)) {
            break;
        }
        p->has_held = 1;
        if (p->held.term_bytes > terms_size - used) {
            break;
        }
        memcpy(terms + used, p->held.term, p->held.term_bytes);
        rows[count].term_start = (uint32_t)used;
        rows[count].term_bytes = p->held.term_bytes;
        rows[count].start = char_at(p, p->held.start);
        rows[count].end = char_at(p, p->held.end);
        rows[count].position = p->held.position;
        rows[count].flags = p->held.flags;
        used += p->held.term_bytes;
        count++;
        p->has_held = 0;
    }
    return count;
}

/* Wanted terms by hash; a power of two, and at most half full. */
#define SLOT_COUNT 512u
#define NO_TERM UINT16_MAX

typedef struct wanted_terms {
    const uint8_t *terms;
    const uint32_t *ends;
    uint16_t slots[SLOT_COUNT];
} wanted_terms;

/* FNV-1a, folded; terms are few and short, and nobody gains by a collision. */
static uint32_t hash_term(const uint8_t *term, uint32_t term_bytes)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < term_bytes; i++) {
        hash = (hash ^ term[i]) * 16777619u;
    }
    return (hash ^ hash >> 15) % SLOT_COUNT;
}

static uint32_t term_begin(const wanted_terms *wanted, size_t i)
{
    return i == 0 ? 0 : wanted->ends[i - 1];
}

/* The slot that holds the term, or the free one where it belongs. */
static uint32_t find_slot(const wanted_terms *wanted, const uint8_t *term, uint32_t term_bytes)
{
    uint32_t slot = hash_term(term, term_bytes);
    for (;; slot = (slot + 1) % SLOT_COUNT) {
        const uint16_t i = wanted->slots[slot];
        if (i == NO_TERM) {
            return slot;
        }
        const uint32_t begin = term_begin(wanted, i);
        if (wanted->ends[i] - begin == term_bytes && memcmp(wanted->terms + begin, term, term_bytes) == 0) {
            return slot;
        }
    }
}

size_t qix_text_pass_find(void *pass, const uint8_t *terms, const uint32_t *term_ends, size_t term_count,
                          uint32_t each_max, uint32_t *counts, qix_match_row *rows)
{
    text_pass *p = pass;
    wanted_terms wanted = {.terms = terms, .ends = term_ends};
    size_t count = 0;
    size_t unsated = each_max > 0 ? term_count : 0; /* terms of which more occurrences are wanted */
    qix_token token;
    assert(term_count <= QIX_FIND_TERMS_MAX);
    memset(counts, 0, term_count * sizeof *counts);
    memset(wanted.slots, 0xff, sizeof wanted.slots);
    for (size_t i = 0; i < term_count; i++) {
        const uint32_t begin = term_begin(&wanted, i);
        wanted.slots[find_slot(&wanted, terms + begin, term_ends[i] - begin)] = (uint16_t)i;
    }
    while (unsated > 0 && qix_tokenizer_next(tokenizer_of(p), &token)) {
        const uint16_t i = wanted.slots[find_slot(&wanted, token.term, token.term_bytes)];
        if (i == NO_TERM || counts[i] == each_max) {
            continue;
        }
        rows[count].term = i;
        rows[count].start = char_at(p, token.start);
        rows[count].end = char_at(p, token.end);
        rows[count].position = token.position;
        count++;
        unsated -= ++counts[i] == each_max;
    }
    return count;
}
