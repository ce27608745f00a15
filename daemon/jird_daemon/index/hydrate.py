"""From ranked page numbers to what people see: rows, snippets, pictures, read from the store in rank order (J34)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from jird_daemon.errors import CorruptBlobError
from jird_daemon.index.query_words import QueryTerm
from jird_daemon.index.snippet import Snippet, count_words, make_snippet
from jird_daemon.log import get_logger
from jird_daemon.store import Store, Txn
from jird_daemon.store.generations import last_generation
from jird_daemon.store.tables import PAGES, URLS, Generation, Image, Page
from jird_daemon.store.text_pile import TextPile, decode_pile, main_parts

log = get_logger("index")

# Of pages that say nearly the same as a result; a search that shows duplicates has all of them.
SIMILAR_URLS_MAX = 20

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
    similar_urls: tuple[str, ...] = ()  # of results further down that say nearly the same, and are not shown for that


@dataclass(frozen=True, slots=True)
class ImageHit:
    """One picture and the page that shows it."""

    image: Image
    page_url: str
    page_title: str


def found_pages(txn: Txn, page_ids: Iterable[int], *, show_duplicates: bool = False) -> Iterator[tuple[int, str, Page]]:
    """Number, URL and row of each page that can still be found; the store may be ahead of the index."""
    for page_id in page_ids:
        page = txn.get(PAGES, page_id)
        url = txn.get(URLS, page_id)
        if page is not None and page.is_indexable and url is not None:
            if page.is_duplicate and not show_duplicates:
                continue
            yield page_id, url.url, page


def make_hits(
    store: Store,
    ranked: Sequence[tuple[int, float]],
    limit: int,
    terms: Sequence[QueryTerm],
    *,
    offset: int = 0,
    show_duplicates: bool = False,
) -> tuple[list[SearchHit], bool]:
    """Read results in rank order.

    Unless duplicates are to be shown, pages that another one stands for are passed over, and of pages that say nearly
    the same the best ranked is shown and names the others.

    Args:
        store: To read from.
        ranked: Page number and score, best first.
        limit: Results wanted.
        terms: What the query looks for.
        offset: Results that are passed over, of those that would be shown.
        show_duplicates: Whether every page is a result of its own.

    Returns:
        At most `limit` results, and whether a further candidate can still be found.
    """
    scores = dict(ranked)
    kinds: dict[int, list[str] | None] = {}
    found: list[_Found] = []
    has_more = False
    with store.read() as txn:
        for page_id, url, page in found_pages(txn, scores, show_duplicates=show_duplicates):
            kind = page_id if show_duplicates else page.near_duplicate_of or page_id
            if kind in kinds:
                similar = kinds[kind]
                if similar is not None and len(similar) < SIMILAR_URLS_MAX:
                    similar.append(url)
                continue
            if len(kinds) == offset + limit:
                has_more = True
                break
            kinds[kind] = [] if len(kinds) >= offset else None
            if kinds[kind] is not None:
                generation = last_generation(txn, page_id)
                found.append((page_id, url, page, generation[1] if generation else None, scores[page_id]))
    similar_urls = [tuple(urls) for urls in kinds.values() if urls is not None]
    return _with_snippets(store, found, terms, similar_urls), has_more


def _with_snippets(
    store: Store, found: Sequence[_Found], terms: Sequence[QueryTerm], similar_urls: Sequence[tuple[str, ...]]
) -> list[SearchHit]:
    hits = []
    for (page_id, url, page, generation, score), similar in zip(found, similar_urls, strict=True):
        pile = _read_pile(store, url, page)
        snippet = make_snippet(pile.text, terms, description=page.description, main=main_parts(pile))
        hits.append(SearchHit(page_id, url, page, generation, score, snippet, similar))
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
    txn: Txn, page_ids: Iterable[int], terms: Sequence[QueryTerm], *, limit: int, offset: int, images_per_page: int
) -> tuple[list[ImageHit], bool]:
    """Pictures of pages in rank order, each address once; whether there are more after `limit` of them.

    Of one page, those come first whose own words have most of the query's.
    """
    seen: set[str] = set()
    images: list[ImageHit] = []
    for _, url, page in found_pages(txn, page_ids):
        for image in _best_images(page.images, terms)[:images_per_page]:
            if image.url in seen:
                continue
            seen.add(image.url)
            if len(seen) > offset + limit:
                return images, True
            if len(seen) > offset:
                images.append(ImageHit(image, url, page.title))
    return images, False


def _best_images(images: tuple[Image, ...], terms: Sequence[QueryTerm]) -> list[Image]:
    counts = count_words([image.alt for image in images], terms)
    return [image for _, image in sorted(zip(counts, images, strict=True), key=lambda each: -each[0])]
