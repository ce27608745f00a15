/* The main part of a page that does not name it, told from navigation and frame by what the text is like.
 *
 * Each block's own text is worth something if it reads like prose: long, with punctuation, not made of links (after
 * Kohlschuetter and others 2010, "Boilerplate detection using shallow text features"). What it is worth counts for the
 * blocks around it, less with each level, and the best one is the main part; blocks beside it that are much like it
 * belong to it, and blocks in it that are made of links, or are named for what stands beside a text, do not. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "page_guard.h"

/* Bytes, so that a letter of a script without spaces, which says more, counts for more. */
#define OWN_BYTES_MIN 25u
#define MAIN_BYTES_MIN 200u
#define MAIN_SCORE_MIN 8.0f
#define LEVELS 5

#define CLIMB 1.5f
#define BESIDE_PART_MAX 0.4f

typedef struct {
    uint32_t own_bytes;
    uint32_t own_chars;
    uint32_t own_links; /* characters of links */
    uint32_t marks;     /* of punctuation, in its own text */
    float score;
    float prose; /* bytes of prose in it */
    bool is_beside;
} block_state;

static uint32_t chars_of(const page_block *b)
{
    return (uint32_t)(b->end - b->start);
}

static float density(uint32_t links, uint32_t chars)
{
    return chars > 0 ? (links < chars ? (float)links / (float)chars : 1.0f) : 0.0f;
}

/* Whether a mark of punctuation ends at `at`: commas and ends of sentences, in the scripts that have their own. */
static bool is_mark(const uint8_t *text, size_t at)
{
    const uint8_t c = text[at];
    if (c < 0x80)
        return c == ',' || c == '.' || c == '!' || c == '?' || c == ';';
    if (at >= 1 && text[at - 1] == 0xd8)
        return c == 0x8c || c == 0x9f; /* Arabic */
    if (at < 2)
        return false;
    if (text[at - 2] == 0xe3 && text[at - 1] == 0x80)
        return c == 0x81 || c == 0x82; /* ideographic */
    if (text[at - 2] == 0xef && text[at - 1] == 0xbc)
        return c == 0x81 || c == 0x8c || c == 0x9f;                   /* full width */
    return text[at - 2] == 0xe0 && text[at - 1] == 0xa5 && c == 0xa4; /* danda */
}

/* Give every byte of the text to the innermost block around it. */
static void read_text(const uint8_t *text, size_t bytes, const page_block *blocks, block_state *states, size_t count)
{
    int32_t position = -1;
    int32_t inner = -1;
    size_t next = 0;
    for (size_t i = 0; i < bytes; i++) {
        if ((text[i] & 0xc0u) != 0x80u) {
            position++;
            while (inner >= 0 && blocks[inner].end <= position)
                inner = blocks[inner].parent;
            while (next < count && blocks[next].start <= position)
                inner = (int32_t)next++;
        }
        if (inner < 0)
            continue;
        states[inner].own_bytes++;
        states[inner].own_chars += (text[i] & 0xc0u) != 0x80u;
        states[inner].marks += is_mark(text, i);
    }
    for (size_t i = 0; i < count; i++)
        states[i].own_links = (uint32_t)blocks[i].link_chars;
    for (size_t i = 0; i < count; i++)
        if (blocks[i].parent >= 0) {
            block_state *const parent = &states[blocks[i].parent];
            parent->own_links -=
                (uint32_t)blocks[i].link_chars < parent->own_links ? (uint32_t)blocks[i].link_chars : parent->own_links;
        }
}

static bool is_beside(const page_block *b, uint32_t page_chars)
{
    const float links = density((uint32_t)b->link_chars, chars_of(b));
    if ((b->flags & (PAGE_IN_NAV | PAGE_IN_ASIDE | PAGE_IN_FOOTER)) != 0)
        return true;
    if ((float)chars_of(b) > BESIDE_PART_MAX * (float)page_chars)
        return false;
    if (b->hints == PAGE_HINT_BESIDE || (b->flags & PAGE_IN_FORM) != 0)
        return true;
    if ((b->flags & (PAGE_IN_HEADLINE | PAGE_IN_PARAGRAPH)) != 0)
        return links > 0.9f && chars_of(b) > 20;
    return links > 0.5f;
}

static float worth(const block_state *s)
{
    if (s->own_bytes < OWN_BYTES_MIN)
        return 0.0f;
    const float length = (float)s->own_bytes / 100.0f;
    return (1.0f + (float)s->marks + (length < 3.0f ? length : 3.0f)) * (1.0f - density(s->own_links, s->own_chars));
}

/* Count what a block's own text is worth for the blocks around it. */
static void spread(const page_block *blocks, block_state *states, size_t number)
{
    const page_block *const b = &blocks[number];
    const float value = worth(&states[number]);
    const float links = density(states[number].own_links, states[number].own_chars);
    const bool is_prose = states[number].own_bytes >= 60 && states[number].marks > 0 && links < 0.33f;
    if ((b->flags & PAGE_IN_HEADLINE) != 0)
        return;
    int32_t at = (b->flags & PAGE_IN_PARAGRAPH) != 0 ? b->parent : (int32_t)number;
    for (int level = 0; at >= 0 && level < LEVELS; level++, at = blocks[at].parent)
        states[at].score += value / (level == 0 ? 1.0f : level == 1 ? 2.0f : 3.0f * (float)level);
    if (!is_prose)
        return;
    for (at = (int32_t)number; at >= 0; at = blocks[at].parent)
        states[at].prose += (float)states[number].own_bytes;
}

static float start_score(const page_block *b)
{
    float score = 0.0f;
    if ((b->hints & PAGE_HINT_GOOD) != 0)
        score += 15.0f;
    if ((b->hints & PAGE_HINT_BODY) != 0)
        score += 25.0f;
    if ((b->flags & (PAGE_IN_ARTICLE | PAGE_IN_MAIN)) != 0)
        score += 15.0f;
    return score;
}

static int32_t best_block(const page_block *blocks, block_state *states, size_t count)
{
    int32_t best = -1;
    float best_score = MAIN_SCORE_MIN;
    for (size_t i = 0; i < count; i++) {
        const page_block *const b = &blocks[i];
        if (states[i].is_beside || states[i].score <= 0.0f)
            continue;
        states[i].score = (states[i].score + start_score(b)) * (1.0f - density((uint32_t)b->link_chars, chars_of(b)));
        if (states[i].score > best_score && states[i].prose >= (float)MAIN_BYTES_MIN) {
            best_score = states[i].score;
            best = (int32_t)i;
        }
    }
    /* A text may be in parts, each in blocks of its own. */
    for (int32_t at = best; at >= 0 && !states[at].is_beside; at = blocks[at].parent)
        if (states[at].prose > CLIMB * states[best].prose)
            best = at;
    return best;
}

/* Whether a block beside the best one is part of the main text. */
static bool is_more(const page_block *b, const block_state *s, float best_score)
{
    const float least = best_score * 0.2f > 10.0f ? best_score * 0.2f : 10.0f;
    if (s->is_beside)
        return false;
    if ((b->flags & PAGE_IN_PARAGRAPH) != 0 && s->own_bytes > 80)
        return density(s->own_links, s->own_chars) < 0.25f && s->marks > 0;
    return s->score >= least && s->prose > 0;
}

static size_t collect(const page_block *blocks, const block_state *states, size_t count, int32_t best,
                      const page_kinds *kinds, page_range *ret_ranges)
{
    size_t used = 0;
    const int32_t around = blocks[best].parent;
    int32_t skip = -1; /* end of the block beside the text that was marked last: what is in it needs no mark */
    for (size_t i = 0; i < count; i++) {
        const bool is_main = (int32_t)i == best || (blocks[i].parent == around && around >= 0 &&
                                                    is_more(&blocks[i], &states[i], states[best].score));
        if (is_main)
            ret_ranges[used++] = (page_range){kinds->main, blocks[i].start, blocks[i].end};
        if (!states[i].is_beside || blocks[i].start < skip)
            continue;
        ret_ranges[used++] = (page_range){kinds->navigation, blocks[i].start, blocks[i].end};
        skip = blocks[i].end;
    }
    return used;
}

int page_find_main(const uint8_t *text, size_t bytes, const page_block *blocks, size_t count, const page_kinds *kinds,
                   page_range *ret_ranges, size_t *ret_count)
{
    block_state *const states = calloc(count > 0 ? count : 1, sizeof *states);
    if (!states)
        return -1;
    read_text(text, bytes, blocks, states, count);
    for (size_t i = 0; i < count; i++) {
        const int32_t parent = blocks[i].parent;
        const uint32_t page_chars = count > 0 ? chars_of(&blocks[0]) : 0;
        states[i].is_beside = (parent >= 0 && states[parent].is_beside) || is_beside(&blocks[i], page_chars);
    }
    for (size_t i = 0; i < count; i++)
        if (!states[i].is_beside)
            spread(blocks, states, i);
    const int32_t best = best_block(blocks, states, count);
    *ret_count = best >= 0 ? collect(blocks, states, count, best, kinds, ret_ranges) : 0;
    free(states);
    return 0;
}
