/* Writing a segment from the builder: what qix_build_write.c and qix_build_list.c share. */
#ifndef QIX_BUILD_LIST_H
#define QIX_BUILD_LIST_H

#include "qix_builder.h"
#include "qix_encode.h"

typedef struct {
    uint32_t docid;
    uint32_t tf;
    uint32_t count;
    uint64_t positions_at; /* in positions */
} qix_build_posting;

typedef struct {
    qix_builder *builder;
    const qix_document *rows; /* by ordinal */
    qix_spool_map row_map;
    uint32_t *ordinals;            /* of each docid; NULL if is_sorted */
    uint32_t *docids;              /* of each ordinal; NULL if is_sorted */
    uint8_t *codes;                /* of each docid */
    bool is_sorted;                /* docid is ordinal */
    uint32_t range_from, range_to; /* docids that are collected */
    qix_encoder *encoder;
    qix_bytes postings;  /* of the list at hand */
    qix_bytes positions; /* uint32_t: of the list, or of the document at hand */
} qix_build_writer;

/* Encode one list. */
qix_status qix_build_list_write(qix_build_writer *writer, const qix_built_list *list, qix_fault *fault);

#endif
