"""jird's own index, built and asked through jird_native as the daemon does."""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from engines.engine import Engine
from jird_native import (
    FORMAT_VERSION,
    And,
    DocumentOrder,
    Or,
    Query,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
    _qix,
    merge_segments,
    phrase_of,
)

MEMORY_BYTES = 400_000_000
"""A segment is written when the builder has this much; all are merged at the end."""
MAX_TOKENS = 1_000_000
"""Longer documents than jird's own limit, so that every engine indexes the same tokens."""
FILE_NAME = "text.qix"


def extension_stamp() -> str:
    """What changes whenever the extension is built anew: indexes made before are not used any more."""
    status = Path(_qix.__file__ or "").stat()
    return f"{status.st_size:x}.{status.st_mtime_ns:x}"


class SegmentPile:
    """Builds one segment of any number of documents in bounded memory. A context manager.

    Args:
        target: The segment; parts of it lie beside it on the way, in a folder of their own that goes at the end.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self._scratch = tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.stem}-")
        self._parts: list[Path] = []
        self.builder = SegmentBuilder(max_tokens=MAX_TOKENS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._scratch.cleanup()

    def make_room(self) -> None:
        """Write what the builder holds if it is much; called after some documents."""
        if self.builder.memory_bytes > MEMORY_BYTES:
            self._seal()
            self.builder = SegmentBuilder(max_tokens=MAX_TOKENS)

    def _seal(self) -> None:
        self._parts.append(Path(self._scratch.name) / f"{len(self._parts)}.qix")
        self.builder.write(self._parts[-1], sync=False, order=DocumentOrder.GIVEN)

    def finish(self) -> None:
        """Write the rest, and make the segment of all."""
        if self.builder.doc_count or not self._parts:
            self._seal()
        if len(self._parts) == 1:
            self._parts[0].rename(self._target)
            return
        segments = [(Segment.open(part), None) for part in self._parts]
        merge_segments(segments, self._target, sync=False, order=DocumentOrder.GIVEN)
        for segment, _ in segments:
            segment.close()


def build_lines(lines: Iterable[bytes], target: Path) -> int:
    """Index lines of tokens as documents 0, 1, ...; returns their number."""
    number = -1
    with SegmentPile(target) as pile:
        for number, line in enumerate(lines):
            pile.builder.add_terms(number + 1, line)  # page ids begin at 1
            if number & 63 == 0:
                pile.make_room()
        pile.finish()
    return number + 1


def query_tree(kind: str, terms: Sequence[str]) -> Query:
    """The query of a kind; one word alone is a term whatever the kind."""
    if len(terms) == 1:
        return Term(terms[0])
    if kind == "phrase":
        return phrase_of(terms)
    children = tuple(Term(term) for term in terms)
    return And(children) if kind == "and" else Or(children)


class Qix(Engine):
    """One segment of all documents, in the order of the text."""

    def version(self) -> str:
        return f"format {FORMAT_VERSION}"

    def build(self, text: Path, folder: Path) -> int:
        with text.open("rb") as lines:
            return build_lines(lines, folder / FILE_NAME)

    def open(self, folder: Path) -> None:
        self._segment = Segment.open(folder / FILE_NAME)
        self._snapshot = Snapshot([(self._segment, None)])

    def warm(self) -> None:
        """Check all of the segment."""
        self._segment.check_chunks(0, self._segment.info.chunk_count)

    def prepare(self, kind: str, words: Sequence[str]) -> Any:
        return query_tree(kind, words)

    def search(self, prepared: Any, k: int) -> Any:
        return self._snapshot.search(prepared, k)

    def hits(self, found: Any) -> list[tuple[int, float]]:
        return [(page - 1, score) for page, score in zip(found.page_ids, found.scores, strict=True)]
