"""jird's own index, built and asked through jird_native as the daemon does."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

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
    phrase_of,
)

MEMORY_BYTES = 256_000_000
"""That the builder's documents may take."""
MAX_TOKENS = 1_000_000
"""Longer documents than jird's own limit, so that every engine indexes the same tokens."""
FILE_NAME = "text.qix"


def extension_stamp() -> str:
    """What changes whenever the extension is built anew: indexes made before are not used any more."""
    status = Path(_qix.__file__ or "").stat()
    return f"{status.st_size:x}.{status.st_mtime_ns:x}"


def new_builder(target: Path) -> SegmentBuilder:
    """A builder of bounded memory for a segment at `target`; what goes beyond lies beside it, unlinked."""
    return SegmentBuilder(max_tokens=MAX_TOKENS, memory_bytes=MEMORY_BYTES, spill_folder=target.parent)


def build_lines(lines: Iterable[bytes], target: Path) -> int:
    """Index lines of tokens as documents 0, 1, ...; returns their number."""
    builder = new_builder(target)
    for page_id, line in enumerate(lines, 1):  # page ids begin at 1
        builder.add_terms(page_id, line)
    builder.write(target, sync=False, order=DocumentOrder.GIVEN)
    return builder.doc_count


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
