/* BM25 (Robertson and Zaragoza 2009) as jird defines it: a document's part of a score is
 *   idf * (tf / (tf + K)),  K = k1 * (1 - b + b * len / avg),  idf = ln(1 + (N - df + 0.5) / (df + 0.5))
 * in doubles and in this order of operations, so that bounds, scores and the oracle round alike. tf is the sum over
 * fields of weight times frequency (as BM25F folds them), len what the document's length code stands for. */
#ifndef QIX_RANK_H
#define QIX_RANK_H

#include <math.h>
#include <stdint.h>

#include "qix_length.h"

/* K of each length code. An average of 0 (no documents, or empty ones) counts as 1. */
static inline void qix_norm_table(double k1, double b, double average, double ret_norm_k[256])
{
    if (!(average > 0.0))
        average = 1.0;
    for (unsigned code = 0; code < 256; code++)
        ret_norm_k[code] = k1 * (1.0 - b + b * qix_length_decode((uint8_t)code) / average);
}

static inline double qix_idf(uint64_t doc_count, uint64_t df)
{
    return log(1.0 + ((double)doc_count - (double)df + 0.5) / ((double)df + 0.5));
}

#endif
