/* The running text of a page while the walk goes through it: blanks, lines, and where ranges begin and end.
 *
 * Text is collected raw and normalised a run at a time: a run of white space becomes one blank, blocks become lines.
 * Offsets are known only when the next text is written, because what stands before it (a blank, a line end, nothing)
 * depends on it; so a range that is opened waits for that. White space is Unicode's, as Python's str.split has it. */
#ifndef PAGE_TEXT_H
#define PAGE_TEXT_H

#include "page_guard.h"
#include "qix_bytes.h"

typedef struct {
    qix_bytes out;     /* UTF-8 that was written */
    qix_bytes raw;     /* since the last run was written */
    qix_bytes ranges;  /* page_range, in the order in which they were opened */
    qix_bytes opening; /* uint32_t numbers of ranges that wait for text */
    uint32_t length;   /* code points written */
    uint32_t chars_max;
    uint32_t preformatted; /* depth of elements whose white space counts */
    bool has_raw;          /* also of empty pieces */
    bool is_full;
    bool has_failed; /* memory was short, and something is missing */
    char separator;  /* due before the next text: 0, ' ' or '\n' */
} page_text;

void page_text_free(page_text *text);
/* Begin another page; memory is kept. */
void page_text_reset(page_text *text, uint32_t chars_max);

/* Add a piece that runs on with the one before. */
void page_text_add(page_text *text, const uint8_t *data, size_t bytes);
/* End the line: what follows is another block. */
void page_text_break_line(page_text *text);
/* Keep what follows a blank apart. */
void page_text_break_cell(page_text *text);
/* Begin a range at the next text; gives its number. */
uint32_t page_text_open(page_text *text, int kind);
/* End a range after the text so far. */
void page_text_close(page_text *text, uint32_t range);

/* Code points in a range that has ended. */
int32_t page_text_chars(const page_text *text, uint32_t range);

/* Bytes of the white space at `p`, of which `left` can be read; 0 if there is none. */
static inline size_t page_space(const uint8_t *p, size_t left)
{
    if (left == 0)
        return 0;
    if (p[0] < 0x80)
        return (p[0] >= 0x09 && p[0] <= 0x0d) || (p[0] >= 0x1c && p[0] <= 0x20);
    if (p[0] == 0xc2)
        return left >= 2 && (p[1] == 0x85 || p[1] == 0xa0) ? 2 : 0; /* U+0085, U+00A0 */
    if (left < 3)
        return 0;
    if (p[0] == 0xe2) {
        /* U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F */
        const bool is_space =
            p[1] == 0x80 ? p[2] <= 0x8a || p[2] == 0xa8 || p[2] == 0xa9 || p[2] == 0xaf : p[1] == 0x81 && p[2] == 0x9f;
        return is_space && p[2] >= 0x80 ? 3 : 0;
    }
    if (p[0] == 0xe1)
        return p[1] == 0x9a && p[2] == 0x80 ? 3 : 0;             /* U+1680 */
    return p[0] == 0xe3 && p[1] == 0x80 && p[2] == 0x80 ? 3 : 0; /* U+3000 */
}

/* Whether there is nothing but white space. */
bool page_is_blank(const uint8_t *data, size_t bytes);
/* Bytes of the first `chars` code points, or of all if there are fewer. */
size_t page_prefix(const uint8_t *data, size_t bytes, uint32_t chars);

#endif
