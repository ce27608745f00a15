"""A page's life as generations: stretches of time in which its text was the same (U71-U73, U148, U149).

The latest generation of a page shares its text with the page's row. One whose place a later generation has taken refers
to its text by itself, and is listed in `past_generations` by the time it ended, until retention.py forgets it.
"""

import msgspec

from jird_daemon.store.tables import BLOBS, GENERATIONS, PAST_GENERATIONS, Generation
from jird_daemon.store.txn import Txn
from jird_daemon.store.uuid7 import make_uuid7

# Names of counts kept in META: generations that a later one has replaced, the bytes of their texts as stored (a text
# that several share counts for each), and how many were forgotten.
PAST_COUNT = "past_generations"
PAST_BYTES = "past_generation_bytes"
FORGOTTEN_COUNT = "forgotten_generations"


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
        _supersede(txn, url_id, last[0])
    opened = Generation(make_uuid7(time_s), first_seen_s, first_seen_s, None, pile, text, content)
    txn.put(GENERATIONS, (url_id, sequence), opened)
    return True


def extend_generation(txn: Txn, url_id: int, time_s: float) -> None:
    """Note that the latest text was still there; opens its generation again if the page had been gone."""
    last = last_generation(txn, url_id)
    if last is not None:
        _extend(txn, url_id, last, time_s, content=last[1].content_digest)


def rewrite_generation(txn: Txn, url_id: int, *, pile: bytes, text: bytes) -> None:
    """Note that the same bytes give another text today: the latest generation has it, its times are as they were."""
    last = last_generation(txn, url_id)
    if last is not None and last[1].pile_digest != pile:
        sequence, generation = last
        rewritten = msgspec.structs.replace(generation, pile_digest=pile, text_digest=text)
        txn.put(GENERATIONS, (url_id, sequence), rewritten)


def close_generation(txn: Txn, url_id: int, time_s: float) -> None:
    """Note that the latest text is known to be no longer there; a closed generation keeps its end."""
    last = last_generation(txn, url_id)
    if last is not None and last[1].confirmed_end_s is None:
        sequence, generation = last
        end_s = max(time_s, generation.last_seen_s)
        txn.put(GENERATIONS, (url_id, sequence), msgspec.structs.replace(generation, confirmed_end_s=end_s))


def forget_generation(txn: Txn, end_ms: int, url_id: int, sequence: int) -> bool:
    """Drop a generation that a later one has replaced, and its text with it; returns whether it was there.

    Args:
        txn: A write transaction.
        end_ms: When it ended; with the others its key in `past_generations`.
        url_id: The page.
        sequence: Its number.
    """
    held_bytes = txn.get(PAST_GENERATIONS, (end_ms, url_id, sequence))
    generation = txn.get(GENERATIONS, (url_id, sequence))
    if held_bytes is None or generation is None:
        return False
    if generation.has_text:
        txn.refer_to_blob(generation.text_digest, -1)
    txn.delete(PAST_GENERATIONS, (end_ms, url_id, sequence))
    txn.delete(GENERATIONS, (url_id, sequence))
    txn.add_number(PAST_COUNT, -1)
    txn.add_number(PAST_BYTES, -held_bytes)
    txn.add_number(FORGOTTEN_COUNT, 1)
    return True


def _supersede(txn: Txn, url_id: int, sequence: int) -> None:
    """Let a generation that has ended keep its text, which the page's row is about to give up."""
    generation = txn.get(GENERATIONS, (url_id, sequence))
    assert generation is not None
    assert generation.confirmed_end_s is not None
    blob = txn.get(BLOBS, generation.text_digest) if generation.text_digest else None
    if blob is not None:
        txn.refer_to_blob(generation.text_digest, 1)
        txn.put(GENERATIONS, (url_id, sequence), msgspec.structs.replace(generation, has_text=True))
    held_bytes = blob.stored_bytes if blob is not None else 0
    txn.put(PAST_GENERATIONS, (round(generation.confirmed_end_s * 1_000), url_id, sequence), held_bytes)
    txn.add_number(PAST_COUNT, 1)
    txn.add_number(PAST_BYTES, held_bytes)


def _extend(txn: Txn, url_id: int, last: tuple[int, Generation], time_s: float, *, content: bytes) -> None:
    sequence, generation = last
    last_seen_s = max(time_s, generation.last_seen_s)
    extended = msgspec.structs.replace(
        generation, last_seen_s=last_seen_s, confirmed_end_s=None, content_digest=content
    )
    txn.put(GENERATIONS, (url_id, sequence), extended)
