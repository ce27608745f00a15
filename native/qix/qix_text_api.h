/* What Python sees of the tokenizer: plain declarations that C includes and cffi reads. */

/* One token; the term lies in the buffer that was passed beside the rows. */
typedef struct qix_token_row {
    uint32_t term_start;
    uint32_t term_bytes;
    uint32_t start; /* range of the source text, in code points */
    uint32_t end;
    uint32_t position;
    uint32_t flags; /* QIX_TOKEN_... */
} qix_token_row;

/* One occurrence of a wanted term. */
typedef struct qix_match_row {
    uint32_t term; /* index of the wanted term */
    uint32_t start;
    uint32_t end;
    uint32_t position;
} qix_match_row;

int qix_analysis_version(void);
const char *qix_text_unicode_version(void);

/* Bytes of scratch for a pass, aligned to 8. */
size_t qix_text_pass_size(void);

/* Begin a pass over well-formed UTF-8; text must outlive it. */
void qix_text_pass_init(void *pass, const uint8_t *text, size_t text_bytes);

/* Fill rows until the text ends or either buffer is full; returns the rows written, 0 at the end.
 * terms_size must be at least 512, the longest term. */
size_t qix_text_pass_read(void *pass, qix_token_row *rows, size_t row_count, uint8_t *terms, size_t terms_size);

/* Most terms that qix_text_pass_find looks for; a query has 32, with their other forms under a hundred. */
#define QIX_FIND_TERMS_MAX 256

/* Write the first `each_max` occurrences of each of term_count wanted terms, in the order of the tokens, to rows (room
 * for each_max * term_count); returns how many. term_count is at most QIX_FIND_TERMS_MAX, and no term is there twice. Term i is terms[term_ends[i - 1]..term_ends[i]]; counts is room for
 * term_count and ends as the occurrences written of each. */
size_t qix_text_pass_find(void *pass, const uint8_t *terms, const uint32_t *term_ends, size_t term_count,
                          uint32_t each_max, uint32_t *counts, qix_match_row *rows);
