"""What of a page is searched: its fields as text, and the keywords that filters ask for. Pure.

The tokens themselves are made in C (native/qix/qix_text.h), for documents and queries alike.
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from jird_daemon.url.canonical import UrlParts, split
from jird_native import DocumentInput, Namespace

# J157: what of a document is indexed, whichever is less; the builder counts tokens, title first.
INDEXED_CHARS_MAX = 200_000
INDEXED_TOKENS_MAX = 50_000
# Parent domains of a host that site: finds it by; real hosts have two to four.
SITE_LABELS_MAX = 16

_FILE_ENDINGS = re.compile(r"(?:/(?:index|default))?\.(?:x?html?|php|aspx?|jsp)(?=$|\?)", re.IGNORECASE)
_NOT_WORDS = re.compile(r"[/?&=+;,\ufffd]+")
_LETTERS = re.compile(r"[a-z]{2}\Z")


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as the store has it.

    Attributes:
        page_id: Its url_id.
        origin_id: As in the store.
        url: Canonical.
        title: May be empty.
        headings: In the page's order.
        anchors: Different texts of links to it; the store bounds them.
        body: All text, in the page's order.
        language: IANA primary subtag, or empty.
        date_s: When the page says it was published, in seconds since 1970; 0 when it does not.
        static_rank: 0 to 65,535.
        flags: Of the index's users.
    """

    page_id: int
    origin_id: int
    url: str
    title: str = ""
    headings: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    body: str = ""
    language: str = ""
    date_s: int = 0
    static_rank: int = 0
    flags: int = 0


def analyze_page(page: PageText) -> DocumentInput:
    """Give the builder's input for a page.

    The fields hold INDEXED_CHARS_MAX characters together at most; title, headings, anchors and URL come first, so what
    is cut is the end of the body.
    """
    parts = split(page.url)
    texts = (page.title, "\n".join(page.headings), "\n".join(page.anchors), url_words(parts), page.body)
    fields, left = [], INDEXED_CHARS_MAX
    for text in texts:
        fields.append(text[:left])
        left -= len(fields[-1])
    title, headings, anchors, url, body = fields
    return DocumentInput(
        page_id=page.page_id,
        origin_id=page.origin_id,
        language=language_code(page.language),
        date_s=page.date_s,
        static_rank=page.static_rank,
        flags=page.flags,
        fields=(title, headings, anchors, url, body),
        keywords=page_keywords(parts, page.language),
    )


def url_words(parts: UrlParts) -> str:
    """The readable part of a URL: host and path, decoded, without www., index.html and file endings.

    Bytes that are not UTF-8 stay out: their characters cannot be known.
    """
    path = _FILE_ENDINGS.sub("", parts.path)
    query = f"?{parts.query}" if parts.query else ""
    words = unquote(f"{parts.host.removeprefix('www.')}{path}{query}", errors="replace")
    return _NOT_WORDS.sub(" ", words).strip()


def page_keywords(parts: UrlParts, language: str) -> tuple[tuple[Namespace, str], ...]:
    """What host:, site: and lang: find a page by (UQ6): a host, it and all its parent domains, the primary subtag."""
    labels = parts.host.split(".")
    is_name = not parts.host.startswith("[") and not labels[-1].isdigit()
    sites = [".".join(labels[i:]) for i in range(len(labels))][-SITE_LABELS_MAX:] if is_name else [parts.host]
    if sites[0] != parts.host:
        sites.insert(0, parts.host)
    keywords = [(Namespace.HOST, parts.host), (Namespace.HOST, f"{parts.host}:{parts.port}")]
    keywords += [(Namespace.SITE, site) for site in sites]
    if language:
        keywords.append((Namespace.LANGUAGE, language.split("-")[0].lower()))
    return tuple(keywords)


def language_code(language: str) -> int:
    """Two letters as (first << 8) | second; 0 for anything else, three-letter subtags among it."""
    subtag = language.split("-")[0].lower()
    return ord(subtag[0]) << 8 | ord(subtag[1]) if _LETTERS.match(subtag) else 0
