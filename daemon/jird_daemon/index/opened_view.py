"""A view with its files open: what one search works on from beginning to end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from jird_daemon.control import SegmentRef, View
from jird_daemon.index.regular import read_regular
from jird_native import JirdNativeError, Namespace, Segment, Snapshot, Tombstones


class UnusableSegmentError(Exception):
    """A file that a view names is missing or damaged.

    Args:
        name: The segment.
        reason: What is wrong, for the log.
        is_missing: Whether a file is not there: the view may be of a writer that is gone.
    """

    def __init__(self, name: str, reason: str, *, is_missing: bool) -> None:
        super().__init__(f"segment {name}: {reason}")
        self.name = name
        self.reason = reason
        self.is_missing = is_missing


@dataclass(frozen=True, slots=True)
class OpenedSegment:
    """One segment of a view and its deletions."""

    ref: SegmentRef
    segment: Segment
    tombstones: Tombstones | None

    @property
    def document_count(self) -> int:
        """Documents that can be found."""
        return self.segment.doc_count - (self.tombstones.count if self.tombstones is not None else 0)


class OpenedView:
    """Immutable; threads share it, and it lives as long as the longest search that uses it."""

    def __init__(self, view: View, segments: tuple[OpenedSegment, ...], k1: float, b: float) -> None:
        self.view = view
        self.segments = segments
        self._k1 = k1
        self._b = b
        self.snapshot = Snapshot([(opened.segment, opened.tombstones) for opened in segments], k1, b)

    @classmethod
    def open(cls, folder: Path, view: View, known: Mapping[str, OpenedSegment], k1: float, b: float) -> Self:
        """Open the files of a view, apart from those that are open already.

        Args:
            folder: The index folder.
            view: What to open.
            known: Segments of the view in use, by name. A name always means the same bytes.
            k1: BM25.
            b: BM25.

        Raises:
            UnusableSegmentError: A file is missing or damaged.
        """
        return cls(view, tuple(_open_segment(folder, ref, known.get(ref.name)) for ref in view.segments), k1, b)

    def without(self, name: str) -> "OpenedView":
        """The same view without a segment that turned out to be damaged."""
        rest = tuple(opened for opened in self.segments if opened.ref.name != name)
        return OpenedView(self.view, rest, self._k1, self._b)

    def by_name(self) -> dict[str, OpenedSegment]:
        """Its segments, for the next view."""
        return {opened.ref.name: opened for opened in self.segments}

    @property
    def query_engine(self) -> str:
        """Kind of view (J22): "empty", "core" (all younger than the last checkpoint), "mapped" (none) or "hybrid"."""
        kinds = {opened.ref.is_volatile for opened in self.segments}
        if not kinds:
            return "empty"
        return "hybrid" if len(kinds) == 2 else ("core" if True in kinds else "mapped")

    def terms(self, prefix: str, limit: int, namespace: Namespace) -> list[tuple[str, int]]:
        """Terms with a prefix and how many documents hold each: most frequent first, ties in order of the terms.

        Counts of terms that are rare in one segment and frequent in another may miss the first.
        """
        found: dict[str, int] = {}
        for opened in self.segments:
            for term, df in opened.segment.terms(prefix, limit, namespace):
                found[term] = found.get(term, 0) + df
        return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]

    def near_terms(self, term: str, max_edits: int, limit: int) -> list[tuple[str, int]]:
        """Words that differ from `term` by 1 to `max_edits` edits, and how many documents hold each, commonest first.

        Of each segment, `limit` words of fewest edits are considered.
        """
        found: dict[str, int] = {}
        for opened in self.segments:
            for near, df in opened.segment.near_terms(term, max_edits, limit):
                found[near] = found.get(near, 0) + df
        return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]


def _open_segment(folder: Path, ref: SegmentRef, known: OpenedSegment | None) -> OpenedSegment:
    if known is not None and known.ref.tombstones == ref.tombstones:
        return OpenedSegment(ref, known.segment, known.tombstones)
    try:
        segment = known.segment if known is not None else Segment.open(folder / ref.name)
        tombstones = None
        if ref.tombstones:
            tombstones = Tombstones.from_bytes(read_regular(folder / ref.tombstones), segment.doc_count)
        return OpenedSegment(ref, segment, tombstones)
    except FileNotFoundError as error:
        raise UnusableSegmentError(ref.name, f"{error.filename} is missing", is_missing=True) from error
    except (OSError, ValueError, JirdNativeError) as error:
        raise UnusableSegmentError(ref.name, str(error), is_missing=False) from error


def without_segments(view: View, names: Iterable[str]) -> View:
    """A view that does not name some segments."""
    gone = set(names)
    return View(
        **{field: getattr(view, field) for field in view.__struct_fields__ if field != "segments"},
        segments=tuple(ref for ref in view.segments if ref.name not in gone),
    )
