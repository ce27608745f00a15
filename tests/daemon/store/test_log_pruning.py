"""Forgetting old entries of the crawl log (U37, U123)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.errors import WorkCancelledError
from jird_daemon.store import Store, log_pruning
from jird_daemon.store.log_pruning import prune_log
from jird_daemon.store.pages import get_page, store_page
from jird_daemon.store.tables import CRAWL_LOG, CRAWL_LOG_BY_ORIGIN, CRAWL_LOG_BY_URL, URLS, LogEntry
from jird_daemon.store.urls import intern_url
from jird_daemon.store.uuid7 import make_uuid7
from testkit.pages import make_page

START_S = 1_796_000_000.0
PATHS = ("a", "b", "c")
ROUNDS = 7
ASKED_ORIGIN = 99


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Seven entries of each of three URLs, in turn; one of /c counts for another origin, as after a redirect."""
    with Store.open(tmp_path, map_bytes=1 << 26) as opened:
        with opened.write() as txn:
            for number in range(ROUNDS * len(PATHS)):
                url_id = intern_url(txn, f"https://h.test/{PATHS[number % 3]}")
                url = txn.get(URLS, url_id)
                assert url is not None
                origin_id = ASKED_ORIGIN if number == 2 else url.origin_id
                key = make_uuid7(START_S + number)
                txn.put(CRAWL_LOG, key, LogEntry(url_id, 0, 20, START_S + number, 5, origin_id=origin_id))
                txn.put(CRAWL_LOG_BY_URL, (url_id, key), 20)
                txn.put(CRAWL_LOG_BY_ORIGIN, (origin_id, key), 20)
            store_page(txn, make_page("https://h.test/a", "text"))
        yield opened


def times(store: Store) -> list[int]:
    with store.read() as txn:
        return sorted(round(entry.start_time_s - START_S) for _, entry in txn.scan(CRAWL_LOG))


@pytest.mark.parametrize("batch", [1, 2, 5, 1_000])
def test_the_latest_of_each_url_stay(store: Store, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """U123: whatever the batches; look-ups go with their entries; U37: the page stays."""
    monkeypatch.setattr(log_pruning, "BATCH", batch)
    report = prune_log(store, 2, apply=True)
    assert (report.entries, report.forgotten, report.urls) == (21, 15, 3)
    assert times(store) == list(range(15, 21))
    with store.read() as txn:
        assert len(list(txn.scan(CRAWL_LOG_BY_URL))) == len(list(txn.scan(CRAWL_LOG_BY_ORIGIN))) == 6
        assert get_page(txn, "https://h.test/a") is not None
    assert prune_log(store, 2, apply=True).forgotten == 0


def test_a_simulation_counts_and_changes_nothing(store: Store) -> None:
    """U123."""
    assert prune_log(store, 3, apply=False).forgotten == 12
    assert len(times(store)) == 21


def test_it_ends_where_nobody_waits_any_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was forgotten before stays forgotten; the rest is there."""
    monkeypatch.setattr(log_pruning, "BATCH", 7)
    seen: list[tuple[int, int]] = []

    def progress(entries: int, forgotten: int) -> None:
        seen.append((entries, forgotten))
        if len(seen) == 2:
            raise WorkCancelledError("enough")

    with pytest.raises(WorkCancelledError):
        prune_log(store, 1, apply=True, progress=progress)
    assert seen == [(7, 6), (14, 12)]
    assert len(times(store)) == 21 - 12
