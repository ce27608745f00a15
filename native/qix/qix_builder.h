/* The builder's inside, for the files that share it: qix_build.c takes documents, qix_build_batch.c their words,
 * qix_build_run.c has lists, from memory and from files; qix_build_write.c makes a segment of them. */
#ifndef QIX_BUILDER_H
#define QIX_BUILDER_H

#include "qix_pages.h"
#include "qix_reader.h"
#include "qix_spool.h"
#include "qix_table.h"

/* Words of one batch: enough that what they need of memory comes while others are worked on. */
#define QIX_BATCH_WORDS 64u
#define QIX_BATCH_BYTES (QIX_BATCH_WORDS * QIX_KEY_BYTES_MAX)

typedef struct {
    qix_table_key key;
    uint32_t entry; /* likely; or QIX_NO_ENTRY */
    uint32_t field;
    uint32_t word;
} qix_batch_word;

typedef struct {
    qix_batch_word words[QIX_BATCH_WORDS];
    uint32_t count;
    uint32_t bytes_used;
    uint8_t bytes[QIX_BATCH_BYTES]; /* of terms that do not stay where they are */
} qix_batch;

struct qix_builder {
    qix_builder_options options; /* spill_folder is a copy */
    qix_pool pool;
    qix_table table;
    qix_bytes docs; /* qix_document: since the last run */
    qix_pages pages;
    bool is_page_set; /* pages holds all page ids; until one does not ascend, last_page is enough */
    uint64_t last_page;
    uint32_t doc_count;
    bool is_broken; /* memory ended within a document: the builder can only be freed */
    void *tokenizer;
    qix_batch *batch;
    /* what went to files, run after run, both flushed */
    qix_spool lists, rows;
    qix_bytes run_starts; /* uint64_t: in lists */
};

static inline const qix_document *qix_builder_docs(const qix_builder *builder)
{
    return (const qix_document *)(const void *)builder->docs.data;
}

/* ---- qix_build_batch.c ---- */

/* Add an occurrence of a word of the text, soon. The term must stay until qix_batch_end unless `copies`. */
bool qix_batch_add(qix_builder *builder, const uint8_t *term, uint32_t term_bytes, bool copies, uint32_t field,
                   uint32_t word);
/* Add what is waiting. */
bool qix_batch_end(qix_builder *builder);
/* The entry of a key, made ready for the document at hand. */
qix_entry *qix_touch(qix_builder *builder, const qix_table_key *key);
/* Move the last document of an entry into its chain. */
bool qix_close_posting(qix_pool *pool, qix_entry *entry);

/* ---- qix_build_run.c ---- */

static inline uint32_t qix_run_count(const qix_builder *builder)
{
    return (uint32_t)(builder->run_starts.used / sizeof(uint64_t));
}

/* Move everything to the files. After a failure everything is as it was. */
qix_status qix_builder_spill(qix_builder *builder, qix_fault *fault);

/* A part of a list: what one run, or memory, has of a term. Parts follow each other, also in documents. */
typedef struct {
    uint32_t df;
    qix_reader postings, positions; /* bytes of the chains */
} qix_list_part;

typedef struct {
    const uint8_t *key;
    uint32_t key_bytes;
    uint32_t part_count;
    qix_list_part *parts;
} qix_built_list;

/* All lists in key order; from memory if nothing was spilled, else from the runs, to which all must have gone. */
typedef struct qix_list_source qix_list_source;

qix_status qix_list_source_new(qix_builder *builder, qix_list_source **ret_source, qix_fault *fault);
void qix_list_source_free(qix_list_source *source);
/* The next list, valid until the next call; its part_count is 0 at the end. */
qix_status qix_list_source_next(qix_list_source *source, qix_built_list *ret_list, qix_fault *fault);
/* At the end: whether the files could be read. */
qix_status qix_list_source_settle(const qix_list_source *source, qix_status status, qix_fault *fault);

#endif
