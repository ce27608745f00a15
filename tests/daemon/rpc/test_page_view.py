"""Everything that is known of a URL, from a real store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.errors import NotFoundError
from jird_daemon.rpc.page_history import diff_message, read_compared, read_history
from jird_daemon.rpc.page_view import NEVER_ANSWERED, read_page
from jird_daemon.store import Store
from jird_daemon.store.pages import FetchedPage, retire_page, store_page
from jird_daemon.store.retention import Retention, apply_retention
from jird_daemon.store.tables import Image, Link
from jird_daemon.store.text_pile import TextPile, encode_pile, pile_digest

START_S = 1_796_000_000.0
HOME, OTHER, DISCOVERED = "https://a.test/", "https://a.test/other", "https://a.test/discovered"


def fetched(url: str, text: str, time_s: float, *links: str) -> FetchedPage:
    pile = TextPile(text, (), "en")
    return FetchedPage(
        url,
        time_s,
        encode_pile(pile),
        pile_digest(pile),
        content=text.encode(),
        content_bytes=len(text),
        title=f"Title of {url}",
        description="About.",
        language="en",
        etag='"x"',
        images=(Image("https://a.test/i.png", "a picture"),),
        published_s=START_S - 2_000,
        modified_s=START_S - 1_000,
        links=tuple(Link(link, "anchor") for link in links),
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, map_bytes=1 << 26) as opened:
        with opened.write() as txn:
            store_page(txn, fetched(HOME, "first text", START_S, OTHER, DISCOVERED))
            store_page(txn, fetched(OTHER, "other text", START_S + 1, HOME))
        with opened.write() as txn:
            store_page(txn, fetched(HOME, "second text", START_S + 100, OTHER, DISCOVERED))
        yield opened


def test_page_shows_what_is_stored(store: Store) -> None:
    with store.read() as txn:
        page = read_page(txn, HOME, with_text=True)
    assert page.document.url == HOME
    assert page.document.title == f"Title of {HOME}"
    assert page.is_searchable
    assert page.text == "second text"
    assert [link.url for link in page.links] == [OTHER, DISCOVERED]
    assert list(page.inlinks) == [OTHER]
    assert page.images[0].page_url == HOME
    assert page.etag == '"x"'
    dates = page.document.published_time, page.document.modified_time
    assert [each.seconds for each in dates] == [START_S - 2_000, START_S - 1_000]
    assert page.content_bytes == len("second text")
    assert len(page.generations) == 2
    assert page.generations[0].first_seen_time.seconds == START_S + 100
    assert page.generations[1].HasField("confirmed_end_time")
    assert not page.generations[0].HasField("confirmed_end_time")
    assert page.document.first_seen_time == page.generations[0].first_seen_time


def test_text_is_read_only_when_it_is_asked_for(store: Store) -> None:
    with store.read() as txn:
        assert read_page(txn, HOME, with_text=False).text == ""


def test_retired_page_says_why_it_cannot_be_found(store: Store) -> None:
    with store.write() as txn:
        retire_page(txn, OTHER, START_S + 200, http_status=410, exit_code=41)
    with store.read() as txn:
        page = read_page(txn, OTHER, with_text=False)
    assert not page.is_searchable
    assert page.not_searchable_reason == "gone"
    assert page.http_status == 410


def test_discovered_url_is_known_although_it_never_answered(store: Store) -> None:
    with store.read() as txn:
        page = read_page(txn, DISCOVERED, with_text=False)
    assert page.not_searchable_reason == NEVER_ANSWERED
    assert not page.is_searchable
    assert list(page.inlinks) == [HOME]


def test_unknown_url_is_not_found(store: Store) -> None:
    with store.read() as txn, pytest.raises(NotFoundError, match=r"https://a\.test/none was never heard of"):
        read_page(txn, "https://a.test/none", with_text=False)


def test_history_is_paged_newest_first(store: Store) -> None:
    """U71: every generation, with what is still kept of it."""
    with store.read() as txn:
        first = read_history(txn, HOME, 1, None)
        assert first.next_sequence is not None
        rest = read_history(txn, HOME, 10, first.next_sequence)
        with pytest.raises(NotFoundError):
            read_history(txn, "https://a.test/nothing", 1, None)
    (new,), (old,) = first.generations, rest.generations
    assert rest.next_sequence is None
    assert not new.HasField("confirmed_end_time")
    assert old.confirmed_end_time == new.first_seen_time
    assert (old.has_text, new.has_text) == (True, True)


def test_diff_compares_the_last_two_unless_told_otherwise(store: Store) -> None:
    with store.read() as txn:
        answer = diff_message(HOME, read_compared(txn, HOME, b"", b""))
    assert [(line.kind, line.text) for hunk in answer.hunks for line in hunk.lines] == [
        (2, "first text"),
        (3, "second text"),
    ]
    assert (answer.added_count, answer.removed_count, answer.is_truncated) == (1, 1, False)
    assert answer.to_generation.uuid > answer.from_generation.uuid


def test_diff_says_what_it_cannot_compare(store: Store) -> None:
    apply_retention(store, Retention(0), START_S + 1_000)
    with store.read() as txn:
        for url, uuid, reason in (
            ("https://a.test/nothing", b"", "PAGE_UNKNOWN"),
            (OTHER, b"", "GENERATION_UNKNOWN"),
            (HOME, b"", "GENERATION_UNKNOWN"),  # the earlier one was forgotten
            (HOME, bytes(16), "GENERATION_UNKNOWN"),
        ):
            with pytest.raises(NotFoundError) as caught:
                read_compared(txn, url, uuid, b"")
            assert caught.value.reason == reason
