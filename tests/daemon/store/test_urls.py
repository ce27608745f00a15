"""Numbers of URLs: those of many at once are those of each alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.store import Store
from jird_daemon.store.tables import ORIGINS, URLS
from jird_daemon.store.urls import URL_COUNT, find_url, intern_url, intern_urls, origin_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(tmp_path, map_bytes=1 << 26) as opened:
        yield opened


def test_many_urls_are_numbered_in_their_order_and_once(store: Store) -> None:
    """J129: what was met before keeps its number, in this transaction, in an earlier one, and within the list."""
    with store.write() as txn:
        old = intern_url(txn, "https://a.test/old")
    store_urls = ["https://b.test/1", "https://a.test/old", "https://b.test/0", "https://b.test/1", "https://a.test/2"]
    with store.write() as txn:
        earlier = intern_url(txn, "https://a.test/2")
        found = intern_urls(txn, store_urls)
        assert found == {
            "https://b.test/1": earlier + 1,
            "https://a.test/old": old,
            "https://b.test/0": earlier + 2,
            "https://a.test/2": earlier,
        }
        assert txn.number(URL_COUNT) == earlier + 2
        assert intern_url(txn, "https://b.test/0") == earlier + 2
    with store.read() as txn:
        for url, url_id in found.items():
            row = txn.get(URLS, url_id)
            assert row is not None
            origin = txn.get(ORIGINS, row.origin_id)
            assert origin is not None
            assert (row.url, origin.name, find_url(txn, url)) == (url, origin_of(url), url_id)


def test_numbers_of_a_transaction_that_failed_are_given_out_again(store: Store) -> None:
    """A rolled-back number is never used."""

    def fail() -> None:
        with store.write() as txn:
            intern_urls(txn, ["https://a.test/1", "https://a.test/2"])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.write() as txn:
        assert intern_urls(txn, ["https://a.test/2"]) == {"https://a.test/2": 1}


def test_a_url_without_origin_is_an_error(store: Store) -> None:
    """Callers leave out mailto: and the like."""
    with pytest.raises(ValueError, match="no origin"), store.write() as txn:
        intern_urls(txn, ["https://a.test/1", "mailto:someone"])


@pytest.mark.parametrize(
    "url", ["https://a.test:1/x?/", "https://a.test:1?x=/", "https://a.test:1#x", "https://a.test:1"]
)
def test_an_origin_ends_where_path_query_or_fragment_begin(url: str) -> None:
    """RFC 3986 section 3.2: the authority ends at the next slash, question mark or number sign."""
    assert origin_of(url) == "https://a.test:1"
