/* Files and the dictionary of flat.h. */
#define _GNU_SOURCE
#include "flat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_SLOTS (1u << 16)

_Noreturn void die(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s: %s\n", name, what, errno ? strerror(errno) : "bad input");
    exit(1);
}

void *grow(void *data, size_t count, size_t size)
{
    void *grown = reallocarray(data, count, size);
    if (!grown)
        die("no memory", "exhaustive");
    return grown;
}

static mapped map_file(const char *path, int flags, int protection, size_t bytes)
{
    int file = open(path, flags, 0644);
    struct stat found;
    if (file < 0)
        die("cannot open", path);
    if ((flags & O_CREAT) && ftruncate(file, (off_t)bytes))
        die("cannot make", path);
    if (fstat(file, &found))
        die("cannot read", path);
    mapped result = {NULL, (size_t)found.st_size};
    if (result.bytes) {
        result.data = mmap(NULL, result.bytes, protection, MAP_SHARED, file, 0);
        if (result.data == MAP_FAILED)
            die("cannot map", path);
    }
    close(file);
    return result;
}

mapped map_existing(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    return map_file(path, O_RDONLY, PROT_READ, 0);
}

mapped map_new(const char *folder, const char *name, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return map_file(path, O_RDWR | O_CREAT | O_TRUNC, PROT_READ | PROT_WRITE, bytes);
}

/* FNV-1a, with its high half folded in: spreads short words well enough. */
static uint64_t hash(const char *start, size_t length)
{
    uint64_t value = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        value = (value ^ (uint8_t)start[i]) * 0x100000001b3u;
    return value ^ value >> 32;
}

static void place(dictionary *terms, uint32_t term)
{
    uint64_t slot = terms->hashes[term] & (terms->slot_count - 1);
    while (terms->slots[slot] != NO_TERM)
        slot = (slot + 1) & (terms->slot_count - 1);
    terms->slots[slot] = term;
}

static void resize(dictionary *terms, uint64_t slot_count)
{
    terms->slot_count = slot_count;
    terms->slots = grow(terms->slots, slot_count, sizeof *terms->slots);
    memset(terms->slots, 0xff, slot_count * sizeof *terms->slots);
    for (uint32_t term = 0; term < terms->count; term++)
        place(terms, term);
}

void dictionary_new(dictionary *terms)
{
    memset(terms, 0, sizeof *terms);
    resize(terms, FIRST_SLOTS);
}

static uint32_t find(const dictionary *terms, const char *start, size_t length, uint64_t key)
{
    for (uint64_t slot = key & (terms->slot_count - 1);; slot = (slot + 1) & (terms->slot_count - 1)) {
        uint32_t term = terms->slots[slot];
        if (term == NO_TERM)
            return NO_TERM;
        if (terms->hashes[term] == key && terms->lengths[term] == length && !memcmp(terms->starts[term], start, length))
            return term;
    }
}

uint32_t dictionary_find(const dictionary *terms, const char *start, size_t length)
{
    return find(terms, start, length, hash(start, length));
}

uint32_t dictionary_add(dictionary *terms, const char *start, size_t length)
{
    uint64_t key = hash(start, length);
    uint32_t term = find(terms, start, length, key);
    if (term != NO_TERM)
        return term;
    if (terms->count == terms->room) {
        terms->room = terms->room ? 2 * terms->room : FIRST_SLOTS;
        terms->starts = grow(terms->starts, terms->room, sizeof *terms->starts);
        terms->lengths = grow(terms->lengths, terms->room, sizeof *terms->lengths);
        terms->hashes = grow(terms->hashes, terms->room, sizeof *terms->hashes);
    }
    term = terms->count++;
    terms->starts[term] = start;
    terms->lengths[term] = (uint32_t)length;
    terms->hashes[term] = key;
    if (2ull * terms->count > terms->slot_count)
        resize(terms, 2 * terms->slot_count);
    else
        place(terms, term);
    return term;
}
