"""What is kept of the past: by number, by age, by bytes; what is open stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.store import Store
from jird_daemon.store.garbage import collect_garbage
from jird_daemon.store.generations import FORGOTTEN_COUNT, PAST_BYTES, PAST_COUNT
from jird_daemon.store.pages import retire_page, store_page
from jird_daemon.store.retention import BATCH, Retention, apply_retention
from jird_daemon.store.tables import BLOBS, GENERATIONS, PAST_GENERATIONS
from jird_daemon.store.text_pile import decode_pile
from testkit.pages import make_page, page_url

NOW_S = 100_000.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path) as opened:
        yield opened


def put_versions(store: Store, number: int, count: int, start_s: float = 1_000.0) -> None:
    with store.write() as txn:
        for version in range(count):
            store_page(txn, make_page(page_url(number), f"page {number} version {version}", start_s + 10 * version))


def texts(store: Store, url_id: int) -> list[str]:
    with store.read() as txn:
        found = txn.scan(GENERATIONS, (url_id, 0), (url_id + 1, 0))
        return [decode_pile(txn.get_blob(generation.text_digest)).text for _, generation in found]


def test_a_replaced_version_keeps_its_text_until_it_is_forgotten(store: Store) -> None:
    """J4: the old blob is untouched; a collection removes it only once no generation refers to it."""
    put_versions(store, 1, 2)
    assert collect_garbage(store).blobs == 0
    assert texts(store, 1) == ["page 1 version 0", "page 1 version 1"]
    assert apply_retention(store, Retention(0), NOW_S) == 1
    assert texts(store, 1) == ["page 1 version 1"]
    assert collect_garbage(store).blobs == 1


def test_only_the_newest_versions_of_each_page_are_kept(store: Store) -> None:
    put_versions(store, 1, 5)
    put_versions(store, 2, 2)
    assert apply_retention(store, Retention(2), NOW_S) == 2
    assert texts(store, 1) == ["page 1 version 2", "page 1 version 3", "page 1 version 4"]
    assert texts(store, 2) == ["page 2 version 0", "page 2 version 1"]


def test_versions_that_ended_too_long_ago_are_forgotten(store: Store) -> None:
    put_versions(store, 1, 4)  # replaced at 1,010, 1,020 and 1,030
    assert apply_retention(store, Retention(10, age_s=80.0), 1_100.0) == 1
    assert texts(store, 1) == ["page 1 version 1", "page 1 version 2", "page 1 version 3"]


def test_the_oldest_versions_of_all_pages_make_room(store: Store) -> None:
    put_versions(store, 1, 3, start_s=2_000.0)
    put_versions(store, 2, 3, start_s=1_000.0)
    with store.read() as txn:
        one = next(txn.scan(PAST_GENERATIONS))[1]
        assert txn.number(PAST_BYTES) == 4 * one
    assert apply_retention(store, Retention(10, text_bytes=2 * one), NOW_S) == 2
    assert texts(store, 1) == ["page 1 version 0", "page 1 version 1", "page 1 version 2"]
    assert texts(store, 2) == ["page 2 version 2"]


def test_what_is_open_and_the_last_version_of_a_page_that_is_gone_stay(store: Store) -> None:
    put_versions(store, 1, 1)
    put_versions(store, 2, 2)
    with store.write() as txn:
        retire_page(txn, page_url(2), 3_000.0, http_status=404)
    apply_retention(store, Retention(0, age_s=0.0, text_bytes=0), NOW_S)
    assert (texts(store, 1), texts(store, 2)) == (["page 1 version 0"], ["page 2 version 1"])


def test_counts_agree_with_the_tables_and_say_how_many_were_forgotten(store: Store) -> None:
    put_versions(store, 1, 6)
    apply_retention(store, Retention(3), NOW_S)
    with store.read() as txn:
        kept = [held_bytes for _, held_bytes in txn.scan(PAST_GENERATIONS)]
        assert (txn.number(PAST_COUNT), txn.number(PAST_BYTES)) == (len(kept), sum(kept)) == (3, sum(kept))
        assert txn.number(FORGOTTEN_COUNT) == 2
        assert sum(blob.references for _, blob in txn.scan(BLOBS)) == 4


def test_a_text_that_comes_back_is_referred_to_by_every_version_that_has_it(store: Store) -> None:
    """U17: one blob; forgetting the first of its generations takes nothing from the page."""
    with store.write() as txn:
        for time_s, text in ((1.0, "a"), (2.0, "b"), (3.0, "a")):
            store_page(txn, make_page(page_url(1), text, time_s))
    apply_retention(store, Retention(0), NOW_S)
    collect_garbage(store)
    assert texts(store, 1) == ["a"]


def test_work_is_done_in_batches_and_goes_on_after_a_pause(store: Store) -> None:
    put_versions(store, 1, BATCH + 11)
    assert apply_retention(store, Retention(0), NOW_S, lambda: True) == BATCH
    assert apply_retention(store, Retention(0), NOW_S, lambda: True) == 10
