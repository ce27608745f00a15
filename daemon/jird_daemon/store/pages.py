"""The operations on pages, each of which keeps several tables right within the caller's transaction.

A page has a row for what is known now, generations for its history, links and their backlinks, and blobs for its
content. Each change of what a search could find steps the index generation and leaves an entry in `index_changes`, from
which the index is made.

What other pages call this one is part of what can be found. It is read from the backlinks when the page is stored with
something new, and kept in the row, so that the index does not depend on when it was built (J11).

The bodies of a superseded version are no longer referred to; its generation stays, its bytes go with the next garbage
collection (J4).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from jird_daemon.errors import NotFoundError
from jird_daemon.outcome import ExitCode
from jird_daemon.store.duplicates import is_comparable, join_groups, leave_groups
from jird_daemon.store.generations import close_generation, extend_generation, record_content, rewrite_generation
from jird_daemon.store.links import collect_anchors, replace_links
from jird_daemon.store.tables import (
    INDEX_CHANGES,
    NOTHING_GIVEN,
    ORIGIN_DOCUMENTS,
    PAGES,
    URLS,
    Given,
    Image,
    Link,
    Page,
)
from jird_daemon.store.text_pile import has_text
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import find_url, intern_url

# Names of counts kept in META.
PAGE_COUNT = "pages"
DOCUMENT_COUNT = "documents"
DUPLICATE_COUNT = "duplicates"  # of them: another page with the same text stands for it
INDEX_GENERATION = "index_generation"

GONE = "gone"


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """One answer with content, decided upon and ready to be stored. See tables.Page for the fields of that name."""

    url: str  # canonical, the one that answered
    fetch_time_s: float
    pile_bytes: bytes  # text_pile.encode_pile
    pile_digest: bytes  # BLAKE2b-512 of them
    content: bytes | None = None  # fetched bytes, where they are to be kept
    content_bytes: int = 0
    http_status: int = 200
    exit_code: int = ExitCode.FILE_INGESTED
    not_indexable_reason: str = ""  # empty: the page can be found
    title: str = ""
    description: str = ""
    headings: tuple[str, ...] = ()
    language: str = ""
    media_type: str = "text/html"
    charset: str = "utf-8"
    etag: str = ""
    last_modified: str = ""
    canonical_url: str = ""
    images: tuple[Image, ...] = ()
    published_s: float | None = None
    links: tuple[Link, ...] = ()
    simhash: int = 0
    indexiness: int = 0
    content_type: str = ""
    robots_headers: tuple[str, ...] = ()
    link_headers: tuple[str, ...] = ()
    given: Given = NOTHING_GIVEN
    modified_s: float | None = None


@dataclass(frozen=True, slots=True)
class PageChange:
    """What an operation did."""

    url_id: int
    is_new_content: bool  # a generation was opened: the text is not the one seen last
    is_index_changed: bool  # the index generation was stepped
    is_duplicate: bool = False  # another page with the same text stands for it


def store_page(txn: Txn, page: FetchedPage, *, is_derived: bool = False) -> PageChange:
    """Store one answer with content: page, generation, links, bodies, index change.

    The same text again extends the open generation and leaves the index alone unless title, headings or the like have
    changed (U148). A page that was retired comes back (J174, U72).

    Args:
        txn: A write transaction.
        page: The answer.
        is_derived: It is no answer, but what the stored bytes give today: the page's history stays as it is, and its
            latest generation takes the text in place.
    """
    url_id = intern_url(txn, page.url)
    old = txn.get(PAGES, url_id)
    text_digest = txn.put_blob(page.pile_bytes) if page.pile_bytes else b""
    if is_derived and old is not None and old.content_digest and page.content:
        content_digest = old.content_digest  # where the bytes have just come from
    else:
        content_digest = txn.put_blob(page.content) if page.content else b""
    if is_derived:
        is_new_content = False
        rewrite_generation(txn, url_id, pile=page.pile_digest, text=text_digest)
    else:
        is_new_content = record_content(
            txn, url_id, page.fetch_time_s, pile=page.pile_digest, text=text_digest, content=content_digest
        )
    new = Page(
        http_status=page.http_status,
        exit_code=int(page.exit_code),
        fetch_time_s=page.fetch_time_s,
        is_indexable=not page.not_indexable_reason,
        not_indexable_reason=page.not_indexable_reason,
        title=page.title,
        description=page.description,
        language=page.language,
        media_type=page.media_type,
        charset=page.charset,
        content_digest=content_digest,
        text_digest=text_digest,
        pile_digest=page.pile_digest,
        content_bytes=page.content_bytes,
        etag=page.etag,
        last_modified=page.last_modified,
        canonical_url=page.canonical_url,
        last_contentful_s=old.last_contentful_s if is_derived and old else page.fetch_time_s,
        images=page.images,
        published_s=page.published_s,
        headings=page.headings,
        anchors=old.anchors if old else (),
        has_text=has_text(page.pile_bytes),
        simhash=page.simhash,
        indexiness=page.indexiness,
        content_type=page.content_type,
        robots_headers=page.robots_headers,
        link_headers=page.link_headers,
        given=page.given,
        modified_s=page.modified_s,
    )
    if new.is_indexable and (old is None or _searchable(old) != _searchable(new)):
        new = msgspec.structs.replace(new, anchors=collect_anchors(txn, url_id))
    new = _settle_duplicates(txn, url_id, old, new)
    is_index_changed = _put_page(txn, url_id, old, new)
    replace_links(txn, url_id, page.links)
    return PageChange(url_id, is_new_content, is_index_changed, new.is_duplicate)


def touch_page(
    txn: Txn,
    url: str,
    fetch_time_s: float,
    *,
    http_status: int = 304,
    exit_code: int = ExitCode.FILE_DID_NOT_CHANGE,
    etag: str | None = None,
    last_modified: str | None = None,
) -> PageChange:
    """Note that a page is as it was: times and validators, nothing that a search could see (J171).

    Args:
        txn: A write transaction.
        url: The page.
        fetch_time_s: When the server said so.
        http_status: 304, or 200 where the same content came again.
        exit_code: For the row.
        etag: New validator; None: as before.
        last_modified: New validator; None: as before.

    Raises:
        NotFoundError: There is no such page.
    """
    url_id, old = _existing(txn, url)
    extend_generation(txn, url_id, fetch_time_s)
    new = msgspec.structs.replace(
        old,
        http_status=http_status,
        exit_code=int(exit_code),
        fetch_time_s=fetch_time_s,
        etag=old.etag if etag is None else etag,
        last_modified=old.last_modified if last_modified is None else last_modified,
    )
    return PageChange(url_id, is_new_content=False, is_index_changed=_put_page(txn, url_id, old, new))


def retire_page(
    txn: Txn, url: str, fetch_time_s: float, *, http_status: int, exit_code: int = ExitCode.FILE_NOT_FOUND
) -> PageChange:
    """Note that a page is gone (404, 410): out of results at once, title, body and links kept, validators cleared."""
    url_id = intern_url(txn, url)
    close_generation(txn, url_id, fetch_time_s)
    return mark_not_indexable(txn, url, fetch_time_s, reason=GONE, http_status=http_status, exit_code=exit_code)


def mark_not_indexable(
    txn: Txn,
    url: str,
    fetch_time_s: float,
    *,
    reason: str,
    http_status: int,
    exit_code: int,
    final_url: str = "",
    media_type: str | None = None,
    keep_body: bool = True,
) -> PageChange:
    """Note that a URL answered, but with nothing to be found: a redirect, another media type, noindex, ...

    Args:
        txn: A write transaction.
        url: The URL that answered.
        fetch_time_s: When.
        reason: Why, for a person.
        http_status: Of the answer.
        exit_code: Of the action.
        final_url: Where a redirect leads.
        media_type: As answered now; None: as before.
        keep_body: Whether text and bytes of an earlier answer stay referred to.
    """
    url_id = intern_url(txn, url)
    old = txn.get(PAGES, url_id)
    base = old or Page(http_status, int(exit_code), fetch_time_s)
    new = msgspec.structs.replace(
        base,
        http_status=http_status,
        exit_code=int(exit_code),
        fetch_time_s=fetch_time_s,
        is_indexable=False,
        not_indexable_reason=reason,
        etag="",
        last_modified="",
        final_url=final_url,
        media_type=base.media_type if media_type is None else media_type,
        text_digest=base.text_digest if keep_body else b"",
        content_digest=base.content_digest if keep_body else b"",
    )
    new = _settle_duplicates(txn, url_id, old, new)
    return PageChange(url_id, is_new_content=False, is_index_changed=_put_page(txn, url_id, old, new))


def mark_indexable(txn: Txn, url_id: int) -> PageChange:
    """Put a page back that was kept out only because another one was to stand for it.

    Raises:
        NotFoundError: There is no such page.
    """
    old = txn.get(PAGES, url_id)
    if old is None:
        raise NotFoundError(f"no page {url_id}", "PAGE_UNKNOWN")
    new = msgspec.structs.replace(old, is_indexable=True, not_indexable_reason="", anchors=collect_anchors(txn, url_id))
    new = _settle_duplicates(txn, url_id, old, new)
    return PageChange(url_id, is_new_content=False, is_index_changed=_put_page(txn, url_id, old, new))


def get_page(txn: Txn, url: str) -> tuple[int, Page] | None:
    """Number and row of a canonical URL; None when it never answered."""
    url_id = find_url(txn, url)
    page = txn.get(PAGES, url_id) if url_id is not None else None
    return (url_id, page) if url_id is not None and page is not None else None


def document_count(txn: Txn, origin_id: int) -> int:
    """Pages of an origin that can be found."""
    return txn.get(ORIGIN_DOCUMENTS, origin_id) or 0


@contextmanager
def one_generation(txn: Txn) -> Iterator[None]:
    """Within it, all changes share one step of the index generation: for bulk imports (J37)."""
    txn.shared_generation = 0
    try:
        yield
    finally:
        txn.shared_generation = None


def _existing(txn: Txn, url: str) -> tuple[int, Page]:
    found = get_page(txn, url)
    if found is None:
        raise NotFoundError(f"no page {url}", "PAGE_UNKNOWN")
    return found


def _searchable(page: Page) -> tuple[object, ...] | None:
    """What a search can find of a page by itself, or tell of it from the index; None: nothing."""
    if not page.is_indexable:
        return None
    return (
        page.title, page.headings, page.language, page.text_digest, page.published_s, page.is_duplicate,
        page.indexiness, [image.alt for image in page.images],
    )  # fmt: skip


def _settle_duplicates(txn: Txn, url_id: int, old: Page | None, new: Page) -> Page:
    """Give the new row with its marks, after changing those of the pages that stand, or stood, beside it."""
    was, now = is_comparable(old), is_comparable(new)
    if old is not None and was == now and (old.pile_digest, old.simhash) == (new.pile_digest, new.simhash):
        return msgspec.structs.replace(
            new, is_duplicate=old.is_duplicate, near_duplicate_of=old.near_duplicate_of if now else 0
        )
    _mark_duplicate(txn, leave_groups(txn, url_id, old), is_duplicate=False)
    is_duplicate, stood, near = join_groups(txn, url_id, new)
    _mark_duplicate(txn, stood, is_duplicate=True)
    return msgspec.structs.replace(new, is_duplicate=is_duplicate, near_duplicate_of=near)


def _mark_duplicate(txn: Txn, url_id: int, *, is_duplicate: bool) -> None:
    old = txn.get(PAGES, url_id) if url_id else None
    if old is not None and old.is_duplicate != is_duplicate:
        _put_page(txn, url_id, old, msgspec.structs.replace(old, is_duplicate=is_duplicate))


def _put_page(txn: Txn, url_id: int, old: Page | None, new: Page) -> bool:
    """Write the row with counts, references and index change; returns whether the index changes."""
    txn.put(PAGES, url_id, new)
    for digest in (new.text_digest, new.content_digest):
        txn.refer_to_blob(digest, 1)
    if old is None:
        txn.add_number(PAGE_COUNT, 1)
    else:
        for digest in (old.text_digest, old.content_digest):
            txn.refer_to_blob(digest, -1)
    was_duplicate = old is not None and old.is_duplicate
    if was_duplicate != new.is_duplicate:
        txn.add_number(DUPLICATE_COUNT, 1 if new.is_duplicate else -1)
    was_indexable = old is not None and old.is_indexable
    if was_indexable != new.is_indexable:
        _count_document(txn, url_id, 1 if new.is_indexable else -1)
    if (old is None or _searchable(old) is None) and _searchable(new) is None:
        return False
    # A text that was damaged is in the index without its words.
    is_mended = new.text_digest in txn.mended_blobs
    if old is not None and _searchable(old) == _searchable(new) and not is_mended:
        return False
    _step_generation(txn, url_id)
    return True


def _count_document(txn: Txn, url_id: int, change: int) -> None:
    txn.add_number(DOCUMENT_COUNT, change)
    url = txn.get(URLS, url_id)
    assert url is not None, "a page has a URL"
    txn.put(ORIGIN_DOCUMENTS, url.origin_id, document_count(txn, url.origin_id) + change)


def _step_generation(txn: Txn, url_id: int) -> None:
    generation = txn.shared_generation
    if not generation:
        generation = txn.add_number(INDEX_GENERATION, 1)
        if txn.shared_generation is not None:
            txn.shared_generation = generation
    txn.put(INDEX_CHANGES, (generation, url_id), None)
