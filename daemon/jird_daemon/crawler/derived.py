"""What is stored of a document, from wherever its bytes come: an answer just now, the store itself, or a file."""

from dataclasses import dataclass

from jird_daemon.crawler.variants import NOT_CANONICAL
from jird_daemon.extract.document import ParsedDocument
from jird_daemon.extract.indexiness import measure_indexiness
from jird_daemon.outcome import ExitCode
from jird_daemon.store.pages import FetchedPage, get_page
from jird_daemon.store.tables import NOTHING_GIVEN, Given, Link
from jird_daemon.store.txn import Txn
from jird_daemon.url.canonical import origin_of
from jird_settings import Content

NOINDEX = "noindex"
MEDIA_TYPE = "media type"


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
    given: Given = NOTHING_GIVEN  # what an import said beside them


def judge_stored(txn: Txn, source: Source, document: ParsedDocument) -> tuple[ExitCode, str]:
    """Say how a document that nobody asks for just now is stored: exit code, and why it cannot be found.

    A page that it names as canonical stands for it where that page is there to be found (J147); there is no crawl that
    would fetch it.
    """
    if document.is_noindex:
        return ExitCode.BLOCKED_AT_REQUEST_OF_REMOTE, NOINDEX
    to_url = document.canonical_url
    if to_url and not document.is_nofollow and origin_of(to_url) == origin_of(source.url):
        found = get_page(txn, to_url)
        if found is not None and found[1].is_indexable:
            return ExitCode.NOT_CANONICAL, NOT_CANONICAL
    return ExitCode.FILE_INGESTED, ""


def derive_page(source: Source, document: ParsedDocument, content: Content, code: ExitCode, reason: str) -> FetchedPage:
    """Give what the store takes.

    Args:
        source: The bytes.
        document: What the parser made of them.
        content: What is to be kept.
        code: How the action ends.
        reason: Why the page cannot be found; empty when it can.
    """
    given = source.given
    published_s = document.published_s if given.published_s is None else given.published_s
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
        title=given.title or document.title,
        description=document.description,
        headings=document.headings,
        language=given.language or document.language,
        media_type=document.media_type,
        charset=document.charset,
        etag=source.etag,
        last_modified=source.last_modified,
        canonical_url=document.canonical_url,
        images=document.images,
        published_s=published_s,
        links=_with_canonical(document),
        simhash=document.simhash,
        indexiness=measure_indexiness(document.links, is_dated=published_s is not None).score,
        content_type=source.content_type,
        robots_headers=source.robots_headers,
        link_headers=source.link_headers,
        given=given,
        modified_s=document.modified_s,
    )


def _with_canonical(document: ParsedDocument) -> tuple[Link, ...]:
    """The links of a page, with the page it names as canonical among them (J147)."""
    to_url = document.canonical_url
    if not to_url or any(link.to_url == to_url for link in document.links):
        return document.links
    return (*document.links, Link(to_url, is_crawlable=not document.is_nofollow))
