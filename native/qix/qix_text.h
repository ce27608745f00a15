/* The tokenizer: UTF-8 text to terms, the same for documents and queries. docs/analysis.md says what it does and why.
 *
 * A token is a term at a word position. Several tokens may share a position: one primary token, and alternates that
 * find the same word when it is written otherwise (without accents, as a compound, by a single character). Only
 * primary tokens count towards a document's length and the token limit.
 *
 * Properties that hold for any bytes (native/fuzz/fuzz_text.c checks them): the pass ends; positions never decrease;
 * a position has at most one primary token; terms are valid UTF-8 of 1..QIX_TERM_CHARS_MAX characters;
 * 0 <= start < end <= text_bytes, both on character boundaries; a primary term that is tokenised again gives itself. */
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

/* The word itself, or a bigram of an unspaced script. */
#define QIX_TOKEN_PRIMARY 1u
/* The primary token at this position without its accents. */
#define QIX_TOKEN_FOLDED 2u
/* A compound with its connectors (foo_bar, example.org, c++), at the position of its last part. */
#define QIX_TOKEN_JOINED 4u
/* One character of an unspaced script. */
#define QIX_TOKEN_CHARACTER 8u
/* Two characters of an unspaced script. */
#define QIX_TOKEN_BIGRAM 16u

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

/* Size to allocate for a qix_tokenizer (aligned to 8), so that its layout stays private. */
size_t qix_tokenizer_size(void);

/* Begin a pass over `text_bytes` bytes. Bytes that are not UTF-8 separate words; nothing is refused.
 * text_bytes must be below 2^32 - 1. */
void qix_tokenizer_init(qix_tokenizer *tokenizer, const uint8_t *text, size_t text_bytes);

/* Give the next token; false at the end. Linear in the text over a whole pass; allocates nothing. */
bool qix_tokenizer_next(qix_tokenizer *tokenizer, qix_token *ret_token);

#endif
