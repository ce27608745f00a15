/* Writing the document table: rows in their final order in, columns out. */
#ifndef QIX_COLUMNS_H
#define QIX_COLUMNS_H

#include "qix_encode.h"

/* Give row `docid` of the new segment. */
typedef qix_document (*qix_row_fn)(const void *context, uint32_t docid);

/* Write all columns of `doc_count` rows. QIX_ERR_ARGUMENT if a page id is there twice. */
qix_status qix_write_columns(qix_encoder *encoder, uint32_t doc_count, qix_row_fn row, const void *context,
                             qix_fault *fault);

#endif
