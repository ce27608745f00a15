/* Terms that are a few edits away from a word, for telling someone who mistyped it.
 *
 * An edit is a character put in, left out, replaced, or exchanged with its neighbour (optimal string alignment). The
 * walk keeps the rows of the usual matrix for the characters of the present key, so that a key costs the characters
 * that it does not share with the last; where no key with the same beginning can be near enough, the walk jumps behind
 * all of them. Only terms with the word's first character are looked at, since few get that wrong and it is what
 * bounds the work together with QIX_NEAR_KEYS_MAX. */
#include "qix_best_terms.h"

#define QIX_NEAR_KEYS_MAX 200000u
#define QIX_NEAR_EDITS_MAX 2u
#define CHARS_MAX 128u
#define DEPTH_MAX (CHARS_MAX + QIX_NEAR_EDITS_MAX + 1)
/* Keys that are passed one by one before the walk looks for the next place from the top of the dictionary. */
#define STEPS_BEFORE_SEEK 16u

typedef struct {
    uint32_t word[CHARS_MAX], chars[DEPTH_MAX + 1]; /* of the word, and of the present key from its second byte */
    uint32_t ends[DEPTH_MAX + 1];                   /* where each of them ends in the key; ends[0] = 1 */
    uint8_t rows[DEPTH_MAX + 1][CHARS_MAX + 1];     /* [characters of the key][characters of the word] = edits */
    uint32_t word_chars, edits_max;
    uint32_t depth; /* rows that are right for the present key */
} near_search;

/* The character at bytes[at]; a byte that is not UTF-8 stands for itself. */
static uint32_t read_char(const uint8_t *bytes, uint32_t byte_count, uint32_t *at)
{
    uint8_t first = bytes[(*at)++];
    uint32_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t code = first;
    for (; more > 0 && *at < byte_count && (bytes[*at] & 0xC0) == 0x80; more--)
        code = code << 8 | bytes[(*at)++];
    return code;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Add a row for the key's next character; the least number in it. */
static uint32_t add_row(near_search *s, uint32_t code)
{
    uint32_t i = ++s->depth, lowest = i;
    s->chars[i - 1] = code;
    s->rows[i][0] = (uint8_t)least(i, UINT8_MAX);
    for (uint32_t j = 1; j <= s->word_chars; j++) {
        uint32_t edits = s->rows[i - 1][j - 1] + (s->word[j - 1] != code ? 1u : 0u);
        edits = least(edits, 1 + least(s->rows[i - 1][j], s->rows[i][j - 1]));
        if (i > 1 && j > 1 && s->word[j - 2] == code && s->word[j - 1] == s->chars[i - 2])
            edits = least(edits, 1u + s->rows[i - 2][j - 2]);
        s->rows[i][j] = (uint8_t)edits;
        lowest = least(lowest, edits);
    }
    return lowest;
}

static uint32_t lowest_of(const near_search *s, uint32_t depth)
{
    uint32_t lowest = UINT8_MAX;
    for (uint32_t j = 0; j <= s->word_chars; j++)
        lowest = least(lowest, s->rows[depth][j]);
    return lowest;
}

/* Bring the rows up to the walk's key. True if keys with its beginning may be near; else *ret_dead_bytes is how long a
 * beginning is that no near key has. An exchange reaches over a row, so two rows must have nothing near. */
static bool follow(near_search *s, const qix_term_walk *walk, uint32_t shared, uint32_t *ret_dead_bytes)
{
    while (s->depth > 0 && s->ends[s->depth] > shared)
        s->depth--;
    uint32_t at = s->ends[s->depth];
    while (at < walk->key_bytes) {
        if (s->depth == DEPTH_MAX) {
            *ret_dead_bytes = at;
            return false;
        }
        uint32_t code = read_char(walk->key, walk->key_bytes, &at);
        uint32_t lowest = add_row(s, code);
        s->ends[s->depth] = at;
        if (lowest > s->edits_max && lowest_of(s, s->depth - 1) >= s->edits_max) {
            *ret_dead_bytes = at;
            return false;
        }
    }
    return true;
}

/* Go behind all keys that begin with the first `dead` bytes of the walk's key. */
static qix_status leave(qix_term_walk *walk, uint32_t dead, bool *ret_found, qix_fault *fault)
{
    uint8_t beginning[QIX_KEY_BYTES_MAX];
    memcpy(beginning, walk->key, dead);
    for (uint32_t step = 0; step < STEPS_BEFORE_SEEK; step++) {
        qix_status status = qix_terms_next(walk, ret_found, fault);
        if (status || !*ret_found || walk->key_bytes < dead || memcmp(walk->key, beginning, dead) != 0)
            return status;
    }
    while (dead > 0 && beginning[dead - 1] == 0xFF)
        dead--;
    *ret_found = dead > 0;
    if (dead == 0)
        return QIX_OK;
    beginning[dead - 1]++;
    return qix_terms_seek(walk->segment, beginning, dead, walk, ret_found, fault);
}

static uint32_t shared_bytes(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes)
{
    uint32_t shared = 0;
    while (shared < a_bytes && shared < b_bytes && a[shared] == b[shared])
        shared++;
    return shared;
}

static qix_status collect(near_search *s, const qix_segment *segment, const uint8_t *start, uint32_t start_bytes,
                          qix_best_terms *best, qix_fault *fault)
{
    qix_term_walk walk;
    uint8_t last[QIX_KEY_BYTES_MAX];
    uint32_t last_bytes = 0;
    bool found;
    qix_status status = qix_terms_seek(segment, start, start_bytes, &walk, &found, fault);
    for (uint32_t keys = 0; !status && found && keys < QIX_NEAR_KEYS_MAX; keys++) {
        if (walk.key_bytes < start_bytes || memcmp(walk.key, start, start_bytes) != 0)
            break;
        uint32_t dead, shared = shared_bytes(last, last_bytes, walk.key, walk.key_bytes);
        memcpy(last, walk.key, walk.key_bytes);
        last_bytes = walk.key_bytes;
        if (!follow(s, &walk, shared, &dead)) {
            status = leave(&walk, dead, &found, fault);
            continue;
        }
        uint32_t edits = s->rows[s->depth][s->word_chars];
        if (edits > 0 && edits <= s->edits_max)
            qix_best_offer(best, &walk, edits);
        status = qix_terms_next(&walk, &found, fault);
    }
    return status;
}

/* Set up for a key (namespace byte, word); the bytes up to behind the word's first character, or 0 if it is too long
 * or empty. */
static uint32_t set_up(near_search *s, const uint8_t *key, uint32_t key_bytes, uint32_t edits_max)
{
    uint32_t start = 0;
    s->word_chars = s->depth = 0;
    s->edits_max = edits_max;
    s->ends[0] = 1;
    for (uint32_t at = 1; at < key_bytes;) {
        if (s->word_chars == CHARS_MAX)
            return 0;
        s->word[s->word_chars++] = read_char(key, key_bytes, &at);
        if (s->word_chars == 1)
            start = at;
    }
    for (uint32_t j = 0; j <= s->word_chars; j++)
        s->rows[0][j] = (uint8_t)j;
    return start;
}

qix_status qix_near_terms(const qix_segment *segment, const uint8_t *key, uint32_t key_bytes, uint32_t edits_max,
                          uint32_t limit, uint8_t *ret_keys, uint32_t *ret_ends, uint32_t *ret_dfs, uint32_t *ret_count,
                          qix_fault *ret_fault)
{
    near_search search;
    uint32_t start_bytes = set_up(&search, key, key_bytes, edits_max);
    if (start_bytes == 0 || limit < 1 || limit > QIX_LIST_TERMS_MAX || edits_max < 1 || edits_max > QIX_NEAR_EDITS_MAX)
        return qix_fail(ret_fault, QIX_ERR_ARGUMENT, 0,
                        "limit must be 1 to 10000, edits 1 or 2, and the word 1 to 128 characters");
    qix_best_terms best;
    qix_status status = qix_best_init(&best, limit, ret_fault);
    if (!status)
        status = qix_settle(segment, collect(&search, segment, key, start_bytes, &best, ret_fault), ret_fault);
    if (!status)
        qix_best_write(&best, ret_keys, ret_ends, ret_dfs, ret_count);
    qix_best_free(&best);
    return status;
}
