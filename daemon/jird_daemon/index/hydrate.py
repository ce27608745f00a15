"""From ranked page numbers to what people see: rows, snippets, pictures, read from the store in rank order (J34)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from jird_daemon.errors import CorruptBlobError
from jird_daemon.index.query_words import QueryTerm
from jird_daemon.index.snippet import Snippet, make_snippet
from jird_daemon.log import get_logger
from jird_daemon.store import Store, Txn
from jird_daemon.store.generations import last_generation
from jird_daemon.store.tables import PAGES, URLS, Generation, Image, Page
from jird_daemon.store.text_pile import MarkerKind, TextPile, decode_pile

log = get_logger("index")

_Found = tuple[int, str, Page, Generation | None, float]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result. `generation` is the latest of the page's text: when it was first and last seen."""

    page_id: int
    url: str
    page: Page
    generation: Generation | None
    score: float
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class ImageHit:
    """One picture and the page that shows it."""

    image: Image
    page_url: str
    page_title: str


def found_pages(txn: Txn, page_ids: Iterable[int]) -> Iterator[tuple[int, str, Page]]:
    """Number, URL and row of each page that can still be found; the store may be ahead of the index."""
    for page_id in page_ids:
        page = txn.get(PAGES, page_id)
        url = txn.get(URLS, page_id)
        if page is not None and page.is_indexable and url is not None:
            yield page_id, url.url, page


def make_hits(
    store: Store, ranked: Sequence[tuple[int, float]], limit: int, terms: Sequence[QueryTerm]
) -> tuple[list[SearchHit], bool]:
    """Read results in rank order.

    Args:
        store: To read from.
        ranked: Page number and score, best first.
        limit: Results wanted.
        terms: What the query looks for.

    Returns:
        At most `limit` results, and whether a further candidate can still be found.
    """
    scores = dict(ranked)
    with store.read() as txn:
        found: list[_Found] = []
        for page_id, url, page in found_pages(txn, scores):
            if len(found) == limit:
                return _with_snippets(store, found, terms), True
            generation = last_generation(txn, page_id)
            found.append((page_id, url, page, generation[1] if generation else None, scores[page_id]))
    return _with_snippets(store, found, terms), False


def _with_snippets(store: Store, found: Sequence[_Found], terms: Sequence[QueryTerm]) -> list[SearchHit]:
    hits = []
    for page_id, url, page, generation, score in found:
        pile = _read_pile(store, url, page)
        main = [(marker.start, marker.end) for marker in pile.markers if marker.kind == MarkerKind.MAIN]
        snippet = make_snippet(pile.text, terms, description=page.description, main=main)
        hits.append(SearchHit(page_id, url, page, generation, score, snippet))
    return hits


def _read_pile(store: Store, url: str, page: Page) -> TextPile:
    """A page's text; an empty one when it has none, or it is damaged: its title and description are shown still."""
    if not page.text_digest:
        return TextPile("")
    try:
        return decode_pile(store.get_blob(page.text_digest))
    except (CorruptBlobError, msgspec.DecodeError) as error:
        log.error("search.text_damaged", url=url, reason=str(error), action="shown without a snippet")
        return TextPile("")


def collect_images(
    txn: Txn, page_ids: Iterable[int], *, limit: int, offset: int, images_per_page: int
) -> tuple[list[ImageHit], bool]:
    """Pictures of pages in rank order, each address once; whether there are more after `limit` of them."""
    seen: set[str] = set()
    images: list[ImageHit] = []
    for _, url, page in found_pages(txn, page_ids):
        for image in page.images[:images_per_page]:
            if image.url in seen:
                continue
            seen.add(image.url)
            if len(seen) > offset + limit:
                return images, True
            if len(seen) > offset:
                images.append(ImageHit(image, url, page.title))
    return images, False
