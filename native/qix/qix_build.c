/* The builder: documents in, postings per term in memory, or, beyond a limit, in files. No allocation per token. */
#define _DEFAULT_SOURCE /* strdup */
#include "qix_builder.h"
#include "qix_format.h"
#include "qix_length.h"
#include "qix_position.h"
#include "qix_reader.h"
#include "qix_text.h"

/* Positions have QIX_POSITION_BITS bits, so that no document can have more words. */
#define TOKENS_MAX 1000000u
#define WEIGHT_MAX 1000u
#define TERM_BYTES_MAX (QIX_KEY_BYTES_MAX - 1u)

static qix_status check_options(const qix_builder_options *options, qix_fault *fault)
{
    for (uint32_t i = 0; i < QIX_FIELD_COUNT; i++)
        if (options->field_weights[i] < 1 || options->field_weights[i] > WEIGHT_MAX)
            return qix_fail(fault, QIX_ERR_ARGUMENT, i, "field weights must be 1 to 1000");
    if (options->max_tokens < 1 || options->max_tokens > TOKENS_MAX)
        return qix_fail(fault, QIX_ERR_ARGUMENT, 0, "max_tokens must be 1 to 1000000");
    if (options->memory_bytes > 0 && !options->spill_folder)
        return qix_fail(fault, QIX_ERR_ARGUMENT, 0, "a limit of memory needs a folder for what goes beyond it");
    return QIX_OK;
}

qix_status qix_builder_new(const qix_builder_options *options, qix_builder **ret_builder, qix_fault *ret_fault)
{
    qix_status status = check_options(options, ret_fault);
    if (status)
        return status;
    qix_builder *b = calloc(1, sizeof *b);
    if (!b)
        return qix_no_memory(ret_fault);
    b->options = *options;
    b->options.spill_folder = options->spill_folder ? strdup(options->spill_folder) : NULL;
    qix_spool_init(&b->lists, b->options.spill_folder, NULL);
    qix_spool_init(&b->rows, b->options.spill_folder, NULL);
    b->tokenizer = malloc(qix_tokenizer_size());
    b->batch = calloc(1, sizeof *b->batch);
    if (!qix_table_init(&b->table) || !qix_pages_init(&b->pages) || !b->tokenizer || !b->batch ||
        !b->options.spill_folder != !options->spill_folder) {
        qix_builder_free(b);
        return qix_no_memory(ret_fault);
    }
    *ret_builder = b;
    return QIX_OK;
}

void qix_builder_free(qix_builder *b)
{
    if (!b)
        return;
    qix_pool_free(&b->pool);
    qix_table_free(&b->table);
    qix_bytes_free(&b->docs);
    qix_pages_free(&b->pages);
    qix_spool_free(&b->lists);
    qix_spool_free(&b->rows);
    qix_bytes_free(&b->run_starts);
    free((void *)(uintptr_t)b->options.spill_folder);
    free(b->tokenizer);
    free(b->batch);
    free(b);
}

uint32_t qix_builder_doc_count(const qix_builder *b)
{
    return b->doc_count;
}

uint64_t qix_builder_memory_bytes(const qix_builder *b)
{
    return b->pool.used + qix_table_bytes(&b->table) + b->docs.used;
}

static bool add_pages_of(qix_builder *b, const qix_document *rows, uint64_t count)
{
    bool is_new;
    for (uint64_t i = 0; i < count; i++)
        if (!qix_pages_add(&b->pages, rows[i].page_id, &is_new))
            return false;
    return true;
}

/* A page came that is not above the last: from now on all pages are kept in a set. */
static qix_status begin_page_set(qix_builder *b, qix_fault *fault)
{
    qix_spool_map map;
    qix_status status = qix_spool_map_open(&b->rows, &map, fault);
    if (!status && (!add_pages_of(b, (const qix_document *)(const void *)map.data, map.bytes / sizeof(qix_document)) ||
                    !add_pages_of(b, qix_builder_docs(b), b->docs.used / sizeof(qix_document))))
        status = qix_no_memory(fault);
    status = qix_spool_settle(&map, status, fault);
    qix_spool_map_close(&map);
    b->is_page_set = !status;
    return status;
}

static qix_status add_page(qix_builder *b, uint64_t page_id, qix_fault *fault)
{
    bool is_new = true;
    if (page_id == 0)
        return qix_fail(fault, QIX_ERR_ARGUMENT, 0, "page_id must be at least 1");
    qix_status status = page_id <= b->last_page && !b->is_page_set ? begin_page_set(b, fault) : QIX_OK;
    if (status)
        return status;
    if (b->is_page_set && !qix_pages_add(&b->pages, page_id, &is_new))
        return qix_no_memory(fault);
    if (!is_new)
        return qix_fail(fault, QIX_ERR_ARGUMENT, page_id, "page_id was added before");
    b->last_page = page_id;
    return QIX_OK;
}

static qix_status begin_document(qix_builder *b, const qix_document *doc, qix_fault *fault)
{
    if (b->is_broken)
        return qix_fail(fault, QIX_ERR_LIMIT, 0, "the builder ran out of memory before; make a new one");
    if (b->doc_count >= UINT32_MAX / 2)
        return qix_fail(fault, QIX_ERR_LIMIT, 0, "a segment holds at most 2^31 documents");
    qix_status status = QIX_OK;
    if (b->options.memory_bytes > 0 && qix_builder_memory_bytes(b) >= b->options.memory_bytes)
        status = qix_builder_spill(b, fault);
    if (!status && !qix_bytes_reserve(&b->docs, sizeof *doc))
        status = qix_no_memory(fault);
    return status ? status : add_page(b, doc->page_id, fault);
}

static qix_status fail_document(qix_builder *b, qix_fault *fault)
{
    b->is_broken = true;
    return qix_fail(fault, QIX_ERR_LIMIT, 0, "the builder is full: memory, or 4 GiB of postings");
}

static qix_status end_document(qix_builder *b, const qix_document *doc, uint64_t length, qix_fault *fault)
{
    if (!qix_batch_end(b))
        return fail_document(b, fault);
    qix_document row = *doc;
    row.length = (uint32_t)(length < QIX_LENGTH_MAX ? length : QIX_LENGTH_MAX);
    qix_bytes_add(&b->docs, &row, sizeof row); /* begin_document reserved it */
    b->doc_count++;
    return QIX_OK;
}

/* Add one field's tokens; *left is how many primary tokens the document may still have. */
static bool add_field(qix_builder *b, uint32_t field, const uint8_t *text, size_t bytes, uint32_t *left,
                      uint64_t *length)
{
    qix_token token;
    qix_tokenizer_init(b->tokenizer, text, bytes);
    while (qix_tokenizer_next(b->tokenizer, &token)) {
        bool is_primary = token.flags & QIX_TOKEN_PRIMARY;
        if ((is_primary && *left == 0) || token.position > QIX_WORD_MAX)
            break;
        if (is_primary) {
            --*left;
            *length += b->options.field_weights[field];
        }
        if (!qix_batch_add(b, token.term, token.term_bytes, true, field, token.position))
            return false;
    }
    return true;
}

static qix_status check_keywords(qix_reader r, qix_fault *fault)
{
    const uint8_t *head, *term;
    while (r.pos < r.end)
        if (!qix_read_bytes(&r, 3, &head) || head[0] == 0 || !qix_read_bytes(&r, qix_load_u16(head + 1), &term) ||
            term == r.pos || qix_load_u16(head + 1) > TERM_BYTES_MAX)
            return qix_fail(fault, QIX_ERR_ARGUMENT, 0, "a keyword needs a namespace above 0 and 1 to 512 bytes");
    return QIX_OK;
}

static bool add_keywords(qix_builder *b, qix_reader r)
{
    const uint8_t *head, *term;
    while (qix_read_bytes(&r, 3, &head) && qix_read_bytes(&r, qix_load_u16(head + 1), &term)) {
        uint32_t bytes = qix_load_u16(head + 1);
        qix_table_key key = {term, bytes, head[0], qix_table_hash(&b->table, head[0], term, bytes)};
        qix_entry *entry = qix_touch(b, &key);
        if (!entry)
            return false;
        entry->tf = 1;
    }
    return true;
}

qix_status qix_builder_add(qix_builder *b, const qix_document *doc, const uint8_t *text, const uint32_t *field_ends,
                           const uint8_t *keywords, uint32_t keyword_bytes, qix_fault *ret_fault)
{
    qix_reader words = {keywords, keywords + keyword_bytes};
    qix_status status = check_keywords(words, ret_fault);
    if (!status)
        status = begin_document(b, doc, ret_fault);
    if (status)
        return status;
    uint32_t left = b->options.max_tokens, start = 0;
    uint64_t length = 0;
    for (uint32_t field = 0; field < QIX_FIELD_COUNT; field++) {
        if (!add_field(b, field, text + start, field_ends[field] - start, &left, &length))
            return fail_document(b, ret_fault);
        start = field_ends[field];
    }
    if (!add_keywords(b, words))
        return fail_document(b, ret_fault);
    return end_document(b, doc, length, ret_fault);
}

/* ---- terms that are already made ---- */

typedef struct {
    qix_reader bytes;
    const uint8_t *start; /* of all terms */
    const uint32_t *ends; /* or NULL: white space separates */
    uint32_t count, index;
} term_source;

static bool is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static bool next_term(term_source *s, const uint8_t **ret_term, uint64_t *ret_bytes)
{
    if (s->ends) {
        if (s->index == s->count)
            return false;
        uint32_t from = s->index ? s->ends[s->index - 1] : 0;
        *ret_term = s->start + from;
        *ret_bytes = s->ends[s->index++] - from;
        return true;
    }
    while (s->bytes.pos < s->bytes.end && is_space(*s->bytes.pos))
        s->bytes.pos++;
    *ret_term = s->bytes.pos;
    while (s->bytes.pos < s->bytes.end && !is_space(*s->bytes.pos))
        s->bytes.pos++;
    *ret_bytes = (uint64_t)(s->bytes.pos - *ret_term);
    return *ret_bytes > 0;
}

qix_status qix_builder_add_terms(qix_builder *b, const qix_document *doc, const uint8_t *terms, uint64_t term_bytes,
                                 const uint32_t *term_ends, uint32_t term_count, qix_fault *ret_fault)
{
    qix_status status = begin_document(b, doc, ret_fault);
    if (status)
        return status;
    term_source source = {{terms, terms + term_bytes}, terms, term_ends, term_count, 0};
    const uint8_t *term;
    uint64_t bytes, words = 0;
    while (words < b->options.max_tokens && next_term(&source, &term, &bytes)) {
        uint64_t word = words++;
        /* As in text: a term that is too long is no term, but words keep their places. */
        if (bytes > 0 && bytes <= TERM_BYTES_MAX &&
            !qix_batch_add(b, term, (uint32_t)bytes, false, QIX_BODY_FIELD, (uint32_t)word))
            return fail_document(b, ret_fault);
    }
    return end_document(b, doc, words * b->options.field_weights[QIX_BODY_FIELD], ret_fault);
}
