#include "page_text.h"

#include <string.h>

void page_text_free(page_text *text)
{
    qix_bytes_free(&text->out);
    qix_bytes_free(&text->raw);
    qix_bytes_free(&text->ranges);
    qix_bytes_free(&text->opening);
}

void page_text_reset(page_text *text, uint32_t chars_max)
{
    qix_bytes *const parts[] = {&text->out, &text->raw, &text->ranges, &text->opening};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        parts[i]->used = 0;
    text->length = 0;
    text->chars_max = chars_max;
    text->preformatted = 0;
    text->has_raw = text->is_full = text->has_failed = false;
    text->separator = 0;
}

static void add(page_text *text, qix_bytes *to, const void *data, size_t bytes)
{
    if (!qix_bytes_add(to, data, bytes))
        text->has_failed = true;
}

bool page_is_blank(const uint8_t *data, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        const size_t space = page_space(data + at, bytes - at);
        if (space == 0)
            return false;
        at += space;
    }
    return true;
}

static uint32_t count_chars(const uint8_t *data, size_t bytes)
{
    uint32_t chars = 0;
    for (size_t i = 0; i < bytes; i++)
        chars += (data[i] & 0xc0u) != 0x80u;
    return chars;
}

size_t page_prefix(const uint8_t *data, size_t bytes, uint32_t chars)
{
    size_t at = 0;
    if (bytes <= chars)
        return bytes;
    for (; at < bytes; at++)
        if ((data[at] & 0xc0u) != 0x80u && chars-- == 0)
            break;
    return at;
}

static void write_text(page_text *text, const uint8_t *data, size_t bytes)
{
    uint32_t start = text->length;
    uint32_t chars = count_chars(data, bytes);
    if (text->is_full)
        return;
    if (start > 0 && text->separator != 0) {
        add(text, &text->out, &text->separator, 1);
        start++;
    }
    page_range *const ranges = (page_range *)text->ranges.data;
    const uint32_t *const opening = (const uint32_t *)text->opening.data;
    for (size_t i = 0; i < text->opening.used / sizeof *opening; i++)
        ranges[opening[i]].start = (int32_t)start;
    text->opening.used = 0;
    if (chars > text->chars_max || start > text->chars_max - chars) {
        text->is_full = true;
        chars = start < text->chars_max ? text->chars_max - start : 0;
        bytes = page_prefix(data, bytes, chars);
    }
    add(text, &text->out, data, bytes);
    text->length = start + chars;
}

/* Bytes that begin white space, or characters of which some are white space. */
static const uint8_t may_be_space[256] = {
    ['\t'] = 1, ['\n'] = 1, [0x0b] = 1, ['\f'] = 1, ['\r'] = 1, [0x1c] = 1, [0x1d] = 1,
    [0x1e] = 1, [0x1f] = 1, [' '] = 1,  [0xc2] = 1, [0xe1] = 1, [0xe2] = 1, [0xe3] = 1,
};

/* The end of the word that begins at `at`. */
static size_t word_end(const uint8_t *raw, size_t bytes, size_t at)
{
    while (at < bytes && (!may_be_space[raw[at]] || page_space(raw + at, bytes - at) == 0))
        at++;
    return at;
}

/* Give every run of white space in the raw text as one blank and none at its ends, in place; gives the bytes left. */
static size_t collapse(uint8_t *raw, size_t bytes)
{
    size_t used = 0;
    for (size_t at = 0; at < bytes;) {
        const size_t space = page_space(raw + at, bytes - at);
        if (space > 0) {
            at += space;
            continue;
        }
        const size_t end = word_end(raw, bytes, at);
        if (used > 0)
            raw[used++] = ' ';
        if (used != at)
            memmove(raw + used, raw + at, end - at);
        used += end - at;
        at = end;
    }
    return used;
}

static bool ends_with_space(const uint8_t *raw, size_t bytes)
{
    for (size_t back = 1; back <= 3 && back <= bytes; back++)
        if (page_space(raw + bytes - back, back) == back)
            return true;
    return false;
}

static void flush_running(page_text *text, uint8_t *raw, size_t bytes)
{
    if (bytes == 0)
        return;
    const bool has_space_before = page_space(raw, bytes) > 0;
    const bool has_space_after = ends_with_space(raw, bytes);
    const size_t used = collapse(raw, bytes);
    if (has_space_before && text->separator == 0)
        text->separator = ' ';
    if (used == 0)
        return;
    write_text(text, raw, used);
    text->separator = has_space_after ? ' ' : 0;
}

static void flush_preformatted(page_text *text, const uint8_t *raw, size_t bytes)
{
    if (text->separator == '\n' || text->length == 0)
        for (; bytes > 0 && raw[0] == '\n'; bytes--)
            raw++;
    size_t kept = bytes;
    while (kept > 0 && raw[kept - 1] == '\n')
        kept--;
    if (kept > 0) {
        write_text(text, raw, kept);
        text->separator = 0;
    }
    if (kept < bytes)
        text->separator = '\n';
}

static void flush(page_text *text)
{
    if (!text->has_raw)
        return;
    if (text->preformatted > 0)
        flush_preformatted(text, text->raw.data, text->raw.used);
    else
        flush_running(text, text->raw.data, text->raw.used);
    text->raw.used = 0;
    text->has_raw = false;
}

void page_text_add(page_text *text, const uint8_t *data, size_t bytes)
{
    /* White space at the start of a line means nothing; most text nodes between blocks are just that. */
    if (!text->has_raw && text->separator == '\n' && text->preformatted == 0 && page_is_blank(data, bytes))
        return;
    add(text, &text->raw, data, bytes);
    text->has_raw = true;
}

void page_text_break_line(page_text *text)
{
    flush(text);
    text->separator = '\n';
}

void page_text_break_cell(page_text *text)
{
    flush(text);
    if (text->separator == 0)
        text->separator = ' ';
}

uint32_t page_text_open(page_text *text, int kind)
{
    const page_range range = {.kind = kind, .start = -1, .end = -1};
    const uint32_t number = (uint32_t)(text->ranges.used / sizeof range);
    flush(text);
    if (!qix_bytes_reserve(&text->ranges, sizeof range) || !qix_bytes_reserve(&text->opening, sizeof number)) {
        text->has_failed = true;
        return number;
    }
    add(text, &text->ranges, &range, sizeof range);
    add(text, &text->opening, &number, sizeof number);
    return number;
}

void page_text_close(page_text *text, uint32_t range)
{
    page_range *const ranges = (page_range *)text->ranges.data;
    uint32_t *const opening = (uint32_t *)text->opening.data;
    flush(text);
    if (range >= text->ranges.used / sizeof *ranges)
        return; /* there was no memory for it */
    if (ranges[range].start >= 0) {
        ranges[range].end = (int32_t)text->length;
        return;
    }
    size_t count = text->opening.used / sizeof *opening;
    for (size_t i = count; i-- > 0;)
        if (opening[i] == range) {
            memmove(opening + i, opening + i + 1, (count - i - 1) * sizeof *opening);
            text->opening.used -= sizeof *opening;
            break;
        }
}

int32_t page_text_chars(const page_text *text, uint32_t range)
{
    const page_range *const ranges = (const page_range *)text->ranges.data;
    if (range >= text->ranges.used / sizeof *ranges || ranges[range].start < 0)
        return 0;
    return ranges[range].end - ranges[range].start;
}
