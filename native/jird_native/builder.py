"""Making segments: from documents, and from other segments."""

import os
from collections.abc import Sequence
from enum import IntEnum
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from jird_native._qix import ffi, lib
from jird_native.control import MergeControl
from jird_native.errors import check, new_fault
from jird_native.model import DocumentInput
from jird_native.publish import publish
from jird_native.segment import Segment, SegmentInfo, info_of
from jird_native.tombstones import Tombstones

if TYPE_CHECKING:
    from jird_native._qix import CData

FIELD_WEIGHTS = (4, 2, 2, 1, 1)
"""How much one word counts in each Field: title, headings, anchors, URL, body."""
MAX_TOKENS = 50_000
"""Words of a document that are indexed, title first (J157)."""


class DocumentOrder(IntEnum):
    """How a segment orders its documents. Neighbours compress and skip better when they are alike."""

    ORIGIN = 0  # by origin id, then page id
    GIVEN = 1  # as they were added, or as the merged segments follow each other


class SegmentBuilder:
    """Collects documents and writes them as one segment. One thread at a time.

    Args:
        field_weights: How much a word counts in each Field; 1 to 1,000. Segments that are searched
            together should agree.
        max_tokens: Primary tokens of a document that are indexed, title first; 1 to 1,000,000.
        with_positions: Keep positions; without them there are no phrases and no search within a field.
        memory_bytes: When documents take so much memory they go to unlinked files in `spill_folder`, from which `write`
            merges them; the segment is the same. None: all stay in memory.
        spill_folder: Needed with `memory_bytes`; the files take about three bytes a word.

    Raises:
        ValueError: A number is out of its range, or `memory_bytes` is given without a folder.
    """

    def __init__(
        self,
        field_weights: Sequence[int] = FIELD_WEIGHTS,
        max_tokens: int = MAX_TOKENS,
        with_positions: bool = True,
        memory_bytes: int | None = None,
        spill_folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self._path = Path("(builder)")
        options, fault, pointer = ffi.new("qix_builder_options *"), new_fault(), ffi.new("qix_builder **")
        options.field_weights = list(field_weights)
        options.max_tokens = max_tokens
        options.with_positions = with_positions
        options.memory_bytes = memory_bytes or 0
        folder = ffi.NULL if spill_folder is None else ffi.new("char[]", os.fsencode(spill_folder))
        options.spill_folder = folder
        check(lib.qix_builder_new(options, pointer, fault), fault, self._path)
        self._builder = ffi.gc(pointer[0], lib.qix_builder_free)

    def add(self, doc: DocumentInput) -> None:
        """Tokenise a document and add it.

        Raises:
            ValueError: The page was added before, a keyword is empty, longer than 512 bytes or in Namespace.WORD.
            OverflowError: A number does not fit its column.
            OSError: Documents could not be moved to files (the disk is full); this one was not added, the others are
                still there, and it can be tried again.
            SegmentLimitError: Memory or the builder's 4 GiB are used up; the builder is of no more use.
        """
        fields = [field.encode("utf-8", "replace") for field in doc.fields]
        keywords = b"".join(
            bytes((namespace,)) + len(raw).to_bytes(2, "little") + raw
            for namespace, raw in ((n, keyword.encode("utf-8", "replace")) for n, keyword in doc.keywords)
        )
        row, fault = _row_of(doc), new_fault()
        ends = list(accumulate(len(field) for field in fields))
        status = lib.qix_builder_add(self._builder, row, b"".join(fields), ends, keywords, len(keywords), fault)
        check(status, fault, self._path)

    def add_terms(self, page_id: int, terms: Sequence[bytes] | bytes, origin_id: int = 0) -> None:
        """Add a document whose body is already terms: a sequence, or bytes in which white space separates them.

        A term longer than 512 bytes gives nothing, as in text. Errors are those of `add`.
        """
        row, fault = ffi.new("qix_document *", {"page_id": page_id, "origin_id": origin_id}), new_fault()
        if isinstance(terms, bytes):
            status = lib.qix_builder_add_terms(self._builder, row, terms, len(terms), ffi.NULL, 0, fault)
        else:
            joined, ends = b"".join(terms), list(accumulate(len(term) for term in terms))
            status = lib.qix_builder_add_terms(self._builder, row, joined, len(joined), ends or [0], len(ends), fault)
        check(status, fault, self._path)

    @property
    def doc_count(self) -> int:
        """Documents added so far."""
        return int(lib.qix_builder_doc_count(self._builder))

    @property
    def memory_bytes(self) -> int:
        """Memory that the documents take. Writing takes a byte a document more, and where documents do not come in
        their order 50 bytes, and some 40 MB for lists."""
        return int(lib.qix_builder_memory_bytes(self._builder))

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        sync: bool,
        order: DocumentOrder = DocumentOrder.ORIGIN,
    ) -> SegmentInfo:
        """Write everything as a segment at `path`; what was there before is replaced at the end, in one step.

        The builder keeps its documents. With `sync`, the segment is on the disk at return.

        Raises:
            OSError: Writing failed; `path` is as it was.
        """
        target, info, fault = Path(path), ffi.new("qix_segment_info *"), new_fault()

        def write(descriptor: int, folder: bytes) -> None:
            status = lib.qix_builder_write(self._builder, descriptor, folder, order, sync, info, fault)
            check(status, fault, target)

        publish(target, sync, write)
        return info_of(target, info)


def _row_of(doc: DocumentInput) -> "CData":
    return ffi.new(
        "qix_document *",
        {
            "page_id": doc.page_id,
            "date_s": int(doc.date_s),
            "origin_id": doc.origin_id,
            "language": doc.language,
            "static_rank": doc.static_rank,
            "flags": doc.flags,
        },
    )


def merge_segments(
    parts: Sequence[tuple[Segment, Tombstones | None]],
    path: str | os.PathLike[str],
    *,
    sync: bool,
    order: DocumentOrder = DocumentOrder.ORIGIN,
    control: MergeControl | None = None,
) -> SegmentInfo:
    """Write one segment with the live documents of several, without reading any text again.

    Memory does not grow with the size of the postings, only with the number of documents (about 30 bytes each).

    Raises:
        ValueError: The segments differ in field weights, positions or analysis version, or a page is alive in two.
        CorruptSegmentError: An input is damaged; it names which.
        OSError: Writing failed; `path` is as it was.
        StoppedError: `control` says so; `path` is as it was.
    """
    target, info, fault = Path(path), ffi.new("qix_segment_info *"), new_fault()
    steered = ffi.NULL if control is None else control.pointer
    handles = [segment.handle for segment, _ in parts]
    rows, keep = parts_of(parts)

    def write(descriptor: int, folder: bytes) -> None:
        status = lib.qix_merge(rows, len(handles), descriptor, folder, order, sync, steered, info, fault)
        is_corrupt = status in (lib.QIX_ERR_CORRUPT, lib.QIX_ERR_VERSION)
        check(status, fault, handles[fault.part].path if is_corrupt else target)

    publish(target, sync, write)
    del keep
    return info_of(target, info)


def parts_of(parts: Sequence[tuple[Segment, Tombstones | None]]) -> tuple["CData", list["CData"]]:
    """A qix_part array, and the bitmaps that must outlive it.

    Raises:
        ValueError: Tombstones are for another number of documents than their segment has.
    """
    rows, keep = ffi.new("qix_part[]", max(len(parts), 1)), []
    for row, (segment, tombstones) in zip(rows, parts, strict=False):
        row.segment = segment.handle.pointer
        if tombstones is None or tombstones.count == 0:
            continue
        if tombstones.doc_count != segment.doc_count:
            raise ValueError(f"tombstones are for {tombstones.doc_count} documents, expected {segment.doc_count}")
        keep.append(ffi.new("uint8_t[]", tombstones.bitmap()))
        row.tombstones = keep[-1]
    return rows, keep
