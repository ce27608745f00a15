/* The builder's inside, for the two files that share it: qix_build.c takes documents, qix_build_write.c writes them. */
#ifndef QIX_BUILDER_H
#define QIX_BUILDER_H

#include "qix_pages.h"
#include "qix_status.h"
#include "qix_table.h"

struct qix_builder {
    qix_builder_options options;
    qix_pool pool;
    qix_table table;
    qix_bytes docs;    /* qix_document */
    qix_bytes touched; /* uint32_t: entries that the document at hand has */
    qix_pages pages;
    uint32_t doc_count;
    bool is_broken; /* memory ended within a document: the builder can only be freed */
    void *tokenizer;
};

static inline qix_document *qix_builder_docs(const qix_builder *builder)
{
    return (qix_document *)(void *)builder->docs.data;
}

#endif
