"""A page's life as generations: stretches of time in which its text was the same (U71-U73, U148, U149)."""

import msgspec

from jird_daemon.store.tables import GENERATIONS, Generation
from jird_daemon.store.txn import Txn
from jird_daemon.store.uuid7 import make_uuid7


def last_generation(txn: Txn, url_id: int) -> tuple[int, Generation] | None:
    """Sequence number and record of a page's latest generation; None when it never had content."""
    for (_, sequence), generation in txn.scan(GENERATIONS, (url_id, 0), (url_id + 1, 0), reverse=True):
        return sequence, generation
    return None


def record_content(txn: Txn, url_id: int, time_s: float, *, pile: bytes, text: bytes, content: bytes) -> bool:
    """Note which text a page had at a time; returns whether it is not the one seen last.

    The same text extends the latest generation, and opens it again if the page had been gone (U72). Another text
    closes it, where it is open, with the first time of the next (U71).

    Args:
        txn: A write transaction.
        url_id: The page.
        time_s: When the answer came.
        pile: Digest of text, markers and language, which alone decides.
        text: Blob of the serialised text.
        content: Blob of the fetched bytes; empty when not kept.
    """
    last = last_generation(txn, url_id)
    if last is not None and last[1].pile_digest == pile:
        _extend(txn, url_id, last, time_s, content=content)
        return False
    sequence, first_seen_s = 0, time_s
    if last is not None:
        # A clock that was set back must not let generations overlap.
        sequence, first_seen_s = last[0] + 1, max(time_s, last[1].last_seen_s)
        close_generation(txn, url_id, first_seen_s)
    opened = Generation(make_uuid7(time_s), first_seen_s, first_seen_s, None, pile, text, content)
    txn.put(GENERATIONS, (url_id, sequence), opened)
    return True


def extend_generation(txn: Txn, url_id: int, time_s: float) -> None:
    """Note that the latest text was still there; opens its generation again if the page had been gone."""
    last = last_generation(txn, url_id)
    if last is not None:
        _extend(txn, url_id, last, time_s, content=last[1].content_digest)


def close_generation(txn: Txn, url_id: int, time_s: float) -> None:
    """Note that the latest text is known to be no longer there; a closed generation keeps its end."""
    last = last_generation(txn, url_id)
    if last is not None and last[1].confirmed_end_s is None:
        sequence, generation = last
        end_s = max(time_s, generation.last_seen_s)
        txn.put(GENERATIONS, (url_id, sequence), msgspec.structs.replace(generation, confirmed_end_s=end_s))


def _extend(txn: Txn, url_id: int, last: tuple[int, Generation], time_s: float, *, content: bytes) -> None:
    sequence, generation = last
    last_seen_s = max(time_s, generation.last_seen_s)
    extended = msgspec.structs.replace(
        generation, last_seen_s=last_seen_s, confirmed_end_s=None, content_digest=content
    )
    txn.put(GENERATIONS, (url_id, sequence), extended)
