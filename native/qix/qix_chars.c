#include "qix_chars.h"

#include <string.h>

/* Hangul syllables compose by arithmetic (The Unicode Standard, section 3.12). */
enum {
    HANGUL_S = 0xac00,
    HANGUL_L = 0x1100,
    HANGUL_V = 0x1161,
    HANGUL_T = 0x11a7,
    HANGUL_L_COUNT = 19,
    HANGUL_V_COUNT = 21,
    HANGUL_T_COUNT = 28,
    HANGUL_S_COUNT = HANGUL_L_COUNT * HANGUL_V_COUNT * HANGUL_T_COUNT
};

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xc0u) == 0x80u;
}

uint32_t qix_decode_char(const uint8_t *text, size_t bytes_left, uint32_t *ret_bytes)
{
    const uint32_t lead = text[0];
    *ret_bytes = 1;
    if (lead < 0x80) {
        return lead;
    }
    if (lead >= 0xc2 && lead < 0xe0 && bytes_left >= 2 && is_continuation(text[1])) {
        *ret_bytes = 2;
        return (lead & 0x1fu) << 6 | (text[1] & 0x3fu);
    }
    if (lead >= 0xe0 && lead < 0xf0 && bytes_left >= 3 && is_continuation(text[1]) && is_continuation(text[2])) {
        const uint32_t code = (lead & 0x0fu) << 12 | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu);
        if (code >= 0x800 && (code < 0xd800 || code > 0xdfff)) {
            *ret_bytes = 3;
            return code;
        }
    }
    if (lead >= 0xf0 && lead < 0xf5 && bytes_left >= 4 && is_continuation(text[1]) && is_continuation(text[2]) &&
        is_continuation(text[3])) {
        const uint32_t code =
            (lead & 0x07u) << 18 | (text[1] & 0x3fu) << 12 | (text[2] & 0x3fu) << 6 | (text[3] & 0x3fu);
        if (code >= 0x10000 && code <= 0x10ffff) {
            *ret_bytes = 4;
            return code;
        }
    }
    return QIX_NOT_A_CHAR;
}

uint32_t qix_encode_char(uint32_t code, uint8_t *out)
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xc0u | code >> 6);
        out[1] = (uint8_t)(0x80u | (code & 0x3fu));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (uint8_t)(0xe0u | code >> 12);
        out[1] = (uint8_t)(0x80u | (code >> 6 & 0x3fu));
        out[2] = (uint8_t)(0x80u | (code & 0x3fu));
        return 3;
    }
    out[0] = (uint8_t)(0xf0u | code >> 18);
    out[1] = (uint8_t)(0x80u | (code >> 12 & 0x3fu));
    out[2] = (uint8_t)(0x80u | (code >> 6 & 0x3fu));
    out[3] = (uint8_t)(0x80u | (code & 0x3fu));
    return 4;
}

/* The pair that `composed` is made of, or NULL. */
static const qix_char_pair *find_parts(uint32_t composed)
{
    uint32_t low = 0;
    uint32_t high = qix_char_pair_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const qix_char_pair *pair = &qix_char_pairs[qix_char_pairs_by_composed[middle]];
        if (pair->composed == composed) {
            return pair;
        }
        if (pair->composed < composed) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static uint32_t compose_hangul(uint32_t first, uint32_t second)
{
    if (first - HANGUL_L < HANGUL_L_COUNT && second - HANGUL_V < HANGUL_V_COUNT) {
        return HANGUL_S + ((first - HANGUL_L) * HANGUL_V_COUNT + (second - HANGUL_V)) * HANGUL_T_COUNT;
    }
    if (first - HANGUL_S < HANGUL_S_COUNT && (first - HANGUL_S) % HANGUL_T_COUNT == 0 && second > HANGUL_T &&
        second < HANGUL_T + HANGUL_T_COUNT) {
        return first + (second - HANGUL_T);
    }
    return 0;
}

/* The character that two compose to, or 0. */
static uint32_t compose_pair(uint32_t first, uint32_t second)
{
    uint32_t low = 0;
    uint32_t high = qix_char_pair_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const qix_char_pair *pair = &qix_char_pairs[middle];
        if (pair->first == first && pair->second == second) {
            return pair->composed;
        }
        if (pair->first < first || (pair->first == first && pair->second < second)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return compose_hangul(first, second);
}

/* Canonical decomposition of all characters; returns their number, or 0 if it is above QIX_COMPOSE_MAX. */
static uint32_t decompose(const uint8_t *term, uint32_t term_bytes, uint32_t *ret_codes)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < term_bytes;) {
        uint32_t bytes;
        uint32_t tail[4]; /* no character has more than four parts */
        uint32_t tail_count = 0;
        uint32_t code = qix_decode_char(term + at, term_bytes - at, &bytes);
        const qix_char_pair *pair;
        at += bytes;
        while (tail_count < 4 && (pair = find_parts(code)) != NULL) {
            tail[tail_count++] = pair->second;
            code = pair->first;
        }
        if (count + tail_count + 1 > QIX_COMPOSE_MAX) {
            return 0;
        }
        ret_codes[count++] = code;
        while (tail_count > 0) {
            ret_codes[count++] = tail[--tail_count];
        }
    }
    return count;
}

/* Canonical ordering: each row of marks ascending by combining class, equal ones in the order of the text. */
static void order_marks(uint32_t *codes, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t code = codes[i];
        const uint8_t ccc = qix_char_lookup(code)->ccc;
        uint32_t at = i;
        while (ccc != 0 && at > 0 && qix_char_lookup(codes[at - 1])->ccc > ccc) {
            codes[at] = codes[at - 1];
            at--;
        }
        codes[at] = code;
    }
}

/* Canonical composition of ordered characters, in place; returns how many are left. */
static uint32_t compose_ordered(uint32_t *codes, uint32_t count)
{
    uint32_t kept = 0;
    uint32_t starter = count; /* index in the output, `count` for none */
    uint8_t last_ccc = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t code = codes[i];
        const uint8_t ccc = qix_char_lookup(code)->ccc;
        const bool adjacent = starter < kept && starter + 1 == kept;
        if (starter < kept && (adjacent || last_ccc < ccc)) {
            const uint32_t composed = compose_pair(codes[starter], code);
            if (composed != 0) {
                codes[starter] = composed;
                continue;
            }
        }
        if (ccc == 0) {
            starter = kept;
        }
        last_ccc = ccc;
        codes[kept++] = code;
    }
    return kept;
}

uint32_t qix_compose(uint8_t *term, uint32_t term_bytes)
{
    uint32_t codes[QIX_COMPOSE_MAX];
    uint32_t bytes = 0;
    uint32_t count = decompose(term, term_bytes, codes);
    order_marks(codes, count);
    count = compose_ordered(codes, count);
    for (uint32_t i = 0; i < count; i++) {
        bytes += qix_encode_char(codes[i], term + bytes);
    }
    return bytes;
}

uint32_t qix_strip_accents(const uint8_t *term, uint32_t term_bytes, uint8_t *out)
{
    uint32_t out_bytes = 0;
    for (uint32_t at = 0; at < term_bytes;) {
        uint32_t bytes;
        const uint32_t code = qix_decode_char(term + at, term_bytes - at, &bytes);
        const qix_char_record *record = qix_char_lookup(code);
        at += bytes;
        if (record->strip_count == QIX_CHAR_DIFFERENCE) {
            out_bytes += qix_encode_char((uint32_t)((int32_t)code + record->strip), out + out_bytes);
            continue;
        }
        for (uint32_t i = 0; i < record->strip_count; i++) {
            out_bytes += qix_encode_char(qix_char_sequences[(uint32_t)record->strip + i], out + out_bytes);
        }
    }
    return out_bytes;
}

uint8_t qix_base_letter(uint32_t code)
{
    const qix_char_record *record = qix_char_lookup(code);
    if (record->strip_count == QIX_CHAR_DIFFERENCE) {
        code = (uint32_t)((int32_t)code + record->strip);
    } else if (record->strip_count > 0) {
        code = qix_char_sequences[record->strip];
    }
    return code >= 'a' && code <= 'z' ? (uint8_t)code : 0;
}
