/* Property: in a sound index every plan of the engine gives the hits, scores and order that scoring every document gives,
 * whatever the query, the segments, what is deleted, and whether they were merged. Input: view (1), k - 1 (2), then what
 * the query is made of. */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_oracle.h"
#include "qix_reader.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())
#define PARTS 3u
#define K_MAX 200u
#define PROGRAM_MAX 4096u
#define DEPTH_MAX 5u
#define CHILDREN_MAX 5u

/* Three segments; the same with deletions; one merged of them; one merged without what was deleted. */
enum view_kind { WHOLE, DELETED, MERGED, CLEANED, VIEWS };

static fuzz_doc docs[DOCS];
static fuzz_view views[VIEWS];
static qix_snapshot *snapshots[VIEWS];
static uint8_t tombstones[PARTS][(DOCS + 7) / 8];

static const qix_segment *open_file(int fd, const qix_segment_info *info)
{
    qix_segment *segment;
    qix_fault fault;
    const uint8_t *data = mmap(NULL, info->file_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(data != MAP_FAILED && qix_open(data, info->file_bytes, &segment, &fault) == QIX_OK);
    close(fd);
    return segment;
}

static int new_file(void)
{
    int fd = memfd_create("segment", 0);
    CHECK(fd >= 0);
    return fd;
}

static uint32_t put_words(char *text, const uint8_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        text[3 * i] = 'q';
        text[3 * i + 1] = (char)('a' + words[i]);
        text[3 * i + 2] = ' ';
    }
    return 3 * count;
}

static void add(qix_builder *builder, const fuzz_doc *doc)
{
    char text[3 * (TITLE_MAX + BODY_MAX)];
    uint32_t title = put_words(text, doc->title, doc->title_count), ends[5] = {title, title, title, title, 0};
    ends[4] = title + put_words(text + title, doc->body, doc->body_count);
    const uint8_t host[5] = {1, 2, 0, 'h', (uint8_t)('0' + doc->host)};
    qix_document row = {.page_id = doc->page_id, .origin_id = doc->host};
    qix_fault fault;
    CHECK(qix_builder_add(builder, &row, (const uint8_t *)text, ends, host, sizeof host, &fault) == QIX_OK);
}

/* A segment of every `step`th document from `first`. */
static const qix_segment *build(uint32_t first, uint32_t step)
{
    qix_builder_options options = {{TITLE_WEIGHT, 2, 2, 1, 1}, 50000, 1};
    qix_builder *builder;
    qix_fault fault;
    qix_segment_info info;
    int fd = new_file();
    CHECK(qix_builder_new(&options, &builder, &fault) == QIX_OK);
    for (uint32_t i = first; i < DOCS; i += step)
        add(builder, &docs[i]);
    CHECK(qix_builder_write(builder, fd, "/tmp", QIX_ORDER_ORIGIN, 0, &info, &fault) == QIX_OK);
    qix_builder_free(builder);
    return open_file(fd, &info);
}

static void delete_from(const qix_segment *segment, uint8_t *bits)
{
    qix_fault fault;
    uint32_t docid;
    for (uint32_t i = 0; i < DOCS; i++) {
        if (!docs[i].is_deleted)
            continue;
        CHECK(qix_find_page(segment, docs[i].page_id, &docid, &fault) == QIX_OK);
        if (docid != UINT32_MAX)
            bits[docid / 8] = (uint8_t)(bits[docid / 8] | 1u << docid % 8);
    }
}

static void make_view(enum view_kind kind, const qix_part *parts, uint32_t part_count)
{
    fuzz_view *view = &views[kind];
    qix_fault fault;
    view->has_deleted = kind == DELETED;
    for (uint32_t i = 0; i < DOCS; i++)
        if (kind != CLEANED || !docs[i].is_deleted)
            view->docs[view->count++] = &docs[i];
    fuzz_count(view);
    CHECK(qix_snapshot_new(parts, part_count, 1.2, 0.75, &snapshots[kind], &fault) == QIX_OK);
}

static void make_merged(enum view_kind kind, const qix_part *parts)
{
    qix_part one = {NULL, NULL};
    qix_segment_info info;
    qix_fault fault;
    int fd = new_file();
    CHECK(qix_merge(parts, PARTS, fd, "/tmp", QIX_ORDER_ORIGIN, 0, NULL, &info, &fault) == QIX_OK);
    one.segment = open_file(fd, &info);
    make_view(kind, &one, 1);
}

static void make_views(void)
{
    qix_part whole[PARTS], deleted[PARTS];
    for (uint32_t i = 0; i < DOCS; i++)
        fuzz_make_doc(&docs[i], i);
    for (uint32_t i = 0; i < PARTS; i++) {
        whole[i] = (qix_part){build(i, PARTS), NULL};
        deleted[i] = (qix_part){whole[i].segment, tombstones[i]};
        delete_from(whole[i].segment, tombstones[i]);
    }
    make_view(WHOLE, whole, PARTS);
    make_view(DELETED, deleted, PARTS);
    make_merged(MERGED, whole);
    make_merged(CLEANED, deleted);
}

/* ---- queries: any bytes make a program that breaks no rule ---- */

typedef struct {
    const uint8_t *pos, *end;
    uint8_t program[PROGRAM_MAX];
    uint32_t used, nodes;
} maker;

static uint8_t take(maker *m)
{
    return m->pos < m->end ? *m->pos++ : 0;
}

static void put(maker *m, const void *bytes, uint32_t count)
{
    CHECK(count <= PROGRAM_MAX - m->used);
    memcpy(m->program + m->used, bytes, count);
    m->used += count;
}

/* Mostly words of the collection, now and then a host, or a word that no document has. */
static void put_key(maker *m, bool is_word)
{
    uint8_t pick = take(m), key[5] = {3, 0, 0, 'q', (uint8_t)('a' + pick % (WORDS + 1))};
    if (!is_word && pick > 235)
        memcpy(key + 2, (const uint8_t[]){1, 'h', (uint8_t)('0' + pick % (HOSTS + 1))}, 3);
    put(m, key, sizeof key);
}

static void put_weight(maker *m, uint8_t kind)
{
    static const double weights[4] = {1.0, 1.0, 0.25, 3.0};
    uint8_t pick = take(m), head[10] = {kind, pick < 200 ? 0 : pick < 225 ? 1 : pick < 250 ? 16 : 17};
    memcpy(head + 2, &weights[pick % 4], sizeof *weights);
    put(m, head, sizeof head);
}

static void put_phrase(maker *m)
{
    uint8_t pick = take(m), count = (uint8_t)(1 + pick % 3), offset = 0;
    put_weight(m, QIX_NODE_PHRASE);
    put(m, &count, 1);
    for (uint32_t i = 0; i < count; i++) {
        put(m, (const uint8_t[]){offset, 0, 0, 0}, 4);
        put_key(m, true);
        offset = (uint8_t)(offset + 1 + (pick > 200));
        m->nodes++;
    }
}

static void put_node(maker *m, uint32_t depth, bool is_in_and)
{
    uint8_t pick = m->nodes < 40 && depth < DEPTH_MAX ? take(m) % 16 : 0;
    m->nodes++;
    if (pick < 6) {
        put_weight(m, QIX_NODE_TERM);
        put_key(m, false);
    } else if (pick < 8) {
        put_phrase(m);
    } else if (pick < 14) {
        uint8_t count = (uint8_t)(1 + take(m) % CHILDREN_MAX), kind = pick < 11 ? QIX_NODE_AND : QIX_NODE_OR;
        put(m, (const uint8_t[]){kind, count, 0}, 3);
        for (uint32_t i = 0; i < count; i++)
            put_node(m, depth + 1, kind == QIX_NODE_AND && i > 0);
    } else {
        put(m, (const uint8_t[]){pick == 14 && is_in_and ? QIX_NODE_NOT : QIX_NODE_FILTER}, 1);
        put_node(m, depth + 1, false);
    }
}

static void compare(enum view_kind kind, const uint8_t *program, uint32_t bytes, uint32_t k)
{
    uint64_t pages[K_MAX];
    double scores[K_MAX];
    qix_hit hits[K_MAX];
    qix_heap heap = {.hits = hits, .capacity = k, .threshold = -1.0};
    qix_search_info info;
    qix_query query;
    qix_fault fault;
    CHECK(qix_query_parse(program, bytes, &query, &fault) == QIX_OK);
    uint64_t matches = fuzz_search_all(&views[kind], &query, &heap);
    CHECK(qix_search(snapshots[kind], program, bytes, k, pages, scores, &info, &fault) == QIX_OK);
    CHECK(info.hit_count == heap.count && (info.exact ? info.match_count == matches : info.match_count <= matches));
    for (uint32_t i = 0; i < heap.count; i++)
        CHECK(pages[i] == hits[i].page_id && scores[i] == hits[i].score);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
    if (bytes < 4)
        return 0;
    if (!snapshots[WHOLE])
        make_views();
    maker m = {.pos = input + 3, .end = input + bytes};
    put_node(&m, 0, false);
    uint8_t *program = malloc(m.used); /* of its own, so that reading one byte too far is seen */
    CHECK(program != NULL);
    memcpy(program, m.program, m.used);
    compare((enum view_kind)(input[0] % VIEWS), program, m.used, 1 + qix_load_u16(input + 1) % K_MAX);
    free(program);
    return 0;
}
