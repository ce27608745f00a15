"""Forgetting old entries of the crawl log: all but the latest few of each URL, in batches (U123).

What is known of a page (its row, generations, when it was last crawled) is not part of the log and stays (U37).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

from jird_daemon.control import PruneReport
from jird_daemon.store.env import Store
from jird_daemon.store.tables import CRAWL_LOG, CRAWL_LOG_BY_ORIGIN, CRAWL_LOG_BY_URL, URLS
from jird_daemon.store.txn import Txn

# Entries looked at in one snapshot, and forgotten in one transaction: some ten milliseconds, for which the crawl's
# writer waits at most.
BATCH = 1_000
# Of one URL; those that are kept are remembered while the log is gone through.
KEEP_MAX = 100_000

_Key = tuple[int, bytes]


@dataclass(slots=True)
class _Walk:
    """Where the walk over the log is: entries by URL, of each URL the oldest first."""

    keep: int
    after: _Key | None = None
    is_over: bool = False
    entries: int = 0
    urls: int = 0
    _url_id: int = 0
    _kept: deque[_Key] = field(default_factory=deque)

    def step(self, txn: Txn) -> list[_Key]:
        """Look at the next entries; those that have as many newer ones as are kept."""
        found: list[_Key] = []
        keys = [key for key, _ in islice(txn.scan(CRAWL_LOG_BY_URL, self.after), BATCH + 1)]
        # The scan begins with the entry that it ended with, unless that has been forgotten.
        keys = [key for key in keys if key != self.after][:BATCH]
        self.is_over = not keys
        for key in keys:
            if key[0] != self._url_id:
                self._url_id, self.urls = key[0], self.urls + 1
                self._kept.clear()
            self._kept.append(key)
            if len(self._kept) > self.keep:
                found.append(self._kept.popleft())
        self.entries += len(keys)
        self.after = keys[-1] if keys else self.after
        return found


def prune_log(
    store: Store,
    keep_latest: int,
    *,
    apply: bool,
    progress: Callable[[int, int], None] = lambda _done, _forgotten: None,
) -> PruneReport:
    """Forget all but the latest entries of each URL.

    Args:
        store: Open for writing; for reading is enough for a simulation.
        keep_latest: Entries of each URL that stay; 0 to KEEP_MAX.
        apply: False only counts.
        progress: Called after each batch with the entries looked at and forgotten; may raise to end the work there.

    Raises:
        StoreFullError: There is no room for the change; what was forgotten before is.
    """
    assert 0 <= keep_latest <= KEEP_MAX
    walk, forgotten = _Walk(keep_latest), 0
    while not walk.is_over:
        with store.read() as txn:
            keys = walk.step(txn)
        if keys and apply:
            with store.write() as txn:
                for key in keys:
                    _forget(txn, key)
        forgotten += len(keys)
        progress(walk.entries, forgotten)
    return PruneReport(walk.entries, forgotten, walk.urls)


def _forget(txn: Txn, key: _Key) -> None:
    url_id, uuid = key
    entry = txn.get(CRAWL_LOG, uuid)
    url = txn.get(URLS, url_id)
    # An answer for robots.txt after a redirect counts for the origin that was asked, which its entry names.
    origin_id = entry.origin_id if entry is not None and entry.origin_id else url.origin_id if url is not None else 0
    txn.delete(CRAWL_LOG, uuid)
    txn.delete(CRAWL_LOG_BY_URL, key)
    txn.delete(CRAWL_LOG_BY_ORIGIN, (origin_id, uuid))
