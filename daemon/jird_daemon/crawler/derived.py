"""What is stored of a document, from wherever its bytes come: an answer just now, the store itself, or a file."""

from dataclasses import dataclass

from jird_daemon.extract.document import ParsedDocument
from jird_daemon.extract.indexiness import measure_indexiness
from jird_daemon.outcome import ExitCode
from jird_daemon.store.pages import FetchedPage
from jird_daemon.store.tables import Link
from jird_settings import Content

NOINDEX = "noindex"


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes, and what came with them."""

    url: str  # canonical
    time_s: float  # when they came
    body: bytes
    http_status: int = 200
    content_type: str = ""  # as sent
    robots_headers: tuple[str, ...] = ()  # every X-Robots-Tag
    link_headers: tuple[str, ...] = ()  # every Link
    etag: str = ""
    last_modified: str = ""


def derive_page(source: Source, document: ParsedDocument, content: Content, code: ExitCode, reason: str) -> FetchedPage:
    """Give what the store takes.

    Args:
        source: The bytes.
        document: What the parser made of them.
        content: What is to be kept.
        code: How the action ends.
        reason: Why the page cannot be found; empty when it can.
    """
    keeps_body = reason != NOINDEX or content.keep_noindex
    return FetchedPage(
        url=source.url,
        fetch_time_s=source.time_s,
        pile_bytes=document.pile_bytes if keeps_body else b"",
        pile_digest=document.pile_digest,
        content=source.body if keeps_body and content.keep_bytes else None,
        content_bytes=len(source.body),
        http_status=source.http_status,
        exit_code=code,
        not_indexable_reason=reason,
        title=document.title,
        description=document.description,
        headings=document.headings,
        language=document.language,
        media_type=document.media_type,
        charset=document.charset,
        etag=source.etag,
        last_modified=source.last_modified,
        canonical_url=document.canonical_url,
        images=document.images,
        published_s=document.published_s,
        links=_with_canonical(document),
        simhash=document.simhash,
        indexiness=measure_indexiness(document.links, is_dated=document.published_s is not None).score,
        content_type=source.content_type,
        robots_headers=source.robots_headers,
        link_headers=source.link_headers,
    )


def _with_canonical(document: ParsedDocument) -> tuple[Link, ...]:
    """The links of a page, with the page it names as canonical among them (J147)."""
    to_url = document.canonical_url
    if not to_url or any(link.to_url == to_url for link in document.links):
        return document.links
    return (*document.links, Link(to_url, is_crawlable=not document.is_nofollow))
