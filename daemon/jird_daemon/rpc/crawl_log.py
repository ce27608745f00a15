"""Reading the crawl log with filters, newest first.

Filters on a URL, a host or a UUID go through their own tables; the others are tried entry by entry. A page of the list
ends when it is full or when SCAN_MAX entries were looked at, so that a filter that nothing matches cannot hold a
snapshot of the store for long: the answer then has fewer entries, or none, and a token to go on with.
"""

import heapq
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from jird_daemon.errors import InvalidArgumentError
from jird_daemon.store.tables import (
    CRAWL_LOG,
    CRAWL_LOG_BY_ORIGIN,
    CRAWL_LOG_BY_URL,
    ORIGIN_IDS,
    URLS,
    LogEntry,
)
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import find_url
from jird_daemon.store.uuid7 import uuid7_floor

SCAN_MAX = 20_000  # some 50 ms of decoding
ORIGINS_MAX = 64  # of one host: ports and schemes
_LAST_KEY = b"\xff" * 16


@dataclass(frozen=True, slots=True)
class LogFilter:
    """What entries are wanted; empty and 0 mean any. Filters are combined with AND."""

    url: str = ""  # canonical
    host: str = ""
    uuid: bytes = b""
    exit_code: int = 0
    run_id: int = 0
    start_time_s: float = 0.0
    end_time_s: float = 0.0


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries as (key, entry, URL), newest first, and the key to go on behind; empty when the log is at its end."""

    entries: list[tuple[bytes, LogEntry, str]]
    next_key: bytes


def parse_uuid(text: str) -> bytes:
    """The 16 bytes of a UUID; none for an empty text.

    Raises:
        InvalidArgumentError: It is not a UUID.
    """
    try:
        return uuid.UUID(text).bytes if text else b""
    except ValueError:
        raise InvalidArgumentError(f"uuid is {text[:100]!r}; it must be a UUID", "UUID_MALFORMED") from None


def read_log(txn: Txn, wanted: LogFilter, size: int, before: bytes = b"") -> LogPage:
    """Read a page of the log.

    Args:
        txn: A snapshot.
        wanted: The filters.
        size: Entries wanted, at least 1.
        before: Go on behind this key; empty for the first page.
    """
    entries: list[tuple[bytes, LogEntry, str]] = []
    for looked_at, (key, exit_code) in enumerate(_candidates(txn, wanted, before or _LAST_KEY), start=1):
        is_possible = not wanted.exit_code or exit_code in (None, wanted.exit_code)
        entry = txn.get(CRAWL_LOG, key) if is_possible else None
        if entry is not None and _is_wanted(entry, wanted):
            url = txn.get(URLS, entry.url_id)
            entries.append((key, entry, url.url if url else ""))
        if len(entries) == size or looked_at == SCAN_MAX:
            return LogPage(entries, key)
    return LogPage(entries, b"")


def _is_wanted(entry: LogEntry, wanted: LogFilter) -> bool:
    return (
        (not wanted.exit_code or entry.exit_code == wanted.exit_code)
        and (not wanted.run_id or entry.run_id == wanted.run_id)
        and entry.start_time_s >= wanted.start_time_s
        and (not wanted.end_time_s or entry.start_time_s < wanted.end_time_s)
    )


def _candidates(txn: Txn, wanted: LogFilter, before: bytes) -> Iterator[tuple[bytes, int | None]]:
    """Keys of entries below `before`, newest first, with the exit code where the table at hand has it."""
    # An entry is written when its action has ended, so none that began later has a smaller key.
    floor = uuid7_floor(wanted.start_time_s) if wanted.start_time_s > 0 else b""
    if wanted.end_time_s > 0:
        # A millisecond later, since that is how exactly keys tell the time.
        before = min(before, uuid7_floor(wanted.end_time_s + 0.001))
    if wanted.uuid:
        return iter([(wanted.uuid, None)] if wanted.uuid < before else [])
    if wanted.url:
        url_id = find_url(txn, wanted.url)
        if url_id is None or (wanted.host and not _is_on_host(wanted.url, wanted.host)):
            return iter(())
        scan = txn.scan(CRAWL_LOG_BY_URL, (url_id, floor), (url_id, before), reverse=True)
        return ((key, code) for (_, key), code in scan)
    if wanted.host:
        scans = [
            txn.scan(CRAWL_LOG_BY_ORIGIN, (origin, floor), (origin, before), reverse=True)
            for origin in _origins_of(txn, wanted.host)
        ]
        merged = heapq.merge(*scans, key=lambda item: item[0][1], reverse=True)
        return ((key, code) for (_, key), code in merged)
    return ((key, None) for key, _ in txn.scan(CRAWL_LOG, floor or None, before, reverse=True))


def _is_on_host(url: str, host: str) -> bool:
    authority = url.partition("://")[2].partition("/")[0]
    return authority == host or authority.startswith(f"{host}:")


def _origins_of(txn: Txn, host: str) -> list[int]:
    """Numbers of the origins with this host, on any scheme and port."""
    found = []
    for scheme in ("http", "https"):
        bare = f"{scheme}://{host}"
        for name, origin_id in txn.scan(ORIGIN_IDS, bare, f"{bare};"):  # ";" follows ":"
            if name == bare or name.startswith(f"{bare}:"):
                found.append(origin_id)
            if len(found) == ORIGINS_MAX:
                return found
    return found
