"""Pages: rows, generations, links, blobs and index changes stay right together."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.errors import NotFoundError
from jird_daemon.store import Store, Txn
from jird_daemon.store.pages import (
    FetchedPage,
    get_page,
    mark_not_indexable,
    one_generation,
    retire_page,
    store_page,
    touch_page,
)
from jird_daemon.store.tables import (
    BLOBS,
    GENERATIONS,
    INDEX_CHANGES,
    INLINKS,
    LINKS,
    PAGES,
    URLS,
    Generation,
    Inlink,
    Link,
    Page,
)
from jird_daemon.store.text_pile import TextPile, decode_pile, encode_pile, pile_digest
from jird_daemon.store.urls import find_url

A, B = "https://example.org/a", "https://example.org/b"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path) as opened:
        yield opened


def fetched(url: str, text: str, time_s: float = 1000.0, **fields: object) -> FetchedPage:
    pile = TextPile(text)
    return FetchedPage(url, time_s, encode_pile(pile), pile_digest(pile), **fields)  # type: ignore[arg-type]


def generations(txn: Txn, url: str) -> list[Generation]:
    url_id = find_url(txn, url)
    assert url_id is not None
    return [generation for _, generation in txn.scan(GENERATIONS, (url_id, 0), (url_id + 1, 0))]


def page(txn: Txn, url: str) -> Page:
    found = get_page(txn, url)
    assert found is not None
    return found[1]


def test_two_pages_with_the_same_text_share_one_blob(store: Store) -> None:
    """J3, U17: text is stored once, independent of the address."""
    with store.write() as txn:
        store_page(txn, fetched(A, "the same text"))
        store_page(txn, fetched(B, "the same text"))
    with store.read() as txn:
        digest = page(txn, A).text_digest
        assert page(txn, B).text_digest == digest
        assert txn.count(BLOBS) == 1
        blob = txn.get(BLOBS, digest)
        assert blob is not None
        assert blob.references == 2
        assert decode_pile(txn.get_blob(digest)).text == "the same text"


def test_changed_text_leaves_the_old_blob_in_place_for_its_generation(store: Store) -> None:
    """J4: a re-crawl with changed text adds a blob and touches no old one."""
    with store.write() as txn:
        store_page(txn, fetched(A, "one"))
        old = page(txn, A).text_digest
        store_page(txn, fetched(A, "two", 2000.0))
    with store.read() as txn:
        assert decode_pile(txn.get_blob(old)).text == "one"
        assert [txn.get(BLOBS, digest).references for digest in (old, page(txn, A).text_digest)] == [1, 1]  # type: ignore[union-attr]


def test_same_text_again_extends_the_generation_and_leaves_the_index_alone(store: Store) -> None:
    """U148, U72: same URL and digest keep the generation; last_seen grows."""
    with store.write() as txn:
        store_page(txn, fetched(A, "text"))
        change = store_page(txn, fetched(A, "text", 2000.0))
        assert not change.is_new_content
        assert not change.is_index_changed
        (only,) = generations(txn, A)
        assert (only.first_seen_s, only.last_seen_s, only.confirmed_end_s) == (1000.0, 2000.0, None)
        assert txn.number("index_generation") == 1


def test_new_text_closes_the_generation_where_the_next_begins(store: Store) -> None:
    """U71, U73, U149: end is the first_seen of the next; each has a UUID of its own."""
    with store.write() as txn:
        store_page(txn, fetched(A, "one"))
        assert store_page(txn, fetched(A, "two", 2000.0)).is_new_content
        first, second = generations(txn, A)
        assert first.confirmed_end_s == second.first_seen_s == second.last_seen_s == 2000.0
        assert second.confirmed_end_s is None
        assert len({first.uuid, second.uuid}) == 2
        assert {first.uuid[6] >> 4, second.uuid[6] >> 4} == {7}


def test_clock_that_went_back_does_not_make_generations_overlap(store: Store) -> None:
    """U57: an end is never before the last time seen."""
    with store.write() as txn:
        store_page(txn, fetched(A, "one", 2000.0))
        store_page(txn, fetched(A, "two", 1500.0))
        first, second = generations(txn, A)
        assert first.confirmed_end_s == second.first_seen_s == 2000.0


def test_not_modified_refreshes_times_and_validators_only(store: Store) -> None:
    """J171: 304 replaces no content, steps no generation."""
    with store.write() as txn:
        store_page(txn, fetched(A, "text", etag='"1"', last_modified="Mon", title="T"))
        before = page(txn, A)
        assert not touch_page(txn, A, 2000.0, etag='"2"').is_index_changed
        after = page(txn, A)
        assert (after.fetch_time_s, after.etag, after.last_modified) == (2000.0, '"2"', "Mon")
        assert (after.text_digest, after.title, after.last_contentful_s) == (before.text_digest, "T", 1000.0)
        assert txn.number("index_generation") == 1
        assert txn.get(BLOBS, after.text_digest).references == 1  # type: ignore[union-attr]


def test_not_modified_of_an_unknown_page_is_refused(store: Store) -> None:
    with store.write() as txn, pytest.raises(NotFoundError, match=r"https://example\.org/a"):
        touch_page(txn, A, 1.0)


@pytest.mark.parametrize("status", [404, 410])
def test_gone_page_leaves_results_and_keeps_what_is_known(store: Store, status: int) -> None:
    """J173: title, body reference and links stay; validators go; the generation advances."""
    with store.write() as txn:
        store_page(txn, fetched(A, "text", title="T", etag='"1"', last_modified="Mon", links=(Link(B),)))
        assert retire_page(txn, A, 2000.0, http_status=status).is_index_changed
        gone = page(txn, A)
        assert (gone.is_indexable, gone.http_status, gone.not_indexable_reason) == (False, status, "gone")
        assert (gone.title, gone.etag, gone.last_modified) == ("T", "", "")
        assert decode_pile(txn.get_blob(gone.text_digest)).text == "text"
        assert txn.get(LINKS, find_url(txn, A) or 0).links == (Link(B),)  # type: ignore[union-attr]
        assert generations(txn, A)[0].confirmed_end_s == 2000.0
        assert (txn.number("documents"), txn.number("pages"), txn.number("index_generation")) == (0, 1, 2)
        assert not retire_page(txn, A, 3000.0, http_status=status).is_index_changed


def test_page_that_comes_back_is_restored_and_its_generation_reopened(store: Store) -> None:
    """J174, U72: a later success restores the URL; the same text had only been out of reach."""
    with store.write() as txn:
        store_page(txn, fetched(A, "text"))
        retire_page(txn, A, 2000.0, http_status=404)
        assert store_page(txn, fetched(A, "text", 3000.0)).is_index_changed
        (only,) = generations(txn, A)
        assert (only.last_seen_s, only.confirmed_end_s) == (3000.0, None)
        assert page(txn, A).is_indexable
        assert txn.number("documents") == 1


def test_noindex_page_is_kept_but_not_counted_as_a_document(store: Store) -> None:
    """Content of a page that must not be found may be kept, and never reaches the index."""
    with store.write() as txn:
        change = store_page(txn, fetched(A, "text", not_indexable_reason="noindex"))
        assert not change.is_index_changed
        assert (txn.number("documents"), txn.count(INDEX_CHANGES)) == (0, 0)


def test_page_that_turns_noindex_can_drop_its_body(store: Store) -> None:
    with store.write() as txn:
        store_page(txn, fetched(A, "text", content=b"<p>text"))
        digests = page(txn, A).text_digest, page(txn, A).content_digest
        mark_not_indexable(txn, A, 2000.0, reason="noindex", http_status=200, exit_code=171, keep_body=False)
        assert (page(txn, A).text_digest, page(txn, A).content_digest) == (b"", b"")
        assert [txn.get(BLOBS, digest).references for digest in digests] == [0, 0]  # type: ignore[union-attr]
        assert txn.number("documents") == 0


def test_redirect_takes_an_indexed_page_out_and_names_its_target(store: Store) -> None:
    with store.write() as txn:
        store_page(txn, fetched(A, "text"))
        change = mark_not_indexable(txn, A, 2.0, reason="redirect", http_status=301, exit_code=31, final_url=B)
        assert change.is_index_changed
        assert page(txn, A).final_url == B


def test_links_and_backlinks_are_replaced_together(store: Store) -> None:
    """A page's links replace its old ones; whom it no longer links to has no backlink from it.

    U152: links do not decide whether the text is the same.
    """
    c = "https://other.example/c"
    with store.write() as txn:
        store_page(txn, fetched(A, "text", links=(Link(B, "to b"), Link(c, "to c"), Link(A, "self"))))
        change = store_page(txn, fetched(A, "text", 2.0, links=(Link(c, ""), Link(c, "named c"))))
        assert not change.is_new_content
        ids = {url: find_url(txn, url) for url in (A, B, c)}
        found = dict(txn.scan(INLINKS))
        assert found == {(ids[c], ids[A]): Inlink("named c")}


def test_anchor_texts_of_others_are_kept_with_the_page_when_it_is_stored(store: Store) -> None:
    """J11: what can be found of a page is in its row, so that a rebuild finds the same."""
    with store.write() as txn:
        store_page(txn, fetched(A, "a", links=(Link(B, "The B"), Link(B, "ignored"))))
        store_page(txn, fetched(A + "2", "a2", links=(Link(B, "the b"),)))
        store_page(txn, fetched(A + "3", "a3", links=(Link(B, "paid for", is_nofollow=True),)))
        store_page(txn, fetched(B, "b"))
        assert page(txn, B).anchors == ("The B",)


def test_each_changed_page_steps_the_generation_and_a_bulk_import_steps_it_once(store: Store) -> None:
    """J37: ordinary writes advance per page, a bulk import once."""
    with store.write() as txn:
        store_page(txn, fetched(A, "a"))
        store_page(txn, fetched(B, "b"))
        with one_generation(txn):
            store_page(txn, fetched(A, "a2", 2.0))
            store_page(txn, fetched(B, "b2", 2.0))
        a, b = find_url(txn, A), find_url(txn, B)
        assert [key for key, _ in txn.scan(INDEX_CHANGES)] == [(1, a), (2, b), (3, a), (3, b)]


def test_changed_title_changes_the_index_but_not_the_generation(store: Store) -> None:
    """U152 and its like: what the text digest does not cover opens no generation."""
    with store.write() as txn:
        store_page(txn, fetched(A, "a", title="old"))
        change = store_page(txn, fetched(A, "a", 2.0, title="new"))
        assert (change.is_new_content, change.is_index_changed) == (False, True)


def test_rolled_back_numbers_are_not_remembered(store: Store) -> None:
    """J36: all or none; a URL number that was never committed is given to the next URL."""

    def fail() -> None:
        with store.write() as txn:
            store_page(txn, fetched(A, "a", links=(Link(B),)))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    with store.write() as txn:
        assert find_url(txn, A) is None
        assert store_page(txn, fetched(B, "b")).url_id == 1
    with store.read() as txn:
        assert txn.count(URLS) == txn.count(PAGES) == txn.number("pages") == 1
        assert decode_pile(txn.get_blob(page(txn, B).text_digest)).text == "b"


def test_counts_agree_with_the_tables(store: Store) -> None:
    """J7, F103: counts kept incrementally equal what counting gives."""
    with store.write() as txn:
        for number in range(20):
            store_page(txn, fetched(f"{A}{number}", f"text {number % 7}", links=(Link(B), Link(f"{B}{number}"))))
        for number in range(0, 20, 3):
            retire_page(txn, f"{A}{number}", 2.0, http_status=404)
    with store.read() as txn:
        assert txn.number("pages") == txn.count(PAGES)
        assert txn.number("documents") == sum(row.is_indexable for _, row in txn.scan(PAGES))
        assert txn.number("urls") == txn.count(URLS)
        assert txn.number("blobs") == txn.count(BLOBS) == 7
        assert txn.number("index_generation") == txn.count(INDEX_CHANGES)
        assert txn.number("duplicates") == sum(row.is_duplicate for _, row in txn.scan(PAGES))
