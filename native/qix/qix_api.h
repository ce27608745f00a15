/* What Python sees of the index: plain declarations that C includes and cffi reads, so that the two cannot drift.
 *
 * Every function that can fail returns a qix_status. Threads may share a segment and a snapshot; a builder belongs to
 * one thread at a time. Outputs (ret_*) are written on success only, a fault on failure only. */

#define QIX_FORMAT_VERSION 5
#define QIX_FIELD_COUNT 5
/* Most results that one search keeps (J159: the first 100,000 ranked candidates). */
#define QIX_TOP_K_MAX 100000
/* Most nodes of a query and how deep they may nest; the query parser stays far below (J158: 32 distinct terms). */
#define QIX_QUERY_NODES_MAX 256
#define QIX_QUERY_DEPTH_MAX 16
#define QIX_PHRASE_TERMS_MAX 32
#define QIX_PARTS_MAX 1024
#define QIX_LIST_TERMS_MAX 10000

typedef enum {
    QIX_OK = 0,
    QIX_ERR_CORRUPT = 1, /* bytes break the format: fault has where and why */
    QIX_ERR_VERSION = 2, /* a QIX file of another format version: fault.offset has the version */
    QIX_ERR_MEMORY = 3,
    QIX_ERR_IO = 4,       /* fault.offset has errno */
    QIX_ERR_ARGUMENT = 5, /* the caller broke a condition: fault.reason says which */
    QIX_ERR_LIMIT = 6,    /* a named bound was reached: fault.reason says which */
    QIX_ERR_STOPPED = 7   /* somebody set is_stopped */
} qix_status;

typedef struct {
    uint64_t offset; /* in the file */
    uint32_t part;   /* of the snapshot; 0 where there is one segment */
    char reason[96];
} qix_fault;

typedef struct {
    uint64_t file_bytes;
    uint64_t total_length;
    uint64_t term_count;
    uint32_t doc_count;
    uint32_t chunk_count;
    uint32_t analysis_version;
    uint32_t has_positions;
    uint32_t field_weights[5];
} qix_segment_info;

typedef struct {
    uint64_t page_id;
    int64_t date_s;
    uint32_t origin_id;
    uint32_t length; /* weighted; ignored on input */
    uint16_t language;
    uint16_t static_rank;
    uint16_t flags;
} qix_document;

/* ---- reading ---- */

typedef struct qix_segment qix_segment;

/* Check the structure of `data` and give a handle to it. `data` must stay mapped and unchanged until qix_close. */
qix_status qix_open(const uint8_t *data, uint64_t bytes, qix_segment **ret_segment, qix_fault *ret_fault);
void qix_close(qix_segment *segment);
void qix_get_info(const qix_segment *segment, qix_segment_info *ret_info);

/* docid of a page, or UINT32_MAX if it is not here. */
qix_status qix_find_page(const qix_segment *segment, uint64_t page_id, uint32_t *ret_docid, qix_fault *ret_fault);
qix_status qix_get_document(const qix_segment *segment, uint32_t docid, qix_document *ret_doc, qix_fault *ret_fault);
/* All page ids by docid; room for doc_count. */
qix_status qix_get_page_ids(const qix_segment *segment, uint64_t *ret_page_ids, qix_fault *ret_fault);

/* Documents that hold the key (namespace byte, term); 0 if there are none. */
qix_status qix_term_df(const qix_segment *segment, const uint8_t *key, uint32_t key_bytes, uint32_t *ret_df,
                       qix_fault *ret_fault);
/* The `limit` keys of highest df that begin with `prefix`, by falling df, then key. Written one after the other to
 * ret_keys (room for limit * 513), their ends to ret_ends. Of more than 65,536 keys with the prefix, those in the
 * 4,096 heaviest blocks of the dictionary are looked at (qix_prefix.c). */
qix_status qix_list_terms(const qix_segment *segment, const uint8_t *prefix, uint32_t prefix_bytes, uint32_t limit,
                          uint8_t *ret_keys, uint32_t *ret_ends, uint32_t *ret_dfs, uint32_t *ret_count,
                          qix_fault *ret_fault);

/* Keys whose term is 1 to `edits_max` (1 or 2) edits from that of `key` and has its first character: by rising edits,
 * falling df, then key, written as by qix_list_terms. Looks at 200,000 keys at most (qix_near.c). */
qix_status qix_near_terms(const qix_segment *segment, const uint8_t *key, uint32_t key_bytes, uint32_t edits_max,
                          uint32_t limit, uint8_t *ret_keys, uint32_t *ret_ends, uint32_t *ret_dfs, uint32_t *ret_count,
                          qix_fault *ret_fault);

/* Hash `count` chunks from `first` that no query has used yet (for checking in the background). */
qix_status qix_check_chunks(const qix_segment *segment, uint32_t first, uint32_t count, qix_fault *ret_fault);
/* Check every byte and invariant. Writes the first faults (room for fault_capacity), and how many there are. */
qix_status qix_verify(const qix_segment *segment, qix_fault *ret_faults, uint32_t fault_capacity, uint32_t *ret_count);

/* SHA-256 of `bytes` bytes into 32, with this processor's instructions for it if it has any, or `portable`: the digests
 * of both are the same. */
void qix_sha256_digest(const uint8_t *data, uint64_t bytes, uint32_t portable, uint8_t *ret_digest);

/* ---- searching ---- */

typedef struct {
    const qix_segment *segment;
    const uint8_t *tombstones; /* bit docid % 8 of byte docid / 8 is set for a deleted document; may be NULL */
} qix_part;

/* Python reads the members at once, as QIX_SEARCH_FIGURES numbers. */
#define QIX_SEARCH_FIGURES 8
typedef struct {
    uint64_t match_count;      /* documents that match, or at least this many if not exact */
    uint64_t exact;            /* 1 or 0 */
    uint64_t postings_decoded; /* again for each time that a block was decoded */
    uint64_t postings_total;   /* of all lists that the query names */
    uint64_t blocks_decoded;
    uint64_t blocks_total;
    uint64_t plan; /* for qix_plan_name */
    uint64_t hit_count;
} qix_search_info;

typedef struct qix_snapshot qix_snapshot;

/* Parts and tombstones must outlive the snapshot. */
qix_status qix_snapshot_new(const qix_part *parts, uint32_t part_count, double k1, double b,
                            qix_snapshot **ret_snapshot, qix_fault *ret_fault);
void qix_snapshot_free(qix_snapshot *snapshot);

/* The best k documents for a query program (qix_query.h), best first, ties by ascending page id. Room for k. */
qix_status qix_search(const qix_snapshot *snapshot, const uint8_t *program, uint32_t program_bytes, uint32_t k,
                      uint64_t *ret_page_ids, double *ret_scores, qix_search_info *ret_info, qix_fault *ret_fault);

/* What a node of a query says of one document. */
typedef struct {
    uint64_t df;      /* of a term: documents that hold it */
    double factor;    /* of a term or phrase: weight * idf */
    double score;     /* its part of the score, were it not within a filter */
    uint32_t matches; /* 1 or 0 */
    uint32_t tf;      /* of a term or phrase: weighted frequency, in its fields */
} qix_node_facts;

/* What every node of a query program, in its order, says of a page; room for QIX_QUERY_NODES_MAX. `found` is 1 if the page
 * is in the snapshot and not deleted, `length` what its length code stands for. */
qix_status qix_explain(const qix_snapshot *snapshot, const uint8_t *program, uint32_t program_bytes, uint64_t page_id,
                       qix_node_facts *ret_facts, uint32_t *ret_count, uint32_t *ret_length, uint32_t *ret_found,
                       qix_fault *ret_fault);

/* The plans that a search can take, and their names. */
uint32_t qix_plan_count(void);
const char *qix_plan_name(uint32_t plan);

/* Whether inner loops are those for any processor, or (from the start) the best for this one; results are the same. For
 * tests, and where a processor is to be measured without its vectors. */
void qix_use_portable(uint32_t yes);

/* ---- writing ---- */

typedef struct {
    uint32_t field_weights[5]; /* 1 to 1000 each; qix_field order */
    uint32_t max_tokens;       /* of a document, title first (J157) */
    uint32_t with_positions;
    uint64_t memory_bytes;    /* beyond this, documents go to files until they are written; 0: all stay in memory */
    const char *spill_folder; /* where those files are, unlinked; NULL without memory_bytes */
} qix_builder_options;

typedef struct qix_builder qix_builder;

qix_status qix_builder_new(const qix_builder_options *options, qix_builder **ret_builder, qix_fault *ret_fault);
void qix_builder_free(qix_builder *builder);
/* `text` holds the five fields one after the other, field_ends where each ends. `keywords` holds keyword_bytes of
 * records: namespace (1), bytes (2, little endian), term. */
qix_status qix_builder_add(qix_builder *builder, const qix_document *doc, const uint8_t *text,
                           const uint32_t *field_ends, const uint8_t *keywords, uint32_t keyword_bytes,
                           qix_fault *ret_fault);
/* A body of terms already made: separated by spaces, tabs or line ends (term_ends NULL), or ending where term_ends
 * says. */
qix_status qix_builder_add_terms(qix_builder *builder, const qix_document *doc, const uint8_t *terms,
                                 uint64_t term_bytes, const uint32_t *term_ends, uint32_t term_count,
                                 qix_fault *ret_fault);
uint32_t qix_builder_doc_count(const qix_builder *builder);
uint64_t qix_builder_memory_bytes(const qix_builder *builder);

/* Documents by (origin, page id), or as they were given. */
#define QIX_ORDER_ORIGIN 0
#define QIX_ORDER_GIVEN 1

/* Write to `fd` (an empty file, only written to); temporary files go to `folder`. The builder can be freed or go on. */
qix_status qix_builder_write(qix_builder *builder, int fd, const char *folder, uint32_t order, uint32_t sync,
                             qix_segment_info *ret_info, qix_fault *ret_fault);
/* What another thread may do with a merge that runs. */
typedef struct {
    uint32_t is_stopped;  /* 1: it ends within milliseconds, with QIX_ERR_STOPPED */
    uint32_t cpu_percent; /* of a processor that it may take on average; 0: all */
    uint64_t bytes_per_s; /* that it may write on average, files on the way included; 0: any number */
    uint64_t done, total; /* bytes of lists, written by the merge */
} qix_control;

/* The same from segments, without the documents that their tombstones name. They must agree in field weights, positions
 * and analysis version, and no page may be alive in two. `control` may be NULL. */
qix_status qix_merge(const qix_part *parts, uint32_t part_count, int fd, const char *folder, uint32_t order,
                     uint32_t sync, qix_control *control, qix_segment_info *ret_info, qix_fault *ret_fault);
