/* The tokenizer: UTF-8 text to terms, the same for documents and queries.
 *
 * A token is a term at a word position. Several tokens may share a position: the word as written after case
 * folding and compatibility decomposition (the primary token), and alternates (accents removed). Runs of scripts
 * written without spaces give overlapping bigrams as primary tokens, and single characters as alternates.
 *
 * Only primary tokens count towards a document's length and the token limit. */
#ifndef QIX_TEXT_H
#define QIX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raised whenever the same text may give other tokens; the index manifest records it. */
#define QIX_ANALYSIS_VERSION 1

/* Longest term in characters after folding; a longer alphanumeric run gives no token (J157). */
#define QIX_TERM_CHARS_MAX 128
/* The same in bytes of UTF-8. */
#define QIX_TERM_BYTES_MAX (4 * QIX_TERM_CHARS_MAX)

#define QIX_TOKEN_PRIMARY 1u

typedef struct qix_token {
    const uint8_t *term; /* UTF-8, not terminated; valid until the next call */
    uint32_t term_bytes; /* 1..QIX_TERM_BYTES_MAX */
    uint32_t start;      /* byte range of the source text that the token stands for */
    uint32_t end;
    uint32_t position; /* word position, from 0, never decreasing */
    uint32_t flags;
} qix_token;

/* State of one pass; the caller owns it, it holds no pointers to be freed. `text` must outlive it. */
typedef struct qix_tokenizer qix_tokenizer;

/* Size to allocate for a qix_tokenizer, so that its layout stays private. */
size_t qix_tokenizer_size(void);

/* Begin a pass over `text_bytes` bytes. Bytes that are not UTF-8 separate words; nothing is refused.
 * text_bytes must be below 2^32. */
void qix_tokenizer_init(qix_tokenizer *tokenizer, const uint8_t *text, size_t text_bytes);

/* Give the next token; false at the end. Linear in the text over a whole pass; allocates nothing. */
bool qix_tokenizer_next(qix_tokenizer *tokenizer, qix_token *ret_token);

#endif
