/* The tokenizer. It pulls folded characters out of the text one by one (read_char), cuts them into words, compounds
 * and runs of unspaced scripts, and hands out the tokens of one word at a time (the pending ones). */
#include "qix_text.h"

#include <assert.h>
#include <string.h>

#include "qix_chars.h"

/* Characters of a word before composition. */
#define WORD_CHARS_MAX QIX_COMPOSE_MAX
#define WORD_BYTES_MAX (4u * WORD_CHARS_MAX)
/* Marks behind one character; more than any script needs are left out, which bounds their sorting. */
#define MARKS_MAX 16u
/* A character of an unspaced script with its marks; further marks are left out. */
#define UNIT_CHARS_MAX 8u
/* Composition can replace a character by up to four. */
#define UNIT_BYTES_MAX (4u * 4u * UNIT_CHARS_MAX)
/* A primary token, its folded form, and the compound that it ends. */
#define PENDING_MAX 3u
/* Digits looked at after a "v" to see whether it begins a version number. */
#define VERSION_DIGITS_MAX 6u

/* Where reading stands: behind the last source character, and how much of what it folded to is still to come. */
typedef struct cursor {
    uint32_t next;
    uint32_t start;
    uint32_t end;
    uint32_t sequence;
    uint32_t sequence_left;
} cursor;

/* One folded character; kind is QIX_CHAR_SEPARATOR and code 0 at the end of the text. */
typedef struct folded_char {
    uint32_t code;
    uint32_t start;
    uint32_t end;
    uint8_t kind;
    uint8_t flags;
} folded_char;

/* A term under construction, well-formed UTF-8. */
typedef struct term_buffer {
    uint8_t bytes[WORD_BYTES_MAX];
    uint32_t byte_count;
    uint32_t char_count;
    uint32_t mark_count; /* at its end */
    uint8_t flags;       /* of all its characters */
    bool is_too_long;
} term_buffer;

typedef struct unit {
    uint8_t bytes[UNIT_BYTES_MAX];
    uint32_t byte_count;
    uint32_t start;
    uint32_t end;
} unit;

struct qix_tokenizer {
    const uint8_t *text;
    uint32_t text_bytes;
    uint32_t position;
    cursor cursor;
    folded_char current; /* not consumed yet */
    bool is_at_end;

    qix_token pending[PENDING_MAX];
    uint32_t pending_count;
    uint32_t pending_next;

    term_buffer word;
    uint8_t folded[2 * WORD_BYTES_MAX + 4];
    uint8_t joined[QIX_TERM_BYTES_MAX];
    uint32_t joined_bytes;
    uint32_t joined_chars;
    uint32_t joined_start;
    uint32_t joined_parts;   /* joined so far, usable or not */
    bool is_joined_unusable; /* a part or the whole is too long */
    bool is_in_compound;

    bool is_in_run;
    uint32_t run_units;
    unit previous;
    unit latest;
    uint8_t bigram[2 * UNIT_BYTES_MAX];
};

size_t qix_tokenizer_size(void)
{
    return sizeof(qix_tokenizer);
}

/* ---- characters ---- */

/* Read the next folded character that is not ignored; false at the end of the text. */
static bool read_char(const qix_tokenizer *t, cursor *at, folded_char *ret)
{
    for (;;) {
        uint32_t code;
        uint32_t bytes;
        const qix_char_record *record;
        if (at->sequence_left > 0) {
            code = qix_char_sequences[at->sequence++];
            at->sequence_left--;
            record = qix_char_lookup(code);
        } else {
            if (at->next >= t->text_bytes) {
                *ret = (folded_char){.start = t->text_bytes, .end = t->text_bytes};
                return false;
            }
            code = qix_decode_char(t->text + at->next, t->text_bytes - at->next, &bytes);
            at->start = at->next;
            at->next += bytes;
            at->end = at->next;
            if (code == QIX_NOT_A_CHAR) {
                *ret = (folded_char){.code = code, .start = at->start, .end = at->end};
                return true;
            }
            record = qix_char_lookup(code);
            if (record->fold_count != QIX_CHAR_DIFFERENCE) {
                at->sequence = (uint32_t)record->fold;
                at->sequence_left = record->fold_count;
                continue;
            }
            code = (uint32_t)((int32_t)code + record->fold);
        }
        if ((record->kind_flags & QIX_CHAR_KIND) == QIX_CHAR_IGNORED) {
            continue;
        }
        *ret = (folded_char){
            .code = code,
            .start = at->start,
            .end = at->end,
            .kind = record->kind_flags & QIX_CHAR_KIND,
            .flags = record->kind_flags & (uint8_t)~QIX_CHAR_KIND,
        };
        return true;
    }
}

/* The folded form of an ASCII letter or digit, 0 for any other byte. */
static uint8_t fold_ascii(uint8_t byte)
{
    const uint8_t lower = byte | 0x20u;
    return (uint8_t)(lower - 'a') < 26 ? lower : (uint8_t)(byte - '0') < 10 ? byte : 0;
}

static void advance(qix_tokenizer *t)
{
    t->is_at_end = !read_char(t, &t->cursor, &t->current);
}

/* The two characters behind the current one, which stay unread. */
static void peek(const qix_tokenizer *t, folded_char ret[2])
{
    cursor ahead = t->cursor;
    read_char(t, &ahead, &ret[0]);
    read_char(t, &ahead, &ret[1]);
}

static bool is_letter(const folded_char *c)
{
    return c->kind == QIX_CHAR_WORD && (c->flags & QIX_CHAR_DIGIT) == 0;
}

static bool is_word(const folded_char *c)
{
    return c->kind == QIX_CHAR_WORD;
}

/* ---- giving tokens ---- */

static void give(qix_tokenizer *t, const uint8_t *term, uint32_t term_bytes, uint32_t start, uint32_t end,
                 uint32_t flags)
{
    assert(t->pending_count < PENDING_MAX && term_bytes > 0 && start < end);
    t->pending[t->pending_count++] = (qix_token){
        .term = term,
        .term_bytes = term_bytes,
        .start = start,
        .end = end,
        .position = t->position,
        .flags = flags,
    };
}

static uint32_t count_chars(const uint8_t *term, uint32_t term_bytes)
{
    uint32_t chars = 0;
    for (uint32_t i = 0; i < term_bytes; i++) {
        chars += (term[i] & 0xc0u) != 0x80u;
    }
    return chars;
}

/* ---- words ---- */

static void clear_term(term_buffer *word)
{
    word->byte_count = 0;
    word->char_count = 0;
    word->mark_count = 0;
    word->flags = 0;
    word->is_too_long = false;
}

static void append_char(term_buffer *word, const folded_char *c)
{
    word->mark_count = c->kind == QIX_CHAR_MARK ? word->mark_count + 1 : 0;
    if (word->mark_count > MARKS_MAX) {
        return;
    }
    if (word->char_count >= WORD_CHARS_MAX) {
        word->is_too_long = true;
        return;
    }
    word->byte_count += qix_encode_char(c->code, word->bytes + word->byte_count);
    word->char_count++;
    word->flags |= c->flags;
}

/* Append the ASCII letters and digits that follow the current character: most of most texts, so they are read without
 * the general path. Returns the last one, or 0 if there was none. */
static uint8_t append_ascii(qix_tokenizer *t)
{
    cursor *at = &t->cursor;
    term_buffer *word = &t->word;
    uint8_t last = 0;
    if (at->sequence_left > 0) {
        return 0;
    }
    while (at->next < t->text_bytes && word->char_count < WORD_CHARS_MAX) {
        const uint8_t byte = fold_ascii(t->text[at->next]);
        if (byte == 0) {
            break;
        }
        word->bytes[word->byte_count++] = byte;
        word->char_count++;
        word->mark_count = 0;
        last = byte;
        at->next++;
    }
    return last;
}

/* Compose what needs it and hold the term to QIX_TERM_CHARS_MAX. */
static void finish_term(term_buffer *word)
{
    if (!word->is_too_long && (word->flags & QIX_CHAR_COMPOSES) != 0) {
        word->byte_count = qix_compose(word->bytes, word->byte_count);
        word->char_count = count_chars(word->bytes, word->byte_count);
        word->is_too_long = word->byte_count == 0;
        word->flags |= QIX_CHAR_STRIPS;
    }
    word->is_too_long = word->is_too_long || word->char_count > QIX_TERM_CHARS_MAX;
}

static void give_word(qix_tokenizer *t, uint32_t start, uint32_t end)
{
    const term_buffer *word = &t->word;
    uint32_t bytes;
    give(t, word->bytes, word->byte_count, start, end, QIX_TOKEN_PRIMARY);
    if ((word->flags & QIX_CHAR_STRIPS) == 0) {
        return;
    }
    bytes = qix_strip_accents(word->bytes, word->byte_count, t->folded);
    if (bytes > 0 && (bytes != word->byte_count || memcmp(t->folded, word->bytes, bytes) != 0) &&
        count_chars(t->folded, bytes) <= QIX_TERM_CHARS_MAX) {
        give(t, t->folded, bytes, start, end, QIX_TOKEN_FOLDED);
    }
}

static bool is_one_of(uint8_t letter, const char *letters)
{
    return letter != 0 && strchr(letters, letter) != NULL;
}

/* Whether the word goes on behind the apostrophe that is current; consumes a possessive s, which is dropped.
 *
 *   l'eau, dell'acqua, d'accord   consonant, then vowel: an elided article or preposition, two words
 *   John's, it's                  an s that ends the word: dropped
 *   don't, you're, O'Reilly       otherwise one word, without its apostrophe (many write it so) */
static bool goes_on_after_apostrophe(qix_tokenizer *t, uint8_t last_letter)
{
    folded_char ahead[2];
    uint8_t next_letter;
    peek(t, ahead);
    if (!is_word(&ahead[0])) {
        return false;
    }
    next_letter = qix_base_letter(ahead[0].code);
    if (ahead[0].code == 's' && !is_word(&ahead[1]) && ahead[1].kind != QIX_CHAR_MARK) {
        advance(t);
        advance(t);
        return false;
    }
    return !(last_letter > '9' && !is_one_of(last_letter, "aeiou") && is_one_of(next_letter, "aeiouyh"));
}

/* Read one word into t->word; *ret_end is where its last character ends. */
static void read_word(qix_tokenizer *t, uint32_t *ret_end)
{
    uint8_t last_letter = 0;
    uint8_t last_ascii;
    clear_term(&t->word);
    do {
        append_char(&t->word, &t->current);
        *ret_end = t->current.end;
        if (t->current.kind == QIX_CHAR_WORD) {
            last_letter = t->current.code < 0x80 ? (uint8_t)t->current.code : qix_base_letter(t->current.code);
        }
        if ((last_ascii = append_ascii(t)) != 0) {
            last_letter = last_ascii;
            *ret_end = t->cursor.next;
        }
        advance(t);
        if (t->current.kind == QIX_CHAR_APOSTROPHE && goes_on_after_apostrophe(t, last_letter)) {
            advance(t);
        }
    } while (is_word(&t->current) || t->current.kind == QIX_CHAR_MARK);
    finish_term(&t->word);
}

/* ---- compounds ---- */

static void join(qix_tokenizer *t, const uint8_t *bytes, uint32_t byte_count, uint32_t char_count)
{
    if (t->is_joined_unusable || t->joined_chars + char_count > QIX_TERM_CHARS_MAX) {
        t->is_joined_unusable = true;
        return;
    }
    memcpy(t->joined + t->joined_bytes, bytes, byte_count);
    t->joined_bytes += byte_count;
    t->joined_chars += char_count;
}

/* Whether "v" is current and a number with a dot follows it: v1.2.3 is then the same as 1.2.3. */
static bool is_version_prefix(const qix_tokenizer *t)
{
    uint32_t at = t->cursor.next;
    uint32_t digits = 0;
    if (t->current.code != 'v' || t->cursor.sequence_left > 0) {
        return false;
    }
    while (at < t->text_bytes && digits < VERSION_DIGITS_MAX && t->text[at] >= '0' && t->text[at] <= '9') {
        at++;
        digits++;
    }
    return digits > 0 && t->text_bytes - at >= 2 && t->text[at] == '.' && t->text[at + 1] >= '0' &&
           t->text[at + 1] <= '9';
}

static void begin_compound(qix_tokenizer *t, uint32_t start)
{
    t->joined_bytes = 0;
    t->joined_chars = 0;
    t->joined_parts = 0;
    t->joined_start = start;
    t->is_joined_unusable = false;
    t->is_in_compound = true;
}

static bool may_go_on(const folded_char *c)
{
    return c->kind == QIX_CHAR_CONNECTOR || c->code == '+' || c->code == '#';
}

/* Consume the connector that is current, if the compound goes on behind it. A hyphen is left out of the joined form,
 * except between digits: e-mail is email, 2024-05 is not 202405. */
static bool read_connector(qix_tokenizer *t, bool is_digit_before)
{
    const folded_char connector = t->current;
    folded_char ahead[2];
    if (connector.kind != QIX_CHAR_CONNECTOR) {
        return false;
    }
    peek(t, ahead);
    if (!is_word(&ahead[0])) {
        return false;
    }
    advance(t);
    if (connector.code < 0x80 && connector.code != '-') {
        const uint8_t byte = (uint8_t)connector.code;
        join(t, &byte, 1, 1);
    } else if (is_digit_before && (t->current.flags & QIX_CHAR_DIGIT) != 0) {
        join(t, (const uint8_t *)"-", 1, 1);
    }
    return true;
}

/* Consume the ++ of C++ or the # of C#; the joined form then stands for the name. */
static bool read_suffix(qix_tokenizer *t, uint32_t *end)
{
    folded_char ahead[2];
    if (t->current.code != '+' && t->current.code != '#') {
        return false;
    }
    peek(t, ahead);
    if (t->current.code == '+' && ahead[0].code == '+' && !is_letter(&ahead[1])) {
        join(t, (const uint8_t *)"++", 2, 2);
        advance(t);
    } else if (t->current.code == '#' && t->joined_chars == 1 && !is_word(&ahead[0])) {
        join(t, (const uint8_t *)"#", 1, 1);
    } else {
        return false;
    }
    *end = t->current.end;
    advance(t);
    return true;
}

/* Give the tokens of one part of a compound, and those of the compound with its last part. */
static void give_part(qix_tokenizer *t)
{
    uint32_t start;
    uint32_t end = 0;
    bool is_digit_last;
    if (is_version_prefix(t)) {
        advance(t);
    }
    start = t->current.start;
    read_word(t, &end);
    if (t->word.is_too_long) {
        t->is_joined_unusable = true;
    } else {
        give_word(t, start, end);
    }
    if (t->joined_bytes == 0 && !may_go_on(&t->current)) {
        t->is_in_compound = false; /* a word alone: most are */
        t->position++;
        return;
    }
    join(t, t->word.bytes, t->word.byte_count, t->word.char_count);
    t->joined_parts++;
    is_digit_last = !t->word.is_too_long && t->word.bytes[t->word.byte_count - 1] <= '9';
    if (!read_suffix(t, &end) && read_connector(t, is_digit_last)) {
        t->position++;
        return;
    }
    if (!t->is_joined_unusable && (t->joined_parts > 1 || t->joined_bytes != t->word.byte_count)) {
        give(t, t->joined, t->joined_bytes, t->joined_start, end, QIX_TOKEN_JOINED);
    }
    t->is_in_compound = false;
    t->position++;
}

/* ---- runs of unspaced scripts ---- */

static void read_unit(qix_tokenizer *t)
{
    term_buffer *word = &t->word;
    clear_term(word);
    t->latest.start = t->current.start;
    do {
        if (word->char_count < UNIT_CHARS_MAX) {
            append_char(word, &t->current);
        }
        t->latest.end = t->current.end;
        advance(t);
    } while (t->current.kind == QIX_CHAR_MARK);
    if ((word->flags & QIX_CHAR_COMPOSES) != 0) {
        word->byte_count = qix_compose(word->bytes, word->byte_count);
    }
    t->latest.byte_count = word->byte_count;
    memcpy(t->latest.bytes, word->bytes, t->latest.byte_count);
}

static void begin_run(qix_tokenizer *t)
{
    read_unit(t);
    t->previous = t->latest;
    t->run_units = 1;
    t->is_in_run = true;
}

/* Give the tokens that begin with the previous unit. */
static void give_unit(qix_tokenizer *t)
{
    const unit *previous = &t->previous;
    uint32_t flags = QIX_TOKEN_CHARACTER;
    if (t->current.kind != QIX_CHAR_UNSPACED) {
        flags |= t->run_units == 1 ? QIX_TOKEN_PRIMARY : 0;
        memcpy(t->bigram, previous->bytes, previous->byte_count);
        give(t, t->bigram, previous->byte_count, previous->start, previous->end, flags);
        t->is_in_run = false;
        t->position++;
        return;
    }
    read_unit(t);
    t->run_units++;
    memcpy(t->bigram, previous->bytes, previous->byte_count);
    memcpy(t->bigram + previous->byte_count, t->latest.bytes, t->latest.byte_count);
    give(t, t->bigram, previous->byte_count + t->latest.byte_count, previous->start, t->latest.end,
         QIX_TOKEN_PRIMARY | QIX_TOKEN_BIGRAM);
    give(t, t->bigram, previous->byte_count, previous->start, previous->end, flags);
    t->previous = t->latest;
    t->position++;
}

/* ---- the pass ---- */

static bool is_plain_separator(const qix_tokenizer *t, uint32_t at)
{
    return at < t->text_bytes && t->text[at] < 0x80 && t->text[at] != '.' && fold_ascii(t->text[at]) == 0;
}

/* Skip to the next word or run; false at the end of the text. */
static bool skip_separators(qix_tokenizer *t)
{
    bool is_after_dot = false;
    while (!t->is_at_end && t->current.kind != QIX_CHAR_WORD && t->current.kind != QIX_CHAR_UNSPACED) {
        /* A dot before a letter is part of a name (.NET, .bashrc), but not the last one of an ellipsis. */
        if (t->current.code == '.' && !is_after_dot) {
            folded_char ahead[2];
            peek(t, ahead);
            if (is_letter(&ahead[0])) {
                begin_compound(t, t->current.start);
                join(t, (const uint8_t *)".", 1, 1);
            }
        }
        is_after_dot = t->current.code == '.';
        while (t->cursor.sequence_left == 0 && is_plain_separator(t, t->cursor.next)) {
            t->cursor.next++;
            is_after_dot = false;
        }
        advance(t);
    }
    return !t->is_at_end;
}

void qix_tokenizer_init(qix_tokenizer *tokenizer, const uint8_t *text, size_t text_bytes)
{
    assert(text_bytes < UINT32_MAX);
    memset(tokenizer, 0, sizeof *tokenizer);
    tokenizer->text = text;
    tokenizer->text_bytes = (uint32_t)text_bytes;
    advance(tokenizer);
}

bool qix_tokenizer_next(qix_tokenizer *tokenizer, qix_token *ret_token)
{
    qix_tokenizer *t = tokenizer;
    while (t->pending_next == t->pending_count) {
        t->pending_count = 0;
        t->pending_next = 0;
        if (t->is_in_run) {
            give_unit(t);
        } else if (t->is_in_compound) {
            give_part(t);
        } else if (!skip_separators(t)) {
            return false;
        } else if (t->current.kind == QIX_CHAR_UNSPACED) {
            begin_run(t);
        } else if (!t->is_in_compound) {
            begin_compound(t, t->current.start);
        }
    }
    *ret_token = t->pending[t->pending_next++];
    return true;
}
