#include <stdbool.h>
#include <string.h>

#include "page_guard.h"

/* Fewer pairs of words than this say too little: a menu and a line of text would look like many others. */
#define PAIRS_MIN 32u

/* Places for pairs that were counted, a power of two: 64 KiB of stack. A long text may push a pair out, and count it
 * again when it comes once more; the same text always does so in the same way. */
#define SEEN_MAX 8192u

static uint64_t mix(uint64_t h)
{
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 27;
    h *= 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

static bool is_word_byte(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return byte >= 0x80 || (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
}

/* Bytes of the word at `data`: a run of word bytes, or one character of U+3000 to U+9FFF, which stands without blanks. */
static size_t word_bytes(const uint8_t *data, size_t bytes)
{
    size_t n = 0;
    while (n < bytes && is_word_byte(data[n])) {
        if (data[n] >= 0xe3 && data[n] <= 0xe9)
            return n > 0 ? n : (bytes < 3 ? bytes : 3);
        n++;
    }
    return n;
}

uint64_t page_simhash(const uint8_t *data, size_t bytes)
{
    int32_t balance[64] = {0};
    uint64_t seen[SEEN_MAX];
    memset(seen, 0, sizeof(seen));
    uint64_t previous = 0;
    size_t words = 0, pairs = 0;
    for (size_t i = 0; i < bytes;) {
        size_t length = word_bytes(data + i, bytes - i);
        if (length == 0) {
            i++;
            continue;
        }
        uint64_t word = 0xcbf29ce484222325u; /* FNV-1a */
        for (size_t j = i; j < i + length; j++) {
            uint8_t byte = data[j];
            word = (word ^ (uint8_t)(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte)) * 0x100000001b3u;
        }
        i += length;
        if (words++ > 0) {
            uint64_t pair = mix(previous * 3 + word);
            /* Once each: a table or a menu that says the same in every line must not outvote the rest. */
            uint64_t *place = &seen[pair & (SEEN_MAX - 1)];
            if (*place != pair) {
                *place = pair;
                pairs++;
                for (unsigned bit = 0; bit < 64; bit++)
                    balance[bit] += (int32_t)((pair >> bit & 1) * 2) - 1;
            }
        }
        previous = word;
    }
    if (pairs < PAIRS_MIN)
        return 0;
    uint64_t found = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        found |= (uint64_t)(balance[bit] > 0) << bit;
    return found;
}
