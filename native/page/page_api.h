/* What Python sees of the page walk: plain declarations that C includes and cffi reads.
 *
 * The walk reads a parsed HTML tree once and gives its running text, the ranges that the markup made of it, and the
 * elements whose attributes matter. What an element means is the caller's table, so that this code knows no HTML. */

enum page_layout { PAGE_INLINE, PAGE_BLOCK, PAGE_CELL };

enum page_role {
    PAGE_NO_ROLE,
    PAGE_ANCHOR,
    PAGE_FRAME,
    PAGE_IMAGE,
    PAGE_SOURCE,
    PAGE_META,
    PAGE_LINK,
    PAGE_BASE,
    PAGE_TITLE,
    PAGE_TIME,
    PAGE_LINE_BREAK,
    PAGE_PREFORMATTED,
    PAGE_SKIPPED,
    PAGE_MUTED,
    PAGE_FOREIGN,
    PAGE_DIALOG,
    PAGE_ROOT, /* of an item alone: the document's first element */
};

/* Where something stands, by the elements around it: the flags of page_element. */
enum page_flag {
    PAGE_IN_HEADER = 1,
    PAGE_IN_FOOTER = 2,
    PAGE_IN_ASIDE = 4,
    PAGE_IN_NAV = 8,
    PAGE_IN_FORM = 16,
    PAGE_IN_MAIN = 32,
    PAGE_IN_ARTICLE = 64,
    PAGE_IN_SECTION = 128,
    PAGE_IN_TABLE = 256,
    PAGE_IN_FIGURE = 512,
    PAGE_IN_ADDRESS = 1024,
    PAGE_IN_CODE = 2048,
    PAGE_IN_HEADLINE = 4096,
    PAGE_IN_LIST = 8192,
    PAGE_IN_PARAGRAPH = 16384,
};

/* What the name of an element says: that the page's text is in it, that it may be, or what stands beside a text. */
enum page_hint { PAGE_HINT_GOOD = 1, PAGE_HINT_BODY = 2, PAGE_HINT_BESIDE = 4 };

/* The meaning of an element; zero bytes are an element without any. */
typedef struct page_element {
    uint8_t is_known;
    uint8_t layout; /* enum page_layout */
    uint8_t role;   /* enum page_role */
    uint8_t is_headline;
    uint8_t may_take_role;   /* an ARIA role of a landmark makes it that landmark */
    uint8_t is_always_shown; /* attributes do not hide it */
    int16_t marker;          /* kind of the range that it opens; -1 for none */
    uint32_t flags;          /* of links in it */
} page_element;

/* An element by its name, or by the ARIA role that makes it one. */
typedef struct page_name {
    const char *name;
    page_element element;
} page_name;

/* Kinds of the ranges that page_find_main gives. */
typedef struct page_kinds {
    int32_t main;
    int32_t navigation;
} page_kinds;

/* Everything the walk needs to know; the caller keeps the arrays alive. */
typedef struct page_rules {
    const page_element *elements; /* by the parser's number of the tag */
    size_t element_count;
    const page_name *names; /* elements that the parser has no number for */
    size_t name_count;
    const page_name *landmarks; /* by ARIA role, in lower case */
    size_t landmark_count;
    const char *const *attributes; /* those that items give, by their number */
    size_t attribute_count;
    page_element muted;     /* the meaning of a hidden element */
    uint32_t headline_flag; /* among flags: the link stands in a headline */
    uintptr_t text_tag;     /* the parser's number of text nodes */
    uint32_t depth_max;     /* open elements whose structure is read */
    uint32_t nodes_max;
    uint32_t chars_max;       /* of the text */
    uint32_t label_chars_max; /* of the text of a link that is not shown */
    uint32_t markers_max;
    uint32_t links_max;
    uint32_t images_max;
    uint32_t head_max; /* of meta, link and base, each */
    uint32_t times_max;
    page_kinds kinds;
} page_rules;

/* Limits that were met. */
#define PAGE_FULL_NODES 1
#define PAGE_FULL_DEPTH 2
#define PAGE_FULL_TEXT 4
#define PAGE_FULL_LINKS 8

/* A stretch of the text in code points, in the order in which they begin; start is -1 if nothing was written in it. */
typedef struct page_range {
    int32_t kind; /* of the marker; -1: of a link */
    int32_t start;
    int32_t end;
} page_range;

/* An element whose attributes matter, in tree order. Strings are numbers; -1 for none. */
typedef struct page_item {
    int32_t role;
    int32_t text;            /* string: of a title */
    int32_t attribute_start; /* in the table of attributes */
    int32_t attribute_count;
} page_item;

/* A link: an anchor or a frame. */
typedef struct page_link {
    int32_t target; /* string: href or src, without fragment; it is not among the attributes */
    int32_t flags;
    int32_t has_headline;
    int32_t start; /* range of its text; start is -1 if it has none */
    int32_t end;
    int32_t text; /* string: of a link that is not shown */
    int32_t alt;  /* string: of the first picture in it */
    int32_t attribute_start;
    int32_t attribute_count;
} page_link;

typedef struct page_attribute {
    int32_t name;  /* number in the rules */
    int32_t value; /* string; -1 for an attribute without a value */
} page_attribute;

/* An element on lines of its own that has text, in tree order. */
typedef struct page_block {
    int32_t parent;     /* number of the block around it; -1 for none */
    int32_t flags;      /* its own, of page_flag */
    int32_t hints;      /* set of PAGE_HINT_... */
    int32_t start;      /* of its text, in code points */
    int32_t end;        /* after `start` */
    int32_t link_chars; /* code points that are text of links */
} page_block;

/* What a walk found; valid until the next walk with it. */
typedef struct page_result {
    const uint8_t *text; /* UTF-8 */
    size_t text_bytes;
    const uint8_t *strings; /* UTF-8, each ended by a zero byte */
    size_t string_bytes;
    const page_range *markers;
    size_t marker_count;
    const page_item *items;
    size_t item_count;
    const page_link *links;
    size_t link_count;
    const page_attribute *attributes;
    size_t attribute_count;
    const page_block *blocks;
    size_t block_count;
    const page_range *found; /* main part and navigation, told by the text; none if there is no clear main part */
    size_t found_count;
    uint32_t full;         /* PAGE_FULL_... */
    uint32_t has_unwanted; /* the text holds characters that page_source calls unwanted, or a carriage return */
} page_result;

/* What must be known of a source before it is parsed. */
typedef struct page_source {
    uint32_t has_unwanted; /* control characters but tab and line ends, U+FFFE or U+FFFF */
    size_t open_count;     /* "<" before anything but "/": no more elements can be open at once */
} page_source;

/* Look through UTF-8 once. */
void page_source_scan(const uint8_t *data, size_t bytes, page_source *ret_source);

/* SimHash of UTF-8 text (Charikar 2002) over its pairs of neighbouring words, each counted once, ASCII letters in lower
 * case; 0 for a text that is too short for it to mean anything. Texts that differ little differ in few of its 64 bits. */
uint64_t page_simhash(const uint8_t *data, size_t bytes);

/* How to read a tree. */
typedef struct page_tree page_tree;
/* A walk's memory, kept from page to page. */
typedef struct page_walk page_walk;

/* Find the functions of the HTML parser (lexbor) in the loaded library at `path`; NULL if it lacks one of them. */
page_tree *page_tree_of_library(const char *path);
void page_tree_free(page_tree *tree);

page_walk *page_walk_new(void);
void page_walk_free(page_walk *walk);

/* Walk the tree from the node `root` on. Returns 0, or -1 when memory was short; ret_result is then untouched. */
int page_walk_run(page_walk *walk, const page_tree *tree, const page_rules *rules, void *root, page_result *ret_result);

/* What a name (class, id, itemprop) says: a set of PAGE_HINT_... */
int32_t page_hints_of(const uint8_t *name, size_t bytes);

/* Find the main part of a page and what stands beside it, by its text and blocks.
 *
 * ret_ranges has room for twice `count` ranges. Returns 0, or -1 when memory was short. */
int page_find_main(const uint8_t *text, size_t bytes, const page_block *blocks, size_t count, const page_kinds *kinds,
                   page_range *ret_ranges, size_t *ret_count);
