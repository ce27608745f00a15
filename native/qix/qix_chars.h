/* Characters for the tokenizer: decoding, folding, composition, accents. Private to qix_text.c. */
#ifndef QIX_CHARS_H
#define QIX_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qix_unicode_tables.h"

/* Room for the characters of one term before composition: 128 composed ones have at most 4 parts each. */
#define QIX_COMPOSE_MAX 512u

#define QIX_NOT_A_CHAR 0xffffffffu

/* Decode the character at text[0]; bytes_left is at least 1. Returns QIX_NOT_A_CHAR, with *ret_bytes 1, for a byte
 * that begins no well-formed sequence (The Unicode Standard, table 3-7: no surrogates, no overlong forms). */
uint32_t qix_decode_char(const uint8_t *text, size_t bytes_left, uint32_t *ret_bytes);

/* Write `code` as UTF-8 to out, which has room for 4 bytes; returns the number of bytes. */
uint32_t qix_encode_char(uint32_t code, uint8_t *out);

/* Bring folded characters (well-formed UTF-8) into normalisation form C, in place. The result can be longer: term has
 * room for 4 * QIX_COMPOSE_MAX bytes. Returns the bytes, or 0 if there are more than QIX_COMPOSE_MAX parts.
 * Quadratic in the length of a row of marks, which the caller bounds. Source: Unicode Standard Annex 15. */
uint32_t qix_compose(uint8_t *term, uint32_t term_bytes);

/* Write the term without accents to out (room for 2 * term_bytes + 4); returns the bytes, 0 if nothing remains. */
uint32_t qix_strip_accents(const uint8_t *term, uint32_t term_bytes, uint8_t *out);

/* The ASCII letter that a folded character is without accents, or 0. */
uint8_t qix_base_letter(uint32_t code);

#endif
