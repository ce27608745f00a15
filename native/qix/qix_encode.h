/* A segment from posting lists that come in key order: the one writer behind the builder and the merge. */
#ifndef QIX_ENCODE_H
#define QIX_ENCODE_H

#include "qix_block.h"
#include "qix_spool.h"

/* What stays the same for a whole segment. */
typedef struct {
    uint32_t doc_count;
    uint32_t analysis_version;
    uint64_t total_length;
    uint32_t field_weights[QIX_FIELD_COUNT];
    bool has_positions;
    const uint8_t *length_codes; /* doc_count */
    qix_pace *pace;              /* what is written goes through it */
} qix_segment_plan;

typedef struct qix_encoder qix_encoder;

/* The encoder writes to `fd`; `folder` is for its unlinked files. The plan and its codes must outlive it. */
qix_status qix_encoder_new(const qix_segment_plan *plan, int fd, const char *folder, qix_encoder **ret_encoder,
                           qix_fault *fault);
void qix_encoder_free(qix_encoder *encoder);

/* The columns of the document table come first, each as one section. */
qix_status qix_encode_column_begin(qix_encoder *encoder, enum qix_section_id id, qix_fault *fault);
qix_status qix_encode_column_add(qix_encoder *encoder, const uint8_t *data, uint64_t bytes, qix_fault *fault);
void qix_encode_column_end(qix_encoder *encoder, enum qix_section_id id);

/* Then the lists, in key order: begin, postings by ascending docid, end. A list without postings leaves no key. */
qix_status qix_encode_list_begin(qix_encoder *encoder, const uint8_t *key, uint32_t key_bytes, qix_fault *fault);
/* `positions` ascend; there are none in lists of keywords and in segments without positions. */
qix_status qix_encode_posting(qix_encoder *encoder, uint32_t docid, uint32_t tf, const uint32_t *positions,
                              uint32_t position_count, qix_fault *fault);
qix_status qix_encode_list_end(qix_encoder *encoder, qix_fault *fault);

qix_status qix_encode_finish(qix_encoder *encoder, bool sync, qix_segment_info *ret_info, qix_fault *fault);

#endif
