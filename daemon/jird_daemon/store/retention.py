"""How much of the pages' past is kept: forgetting old generations, in batches that a crawl does not feel.

Only generations that a later one has replaced are ever forgotten, oldest end first. What is open, and the last version
of a page that is gone, stay. The bytes come back with the next garbage collection.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from jird_daemon.store.env import Store
from jird_daemon.store.generations import PAST_BYTES, forget_generation, last_generation
from jird_daemon.store.tables import PAST_GENERATIONS
from jird_daemon.store.txn import Txn

# Generations looked at in one snapshot, and forgotten in one transaction: some ten milliseconds, for which the crawl's
# writer waits at most.
BATCH = 500

_Key = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept of the past; None: without bound."""

    generations: int  # of one page, beside its latest
    age_s: float | None = None  # since their end
    text_bytes: int | None = None  # of all pages together, as stored


def apply_retention(store: Store, retention: Retention, now_s: float, pause: Callable[[], bool] = lambda: False) -> int:
    """Forget what is beyond the limits; returns how many generations that were.

    Args:
        store: Open for writing.
        retention: The limits.
        now_s: Current time, seconds since 1970 UTC.
        pause: Called between batches, to wait a little; True ends the work, which goes on with the next call.

    Raises:
        StoreFullError: There is no room for the change; what was forgotten before is.
    """
    forgotten = 0
    after: _Key | None = None
    while True:
        with store.read() as txn:
            keys, after = _look(txn, retention, now_s, after)
        if keys:
            with store.write() as txn:
                forgotten += sum(forget_generation(txn, *key) for key in keys)
        if after is None or pause():
            return forgotten


def _look(txn: Txn, retention: Retention, now_s: float, after: _Key | None) -> tuple[list[_Key], _Key | None]:
    """The next generations to forget, and the key to go on behind; None when all were looked at."""
    start = None if after is None else (after[0], after[1], after[2] + 1)
    batch = list(islice(txn.scan(PAST_GENERATIONS, start), BATCH))
    excess = 0 if retention.text_bytes is None else txn.number(PAST_BYTES) - retention.text_bytes
    last_ms = None if retention.age_s is None else round((now_s - retention.age_s) * 1_000)
    found: list[_Key] = []
    for key, held_bytes in batch:
        end_ms, url_id, sequence = key
        if (
            excess > 0
            or (last_ms is not None and end_ms < last_ms)
            or _is_one_too_many(txn, retention, url_id, sequence)
        ):
            found.append(key)
            excess -= held_bytes
    return found, batch[-1][0] if len(batch) == BATCH else None


def _is_one_too_many(txn: Txn, retention: Retention, url_id: int, sequence: int) -> bool:
    # The oldest go first, so those of one page have numbers without gaps.
    last = last_generation(txn, url_id)
    return last is not None and last[0] - sequence > retention.generations
