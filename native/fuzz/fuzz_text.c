/* Property: any bytes give tokens as qix_text.h promises. They lie within the text, on character boundaries; positions
 * do not decrease and have at most one primary token; terms are UTF-8 within the limits; and a primary term, tokenised
 * again, is its own first token. Reading past an end or out of a table is AddressSanitizer's to find. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "qix_chars.h"
#include "qix_text.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())

static uint32_t check_utf8(const uint8_t *term, uint32_t term_bytes)
{
    uint32_t chars = 0;
    for (uint32_t at = 0; at < term_bytes; chars++) {
        uint32_t bytes;
        CHECK(qix_decode_char(term + at, term_bytes - at, &bytes) != QIX_NOT_A_CHAR);
        at += bytes;
    }
    return chars;
}

/* A byte in the middle of a well-formed character begins no token; one of a broken sequence is a character of its own. */
static void check_boundary(const uint8_t *text, size_t text_bytes, uint32_t at)
{
    for (uint32_t back = 1; back < 4 && back <= at; back++) {
        uint32_t bytes;
        const uint32_t code = qix_decode_char(text + at - back, text_bytes - (at - back), &bytes);
        CHECK(code == QIX_NOT_A_CHAR || bytes <= back);
    }
}

static void check_own_token(const qix_token *token, void *again)
{
    uint8_t *copy = malloc(token->term_bytes);
    qix_token first;
    CHECK(copy != NULL);
    memcpy(copy, token->term, token->term_bytes);
    qix_tokenizer_init(again, copy, token->term_bytes);
    CHECK(qix_tokenizer_next(again, &first));
    CHECK((first.flags & QIX_TOKEN_PRIMARY) != 0);
    CHECK(first.term_bytes == token->term_bytes && memcmp(first.term, copy, token->term_bytes) == 0);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of its own, so that reading one byte too far is seen. */
    uint8_t *text = malloc(size ? size : 1);
    qix_tokenizer *tokenizer = malloc(qix_tokenizer_size());
    qix_tokenizer *again = malloc(qix_tokenizer_size());
    uint32_t next_position = 0;
    qix_token token;
    CHECK(text != NULL && tokenizer != NULL && again != NULL);
    memcpy(text, data, size);
    qix_tokenizer_init(tokenizer, text, size);
    while (qix_tokenizer_next(tokenizer, &token)) {
        const uint32_t chars = check_utf8(token.term, token.term_bytes);
        CHECK(chars >= 1 && chars <= QIX_TERM_CHARS_MAX && token.term_bytes <= QIX_TERM_BYTES_MAX);
        CHECK(token.start < token.end && token.end <= size);
        check_boundary(text, size, token.start);
        check_boundary(text, size, token.end);
        if ((token.flags & QIX_TOKEN_PRIMARY) != 0) {
            CHECK(token.position >= next_position);
            next_position = token.position + 1;
            check_own_token(&token, again);
        } else {
            CHECK(token.position + 1 >= next_position);
        }
    }
    free(again);
    free(tokenizer);
    free(text);
    return 0;
}
