"""From messages to what templates show: highlighted pieces, readable addresses, links between pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from google.protobuf.timestamp_pb2 import Timestamp

from jird.v1.document_pb2 import Document, Image
from jird.v1.search_service_pb2 import SearchHit, SearchResponse, Snippet
from jird_client.text import clean, plain, readable_url
from jird_web.params import OFFSET_MAX, SearchParams

# Numbered links around the current page; more do not fit on a phone.
PAGE_LINKS_MAX = 7


class Piece(NamedTuple):
    """A stretch of a snippet."""

    text: str
    is_match: bool


class Address(NamedTuple):
    """A URL to show: the host stands out, the rest follows."""

    host: str
    rest: str


@dataclass(frozen=True, slots=True)
class ResultView:
    """One result as the page shows it."""

    href: str
    title: str
    address: Address
    pieces: list[Piece]
    language: str
    date: str  # ISO 8601 day, empty when not known
    date_kind: str  # what happened on that day: published, changed or seen
    similar: list["SimilarView"]  # pages that say nearly the same and are folded into it
    is_duplicate: bool  # another page with the same text stands for it


@dataclass(frozen=True, slots=True)
class SimilarView:
    """A page that is folded into another result."""

    href: str
    address: Address


@dataclass(frozen=True, slots=True)
class ImageView:
    """One picture as the page shows it."""

    href: str
    source: str
    alt: str
    page_title: str
    host: str


class PageLink(NamedTuple):
    """A numbered link of the pager."""

    number: int
    offset: int
    is_current: bool


def result_view(hit: SearchHit) -> ResultView:
    """Return a hit for the result list."""
    document = hit.document
    address = address_of(document.url)
    date, date_kind = _date_of(document)
    return ResultView(
        href=safe_href(document.url),
        title=plain(document.title) or address.host + address.rest,
        address=address,
        pieces=pieces_of(hit.snippet) or _description(document.description),
        language=document.language,
        date=date,
        date_kind=date_kind,
        similar=[SimilarView(safe_href(url), address_of(url)) for url in hit.similar_urls],
        is_duplicate=hit.is_duplicate,
    )


def _date_of(document: Document) -> tuple[str, str]:
    """Give the day that says most of a page, and what happened on it."""
    days = (
        (day_of(document.published_time), "published"),
        (day_of(document.modified_time), "changed"),
        (day_of(document.last_seen_time), "seen"),
    )
    return next((each for each in days if each[0]), ("", ""))


def image_view(image: Image) -> ImageView:
    """Return a picture for the picture list."""
    address = address_of(image.page_url)
    return ImageView(
        href=safe_href(image.page_url),
        source=safe_href(image.url),
        alt=plain(image.alt),
        page_title=plain(image.page_title) or address.host,
        host=address.host,
    )


def pieces_of(snippet: Snippet) -> list[Piece]:
    """Cut a snippet at its matches. Ranges that lie outside, or overlap an earlier one, are left out."""
    pieces: list[Piece] = []
    position = 0
    for place in snippet.highlights:
        if not position <= place.start < place.end <= len(snippet.text):
            continue
        pieces.append(Piece(clean(snippet.text[position : place.start]), False))
        pieces.append(Piece(clean(snippet.text[place.start : place.end]), True))
        position = place.end
    pieces.append(Piece(clean(snippet.text[position:]), False))
    return [piece for piece in pieces if piece.text]


def _description(text: str) -> list[Piece]:
    return [Piece(plain(text), False)] if text.strip() else []


def safe_href(url: str) -> str:
    """Return a URL that may stand in a link: http and https only, else "" (a `javascript:` link would run)."""
    return url if url.startswith(("https://", "http://")) else ""


def address_of(url: str) -> Address:
    """Return a URL as people read it, without `https://` and without the slash of a bare host (F117)."""
    shown = readable_url(url)
    parts = urlsplit(shown)
    host = parts.netloc if parts.scheme == "https" else f"{parts.scheme}://{parts.netloc}"
    rest = shown[shown.find(parts.netloc) + len(parts.netloc) :]
    return Address(host, "" if rest == "/" else rest)


def day_of(timestamp: Timestamp) -> str:
    """Return the day of a time in UTC, or "" when it is not set."""
    return datetime.fromtimestamp(timestamp.seconds, UTC).strftime("%Y-%m-%d") if timestamp.seconds else ""


def next_offset(offset: int, limit: int, has_more: bool) -> int | None:
    """Return where the next page begins, or None when there is none within the window (J76, F111)."""
    following = offset + limit
    return following if has_more and following <= OFFSET_MAX else None


def previous_offset(offset: int, limit: int) -> int | None:
    """Return where the previous page begins, or None on the first (J76)."""
    return max(0, offset - limit) if offset > 0 else None


def page_links(response: SearchResponse) -> list[PageLink]:
    """Return numbered links around the current page; none where the results fit on one, or do not start at one.

    A link is only given for a page that has results: the count is exact or a lower bound, so no page beyond it is
    promised (F111).
    """
    limit, offset = response.limit, response.offset
    if limit <= 0 or offset % limit:
        return []
    last = min((response.match_count - 1) // limit, OFFSET_MAX // limit) if response.match_count else 0
    current = offset // limit
    last = max(last, current)
    first = max(0, min(current - PAGE_LINKS_MAX // 2, last - PAGE_LINKS_MAX + 1))
    numbers = range(first, min(last, first + PAGE_LINKS_MAX - 1) + 1)
    return [PageLink(number + 1, number * limit, number == current) for number in numbers] if last else []


def count_words(count: int, is_exact: bool, shown: int, params: SearchParams) -> str:
    """Return the number of results in words, e.g. "Results 21 to 40 of at least 1,000"."""
    total = f"{count:,}" if is_exact else f"at least {count:,}"
    if shown == count and is_exact and params.offset == 0:
        return f"{total} result" if count == 1 else f"{total} results"
    return f"Results {params.offset + 1:,} to {params.offset + shown:,} of {total}"


def hits_as_list(hits: Sequence[SearchHit]) -> list[dict[str, str]]:
    """Return hits in the shape that SearXNG's json_engine reads (U92)."""
    return [
        {
            "title": plain(hit.document.title) or readable_url(hit.document.url),
            "url": hit.document.url,
            "description": plain(hit.snippet.text) or plain(hit.document.description),
        }
        for hit in hits
    ]
