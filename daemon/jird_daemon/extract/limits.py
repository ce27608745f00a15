"""The bounds of extraction, in one place so that status can name them (J119, J161-J163)."""

# J161.
DOCUMENT_NODES_MAX = 100_000
DOCUMENT_DEPTH_MAX = 256
DOCUMENT_TEXT_CHARS_MAX = 2_097_152
DOCUMENT_LINKS_MAX = 10_000
# J162.
TITLE_CHARS_MAX = 1_024
# J163; the same as in url/directives.py, for rel values.
DIRECTIVE_CHARS_MAX = 8_192

# Descriptions are shown, not searched in full; longer ones are the page's text over again.
DESCRIPTION_CHARS_MAX = 1_024
HEADINGS_MAX = 1_000
HEADING_CHARS_MAX = 1_024
ANCHOR_CHARS_MAX = 1_024
# A page that shows more pictures is a list of links to pages that show them.
IMAGES_MAX = 200
IMAGE_ALT_CHARS_MAX = 1_024
# Markers of code inside paragraphs are the most frequent; a reference page of 2 MB has about 20,000.
MARKERS_MAX = 50_000

# Of a PDF: a book has a thousand pages; half a second's work is a long one.
PDF_PAGES_MAX = 2_000
# Seconds of processor time, half of what a worker may take for a page: what was read until then counts.
PDF_CPU_S = 5.0

# J123: of a sitemap, after every decoding; the rest of a longer one is not read.
SITEMAP_BYTES_MAX = 4 * 1024 * 1024
SITEMAP_LOCATIONS_MAX = 50_000
# J123: indexes within each other.
SITEMAP_DEPTH_MAX = 3

LIMITS = {
    "document_nodes": DOCUMENT_NODES_MAX,
    "document_depth": DOCUMENT_DEPTH_MAX,
    "document_text_chars": DOCUMENT_TEXT_CHARS_MAX,
    "document_links": DOCUMENT_LINKS_MAX,
    "document_title_chars": TITLE_CHARS_MAX,
    "directive_chars": DIRECTIVE_CHARS_MAX,
    "document_headings": HEADINGS_MAX,
    "document_images": IMAGES_MAX,
    "document_markers": MARKERS_MAX,
    "document_pdf_pages": PDF_PAGES_MAX,
    "anchor_chars": ANCHOR_CHARS_MAX,
    "sitemap_body_bytes": SITEMAP_BYTES_MAX,
    "sitemap_location_limit": SITEMAP_LOCATIONS_MAX,
    "sitemap_depth_limit": SITEMAP_DEPTH_MAX,
}
