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

size_t qix_text_pass_find(void *pass, const uint8_t *terms, const uint32_t *term_ends, size_t term_count,
                          uint32_t each_max, uint32_t *counts, qix_match_row *rows)
{
    text_pass *p = pass;
    size_t count = 0;
    size_t unsated = each_max > 0 ? term_count : 0; /* terms of which more occurrences are wanted */
    qix_token token;
    memset(counts, 0, term_count * sizeof *counts);
    while (unsated > 0 && qix_tokenizer_next(tokenizer_of(p), &token)) {
        uint32_t begin = 0;
        for (size_t i = 0; i < term_count; i++) {
            const uint32_t bytes = term_ends[i] - begin;
            if (bytes == token.term_bytes && memcmp(terms + begin, token.term, bytes) == 0) {
                if (counts[i] < each_max) {
                    rows[count].term = (uint32_t)i;
                    rows[count].start = char_at(p, token.start);
                    rows[count].end = char_at(p, token.end);
                    rows[count].position = token.position;
                    count++;
                    unsated -= ++counts[i] == each_max;
                }
                break;
            }
            begin = term_ends[i];
        }
    }
    return count;
}
