/* What the names that authors give their elements (class, id, itemprop) say about what is in them.
 *
 * A name is cut into words at everything but letters and where an upper-case letter follows a lower-case one; a word
 * that begins with a known one is looked at again behind it, so that "articlebody" is read like "article-body". */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "page_guard.h"
#include "page_hints.h"

enum { WORD_SUBJECT = 1, WORD_BODY = 2, WORD_BESIDE = 4, WORD_GOOD = 8, WORD_WHOLE = 16 };

typedef struct {
    const char *word;
    uint8_t bytes;
    uint8_t says;
} hint_word;

#define HINT(word, says) {word, sizeof word - 1, says}

/* In alphabetical order; a longer word before one that it begins with. */
static const hint_word words[] = {
    HINT("actions", WORD_BESIDE | WORD_WHOLE),
    HINT("ad", WORD_BESIDE | WORD_WHOLE),
    HINT("ads", WORD_BESIDE | WORD_WHOLE),
    HINT("adslot", WORD_BESIDE),
    HINT("advert", WORD_BESIDE),
    HINT("article", WORD_SUBJECT | WORD_GOOD),
    HINT("authors", WORD_BESIDE | WORD_WHOLE),
    HINT("author", WORD_BESIDE | WORD_WHOLE),
    HINT("banner", WORD_BESIDE),
    HINT("bio", WORD_BESIDE | WORD_WHOLE),
    HINT("blog", WORD_SUBJECT | WORD_GOOD),
    HINT("body", WORD_BODY | WORD_GOOD),
    HINT("breadcrumb", WORD_BESIDE),
    HINT("byline", WORD_BESIDE),
    HINT("caption", WORD_BESIDE),
    HINT("carousel", WORD_BESIDE),
    HINT("comment", WORD_BESIDE),
    HINT("content", WORD_BODY | WORD_GOOD),
    HINT("cookie", WORD_BESIDE),
    HINT("copyright", WORD_BESIDE),
    HINT("copy", WORD_BODY | WORD_WHOLE),
    HINT("credit", WORD_BESIDE),
    HINT("date", WORD_BESIDE | WORD_WHOLE),
    HINT("disclaimer", WORD_BESIDE),
    HINT("disqus", WORD_BESIDE),
    HINT("entry", WORD_SUBJECT | WORD_GOOD),
    HINT("footer", WORD_BESIDE),
    HINT("hentry", WORD_GOOD),
    HINT("jp", WORD_BESIDE | WORD_WHOLE),
    HINT("login", WORD_BESIDE),
    HINT("main", WORD_SUBJECT | WORD_GOOD),
    HINT("masthead", WORD_BESIDE),
    HINT("menu", WORD_BESIDE),
    HINT("meta", WORD_BESIDE | WORD_WHOLE),
    HINT("modal", WORD_BESIDE),
    HINT("most", WORD_BESIDE | WORD_WHOLE),
    HINT("navigation", WORD_BESIDE),
    HINT("nav", WORD_BESIDE | WORD_WHOLE),
    HINT("newsletter", WORD_BESIDE),
    HINT("news", WORD_SUBJECT),
    HINT("outbrain", WORD_BESIDE),
    HINT("pager", WORD_BESIDE),
    HINT("pagination", WORD_BESIDE),
    HINT("popular", WORD_BESIDE),
    HINT("popup", WORD_BESIDE),
    HINT("post", WORD_SUBJECT | WORD_GOOD),
    HINT("print", WORD_BESIDE | WORD_WHOLE),
    HINT("promo", WORD_BESIDE),
    HINT("rail", WORD_BESIDE | WORD_WHOLE),
    HINT("rating", WORD_BESIDE),
    HINT("readmore", WORD_BESIDE),
    HINT("recirc", WORD_BESIDE),
    HINT("recommend", WORD_BESIDE),
    HINT("related", WORD_BESIDE),
    HINT("share", WORD_BESIDE),
    HINT("sharing", WORD_BESIDE),
    HINT("sidebar", WORD_BESIDE),
    HINT("signup", WORD_BESIDE),
    HINT("social", WORD_BESIDE),
    HINT("sponsor", WORD_BESIDE),
    HINT("story", WORD_SUBJECT | WORD_GOOD),
    HINT("subscribe", WORD_BESIDE),
    HINT("subscription", WORD_BESIDE),
    HINT("taboola", WORD_BESIDE),
    HINT("tags", WORD_BESIDE | WORD_WHOLE),
    HINT("teaser", WORD_BESIDE),
    HINT("text", WORD_BODY | WORD_GOOD),
    HINT("timestamp", WORD_BESIDE),
    HINT("toolbar", WORD_BESIDE),
    HINT("trending", WORD_BESIDE),
    HINT("widget", WORD_BESIDE),
};

static bool is_lower(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

static uint8_t to_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

/* The known word at the start of a lower-case one, the only one of it if it must be; NULL if there is none. */
static const hint_word *find_word(const uint8_t *word, size_t bytes)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].word[0] > (char)word[0])
            return NULL;
        if (words[i].bytes <= bytes && memcmp(words[i].word, word, words[i].bytes) == 0 &&
            ((words[i].says & WORD_WHOLE) == 0 || words[i].bytes == bytes))
            return &words[i];
    }
    return NULL;
}

static uint32_t says_of(const uint8_t *word, size_t bytes)
{
    uint32_t says = 0;
    while (bytes > 1) {
        const hint_word *const found = find_word(word, bytes);
        if (!found)
            break;
        says |= found->says;
        word += found->bytes;
        bytes -= found->bytes;
    }
    return says;
}

int32_t page_hints_of(const uint8_t *name, size_t bytes)
{
    uint8_t word[24]; /* no known one is longer; of longer ones the beginning is looked at */
    size_t used = 0;
    uint32_t says = 0;
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t lower = to_lower(name[i]);
        const bool is_new = used > 0 && lower != name[i] && i > 0 && is_lower(name[i - 1]);
        if (!is_lower(lower) || is_new) {
            says |= says_of(word, used);
            used = 0;
        }
        if (is_lower(lower) && used < sizeof word)
            word[used++] = lower;
    }
    says |= says_of(word, used);
    if ((says & WORD_BESIDE) != 0)
        return PAGE_HINT_BESIDE;
    if ((says & WORD_SUBJECT) != 0 && (says & WORD_BODY) != 0)
        return PAGE_HINT_BODY | PAGE_HINT_GOOD;
    return (says & WORD_GOOD) != 0 ? PAGE_HINT_GOOD : 0;
}

int32_t page_hints_of_element(const page_tree *tree, void *element)
{
    int32_t hints = 0;
    for (void *at = tree->first_attribute(element); at; at = tree->next_attribute(at)) {
        size_t name_bytes = 0;
        size_t bytes = 0;
        const uint8_t *const name = tree->attribute_name(at, &name_bytes);
        const bool is_read = name && ((name_bytes == 5 && memcmp(name, "class", 5) == 0) ||
                                      (name_bytes == 2 && memcmp(name, "id", 2) == 0) ||
                                      (name_bytes == 8 && memcmp(name, "itemprop", 8) == 0));
        const uint8_t *const value = is_read ? tree->attribute_value(at, &bytes) : NULL;
        if (value)
            hints |= page_hints_of(value, bytes);
    }
    return hints;
}
