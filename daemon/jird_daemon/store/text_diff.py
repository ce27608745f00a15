"""Which lines of a text changed. Pure.

Lines that both texts begin or end with are set aside first. What is left is compared with difflib (Ratcliff and
Obershelp 1988), whose cost is quadratic at worst; beyond COMPARED_LINES_MAX it is taken as replaced as a whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import IntEnum

# Of both texts together, beginnings and ends that are the same left out: a tenth of a second.
COMPARED_LINES_MAX = 4_000
CONTEXT_LINES = 3


class LineKind(IntEnum):
    """What happened to a line; as DiffLineKind in the contract."""

    SAME = 1
    REMOVED = 2
    ADDED = 3


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place where two texts differ; line numbers count from 1."""

    from_line: int
    to_line: int
    lines: tuple[tuple[LineKind, str], ...]


def diff_texts(old: str, new: str) -> list[Hunk]:
    """Changed lines with up to CONTEXT_LINES unchanged ones around, in order; empty when the texts are the same."""
    return list(_hunks(old.split("\n"), new.split("\n")))


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[Hunk]:
    if old == new:
        return
    same_head = _common(old, new)
    same_tail = _common(old[same_head:][::-1], new[same_head:][::-1])
    head, tail = max(same_head - CONTEXT_LINES, 0), max(same_tail - CONTEXT_LINES, 0)
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(middle_old) + len(middle_new) <= COMPARED_LINES_MAX:
        groups = SequenceMatcher(None, middle_old, middle_new).get_grouped_opcodes(CONTEXT_LINES)
    else:
        groups = iter([[("replace", 0, len(middle_old), 0, len(middle_new))]])
    for group in groups:
        lines = tuple(line for step in group for line in _lines(middle_old, middle_new, step))
        yield Hunk(group[0][1] + head + 1, group[0][3] + head + 1, lines)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((count for count, (one, other) in pairs if one != other), min(len(old), len(new)))


def _lines(
    old: Sequence[str], new: Sequence[str], step: tuple[str, int, int, int, int]
) -> Iterator[tuple[LineKind, str]]:
    tag, i1, i2, j1, j2 = step
    if tag == "equal":
        yield from ((LineKind.SAME, line) for line in old[i1:i2])
        return
    yield from ((LineKind.REMOVED, line) for line in old[i1:i2])
    yield from ((LineKind.ADDED, line) for line in new[j1:j2])
