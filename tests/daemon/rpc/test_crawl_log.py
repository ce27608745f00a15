"""Reading the crawl log from a real store."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.errors import InvalidArgumentError
from jird_daemon.rpc import crawl_log
from jird_daemon.rpc.crawl_log import LogFilter, LogPage, parse_uuid, read_log
from jird_daemon.store import Store
from jird_daemon.store.tables import CRAWL_LOG, CRAWL_LOG_BY_ORIGIN, CRAWL_LOG_BY_URL, URLS, LogEntry
from jird_daemon.store.urls import intern_url
from jird_daemon.store.uuid7 import make_uuid7

START_S = 1_796_000_000.0
URLS_LOGGED = ("https://a.test/1", "https://a.test:8443/2", "https://b.test/1", "https://a.test.evil/1")
LENGTH = 40


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A log of 40 entries, one a second: URLs in turn, exit code 20 and 44 in turn, ten entries a run."""
    with Store.open(tmp_path, map_bytes=1 << 26) as opened:
        with opened.write() as txn:
            for number in range(LENGTH):
                url_id = intern_url(txn, URLS_LOGGED[number % 4])
                row = txn.get(URLS, url_id)
                assert row is not None
                key = make_uuid7(START_S + number)
                code = 20 if number % 2 == 0 else 44
                entry = LogEntry(url_id, 0, code, START_S + number, 5, run_id=1 + number // 10)
                txn.put(CRAWL_LOG, key, entry)
                txn.put(CRAWL_LOG_BY_URL, (url_id, key), code)
                txn.put(CRAWL_LOG_BY_ORIGIN, (row.origin_id, key), code)
        yield opened


def read(store: Store, wanted: LogFilter, size: int = 1_000, before: bytes = b"") -> LogPage:
    with store.read() as txn:
        return read_log(txn, wanted, size, before)


def numbers(page: LogPage) -> list[int]:
    return [round(entry.start_time_s - START_S) for _, entry, _ in page.entries]


def test_log_is_read_newest_first(store: Store) -> None:
    page = read(store, LogFilter())
    assert numbers(page) == list(reversed(range(LENGTH)))
    assert page.entries[0][2] == URLS_LOGGED[3]
    assert page.next_key == b""


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (LogFilter(url="https://a.test/1"), range(0, LENGTH, 4)),
        (LogFilter(url="https://never.test/"), ()),
        (LogFilter(start_time_s=START_S + 5, end_time_s=START_S + 8), range(5, 8)),
        (LogFilter(host="a.test", end_time_s=START_S + 5), (0, 1, 4)),
        (LogFilter(host="a.test"), [n for n in range(LENGTH) if n % 4 in (0, 1)]),
        (LogFilter(host="b.test", exit_code=44), ()),
        (LogFilter(host="a.test", exit_code=44), range(1, LENGTH, 4)),
        (LogFilter(exit_code=20), range(0, LENGTH, 2)),
        (LogFilter(run_id=2), range(10, 20)),
        (LogFilter(run_id=2, exit_code=44), range(11, 20, 2)),
        (LogFilter(start_time_s=START_S + 35), range(35, LENGTH)),
        (LogFilter(host="a.test", start_time_s=START_S + 35), (36, 37)),
        (LogFilter(url="https://a.test/1", host="a.test", start_time_s=START_S + 30), (32, 36)),
        (LogFilter(url="https://a.test/1", host="b.test"), ()),
        (LogFilter(url="https://a.test:8443/2", host="a.test", start_time_s=START_S + 30), (33, 37)),
    ],
)
def test_filters_are_combined(store: Store, wanted: LogFilter, expected: list[int]) -> None:
    """U125: by URL, host, exit code, run and time; a host covers its ports and no other host that begins alike."""
    assert numbers(read(store, wanted)) == sorted(expected, reverse=True)


@pytest.mark.parametrize(
    "wanted", [LogFilter(), LogFilter(host="a.test"), LogFilter(exit_code=44), LogFilter(run_id=3)]
)
def test_pages_follow_each_other_without_gap_or_repetition(store: Store, wanted: LogFilter) -> None:
    found: list[int] = []
    before = b""
    for _ in range(LENGTH):
        page = read(store, wanted, 3, before)
        assert len(page.entries) <= 3
        found += numbers(page)
        before = page.next_key
        if not before:
            break
    assert found == numbers(read(store, wanted))


def test_one_entry_is_found_by_its_uuid(store: Store) -> None:
    """U125: --uuid."""
    key = read(store, LogFilter()).entries[7][0]
    page = read(store, LogFilter(uuid=parse_uuid(str(uuid.UUID(bytes=key)))))
    assert [found for found, _, _ in page.entries] == [key]
    assert read(store, LogFilter(uuid=make_uuid7(START_S))).entries == []


def test_filter_that_nothing_matches_looks_at_a_bounded_number(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_log, "SCAN_MAX", 15)
    page = read(store, LogFilter(run_id=1))
    assert page.entries == []
    page = read(store, LogFilter(run_id=1), before=page.next_key)
    assert page.entries == []
    assert numbers(read(store, LogFilter(run_id=1), before=page.next_key)) == list(reversed(range(10)))


def test_malformed_uuid_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="it must be a UUID"):
        parse_uuid("7")
