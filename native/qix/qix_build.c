/* The builder: documents in, postings per term in memory. No allocation per token; memory is seen from outside, so that
 * the caller can write a segment when enough has come together. */
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
    b->tokenizer = malloc(qix_tokenizer_size());
    if (!qix_table_init(&b->table) || !qix_pages_init(&b->pages) || !b->tokenizer) {
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
    qix_bytes_free(&b->touched);
    qix_pages_free(&b->pages);
    free(b->tokenizer);
    free(b);
}

uint32_t qix_builder_doc_count(const qix_builder *b)
{
    return b->doc_count;
}

uint64_t qix_builder_memory_bytes(const qix_builder *b)
{
    return b->pool.used + qix_table_bytes(&b->table) + b->docs.capacity + b->touched.capacity +
           qix_pages_bytes(&b->pages);
}

static qix_status begin_document(qix_builder *b, const qix_document *doc, qix_fault *fault)
{
    if (b->is_broken)
        return qix_fail(fault, QIX_ERR_LIMIT, 0, "the builder ran out of memory before; make a new one");
    if (doc->page_id == 0)
        return qix_fail(fault, QIX_ERR_ARGUMENT, 0, "page_id must be at least 1");
    if (b->doc_count >= UINT32_MAX / 2)
        return qix_fail(fault, QIX_ERR_LIMIT, 0, "a segment holds at most 2^31 documents");
    bool is_new;
    if (!qix_bytes_reserve(&b->docs, sizeof *doc) || !qix_pages_add(&b->pages, doc->page_id, &is_new))
        return qix_no_memory(fault);
    if (!is_new)
        return qix_fail(fault, QIX_ERR_ARGUMENT, doc->page_id, "page_id was added before");
    b->touched.used = 0;
    return QIX_OK;
}

/* ---- occurrences ---- */

/* The entry of a key, made ready for the document at hand. */
static qix_entry *touch(qix_builder *b, uint8_t space, const uint8_t *term, uint32_t term_bytes)
{
    uint32_t number;
    if (!qix_table_find(&b->table, &b->pool, space, term, term_bytes, &number))
        return NULL;
    qix_entry *entry = &b->table.entries[number];
    if (entry->seen == b->doc_count + 1)
        return entry;
    if (!qix_bytes_add(&b->touched, &number, sizeof number))
        return NULL;
    entry->seen = b->doc_count + 1;
    entry->tf = entry->count = entry->word = 0;
    entry->field = QIX_BODY_FIELD;
    return entry;
}

static bool add_occurrence(qix_builder *b, const uint8_t *term, uint32_t term_bytes, uint32_t field, uint32_t word)
{
    qix_entry *entry = touch(b, 0, term, term_bytes);
    if (!entry)
        return false;
    bool other_field = entry->field != field;
    if (entry->count > 0 && !other_field && entry->word == word)
        return true; /* an alternate that is the same term at the same place */
    uint32_t step = word - (other_field ? 0 : entry->word);
    entry->tf += b->options.field_weights[field];
    entry->count++;
    entry->word = word;
    entry->field = field;
    if (!b->options.with_positions)
        return true;
    return qix_chain_add(&b->pool, &entry->positions, step << 1 | other_field) &&
           (!other_field || qix_chain_add(&b->pool, &entry->positions, field));
}

static bool add_posting(qix_builder *b, qix_entry *entry)
{
    uint32_t ordinal = b->doc_count;
    uint32_t step = ordinal + 1 - entry->posted;
    bool once = entry->tf == 1;
    entry->posted = ordinal + 1;
    entry->df++;
    return qix_chain_add(&b->pool, &entry->postings, step << 1 | once) &&
           (once || (qix_chain_add(&b->pool, &entry->postings, entry->tf) &&
                     qix_chain_add(&b->pool, &entry->postings, entry->count)));
}

static qix_status end_document(qix_builder *b, const qix_document *doc, uint64_t length, qix_fault *fault)
{
    const uint32_t *touched = (const uint32_t *)(const void *)b->touched.data;
    for (size_t i = 0; i < b->touched.used / sizeof *touched; i++)
        if (!add_posting(b, &b->table.entries[touched[i]])) {
            b->is_broken = true;
            return qix_fail(fault, QIX_ERR_LIMIT, 0, "the builder is full: memory, or 4 GiB of postings");
        }
    qix_document row = *doc;
    row.length = (uint32_t)(length < QIX_LENGTH_MAX ? length : QIX_LENGTH_MAX);
    qix_bytes_add(&b->docs, &row, sizeof row); /* begin_document reserved it */
    b->doc_count++;
    return QIX_OK;
}

static qix_status fail_document(qix_builder *b, qix_fault *fault)
{
    b->is_broken = true;
    return qix_fail(fault, QIX_ERR_LIMIT, 0, "the builder is full: memory, or 4 GiB of postings");
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
        if (!add_occurrence(b, token.term, token.term_bytes, field, token.position))
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
        qix_entry *entry = touch(b, head[0], term, qix_load_u16(head + 1));
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
            !add_occurrence(b, term, (uint32_t)bytes, QIX_BODY_FIELD, (uint32_t)word))
            return fail_document(b, ret_fault);
    }
    return end_document(b, doc, words * b->options.field_weights[QIX_BODY_FIELD], ret_fault);
}
