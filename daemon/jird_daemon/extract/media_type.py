"""Content-Type, and which of them are read (J155)."""

HTML = "text/html"
XHTML = "application/xhtml+xml"
PLAIN = "text/plain"
PDF = "application/pdf"
# J155, and PDF: exactly these; what merely contains their names is something else.
DOCUMENT_TYPES = frozenset({HTML, XHTML, PLAIN, PDF})
# Not indexed, but read for links when the document turns out to be a feed or a sitemap (RFC 7303, RFC 4287).
FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml", "text/xml"}
)
READ_TYPES = DOCUMENT_TYPES | FEED_TYPES

# A media type has two tokens of at most 127 characters (RFC 6838 section 4.2).
MEDIA_TYPE_CHARS_MAX = 255


def media_type_of(content_type: str) -> str:
    """Give the media type of a Content-Type field without its parameters, in lower case; "" when there is none."""
    return content_type.partition(";")[0].strip(" \t").lower()[:MEDIA_TYPE_CHARS_MAX]
