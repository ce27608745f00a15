"""A page's generations, and what changed between two of them, from the store's tables."""

from dataclasses import dataclass
from itertools import islice

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird_daemon.errors import NotFoundError
from jird_daemon.rpc.convert import generation_message
from jird_daemon.store.generations import last_generation
from jird_daemon.store.tables import GENERATIONS, Generation
from jird_daemon.store.text_diff import Hunk, LineKind, diff_texts
from jird_daemon.store.text_pile import TextPile, decode_pile
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import find_url

GENERATIONS_DEFAULT, GENERATIONS_MAX = 50, 1_000  # the contract's numbers
DIFF_LINES_MAX = 10_000
_SEQUENCE_END = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Generations, newest first, and the number to go on below; None at the end."""

    generations: list[crawl_pb.Generation]
    next_sequence: int | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Two generations of a page with their texts."""

    old: Generation
    new: Generation
    is_new_latest: bool
    old_pile: TextPile
    new_pile: TextPile


def read_history(txn: Txn, url: str, size: int, below: int | None) -> HistoryPage:
    """Read a part of a page's history.

    Args:
        txn: A snapshot.
        url: Canonical.
        size: Generations wanted, at least 1.
        below: Go on below this number; None: from the newest.

    Raises:
        NotFoundError: The URL was never heard of.
    """
    url_id = _known(txn, url)
    last = last_generation(txn, url_id)
    stop = (url_id, _SEQUENCE_END if below is None else below)
    found = list(islice(txn.scan(GENERATIONS, (url_id, 0), stop, reverse=True), size + 1))
    messages = [
        generation_message(each, is_latest=last is not None and sequence == last[0])
        for (_, sequence), each in found[:size]
    ]
    return HistoryPage(messages, found[size - 1][0][1] if len(found) > size else None)


def read_compared(txn: Txn, url: str, from_uuid: bytes, to_uuid: bytes) -> Compared:
    """Read two generations of a page with their texts.

    Args:
        txn: A snapshot.
        url: Canonical.
        from_uuid: The older one; empty: the one before the newer one.
        to_uuid: The newer one; empty: the latest.

    Raises:
        NotFoundError: There is no such URL, or generation, or its text is no longer kept.
        CorruptBlobError: A text is damaged.
    """
    url_id = _known(txn, url)
    all_of_it = [(sequence, each) for (_, sequence), each in txn.scan(GENERATIONS, (url_id, 0), (url_id + 1, 0))]
    to_place = len(all_of_it) - 1 if not to_uuid else _place(all_of_it, to_uuid, url)
    from_place = to_place - 1 if not from_uuid else _place(all_of_it, from_uuid, url)
    if to_place < 0 or from_place < 0:
        raise NotFoundError(f"{url} has no earlier generation to compare with", "GENERATION_UNKNOWN")
    old, new = all_of_it[from_place][1], all_of_it[to_place][1]
    latest = len(all_of_it) - 1
    return Compared(
        old,
        new,
        to_place == latest,
        _text(txn, old, is_latest=from_place == latest),
        _text(txn, new, is_latest=to_place == latest),
    )


def diff_message(url: str, compared: Compared) -> crawl_pb.DiffGenerationsResponse:
    """What changed between two generations; takes up to a tenth of a second, so not within a snapshot."""
    message = crawl_pb.DiffGenerationsResponse(
        url=url,
        from_generation=generation_message(compared.old, is_latest=False),
        to_generation=generation_message(compared.new, is_latest=compared.is_new_latest),
        from_language=compared.old_pile.language,
        to_language=compared.new_pile.language,
    )
    left = DIFF_LINES_MAX
    for hunk in diff_texts(compared.old_pile.text, compared.new_pile.text):
        message.added_count += sum(kind is LineKind.ADDED for kind, _ in hunk.lines)
        message.removed_count += sum(kind is LineKind.REMOVED for kind, _ in hunk.lines)
        message.is_truncated |= len(hunk.lines) > left
        if left:
            message.hunks.append(_hunk_message(hunk, left))
            left -= min(left, len(hunk.lines))
    return message


def _hunk_message(hunk: Hunk, lines_max: int) -> crawl_pb.DiffHunk:
    lines = [crawl_pb.DiffLine(kind=int(kind), text=text) for kind, text in hunk.lines[:lines_max]]  # type: ignore[arg-type]
    return crawl_pb.DiffHunk(from_line=hunk.from_line, to_line=hunk.to_line, lines=lines)


def _known(txn: Txn, url: str) -> int:
    url_id = find_url(txn, url)
    if url_id is None:
        raise NotFoundError(f"{url} was never heard of", "PAGE_UNKNOWN")
    return url_id


def _place(generations: list[tuple[int, Generation]], uuid: bytes, url: str) -> int:
    for place, (_, generation) in enumerate(generations):
        if generation.uuid == uuid:
            return place
    raise NotFoundError(f"{url} has no such generation", "GENERATION_UNKNOWN")


def _text(txn: Txn, generation: Generation, *, is_latest: bool) -> TextPile:
    if not (generation.has_text or is_latest) or not generation.text_digest:
        raise NotFoundError("the text of that generation is no longer kept", "TEXT_NOT_KEPT")
    return decode_pile(txn.get_blob(generation.text_digest))
