"""Reading one segment: opening it, its documents, its terms, its checks."""

import mmap
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from jird_native._qix import ffi, lib
from jird_native.errors import CorruptSegmentError, check, new_fault, reason_of
from jird_native.model import Namespace

if TYPE_CHECKING:
    from jird_native._qix import CData

NO_DOCID = 0xFFFF_FFFF
KEY_BYTES_MAX = 513
FAULTS_MAX = 64
"""Faults that verify describes; a file with more of them is damaged throughout."""


@dataclass(frozen=True, slots=True)
class SegmentInfo:
    """What a segment holds. `total_length` is the sum of weighted document lengths; `bytes` the size of the file."""

    path: Path
    doc_count: int
    term_count: int
    total_length: int
    bytes: int
    chunk_count: int
    analysis_version: int
    has_positions: bool
    field_weights: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A row of the document table; `length` is weighted, the rest is as DocumentInput had it."""

    page_id: int
    origin_id: int
    language: int
    date_s: int
    static_rank: int
    flags: int
    length: int


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a file."""

    offset: int
    reason: str


def info_of(path: Path, info: "CData") -> SegmentInfo:
    """A qix_segment_info as a SegmentInfo."""
    return SegmentInfo(
        path,
        info.doc_count,
        info.term_count,
        info.total_length,
        info.file_bytes,
        info.chunk_count,
        info.analysis_version,
        bool(info.has_positions),
        tuple(info.field_weights),
    )


class Handle:
    """A mapped file and C's handle to it; both go when the last segment or snapshot that uses them does."""

    __slots__ = ("path", "pointer")

    def __init__(self, path: Path) -> None:
        self.path = path
        # Without O_NONBLOCK, a pipe in the place of the file would hold up its opening for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CorruptSegmentError(path, 0, "this is not a file")
            size = os.fstat(descriptor).st_size
            if size == 0:
                raise CorruptSegmentError(path, 0, "file is empty")
            mapping = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
        finally:
            os.close(descriptor)
        buffer, fault, pointer = ffi.from_buffer("uint8_t[]", mapping), new_fault(), ffi.new("qix_segment **")
        check(lib.qix_open(buffer, size, pointer, fault), fault, path)

        def close(segment: "CData") -> None:
            lib.qix_close(segment)
            ffi.release(buffer)  # only now may the file be unmapped: until then its bytes are guarded

        self.pointer = ffi.gc(pointer[0], close)


class _Listed:
    """Room for the terms that C lists."""

    def __init__(self, limit: int) -> None:
        self.rows = max(limit, 0)
        room = max(limit, 1)
        self.out = (
            ffi.new("uint8_t[]", room * KEY_BYTES_MAX),
            ffi.new("uint32_t[]", room),
            ffi.new("uint32_t[]", room),
            ffi.new("uint32_t *"),
        )

    def terms(self) -> list[tuple[str, int]]:
        """What is there now: terms without their namespace, and their document counts."""
        keys, ends, dfs, count = self.out
        data, found, start = ffi.buffer(keys), [], 0
        for i in range(count[0]):
            found.append((data[start + 1 : ends[i]].decode("utf-8", "replace"), int(dfs[i])))
            start = ends[i]
        return found


class Segment:
    """An open segment. Threads may share it.

    The file must not be written to while it is open; it may be unlinked or replaced by a rename. Every method raises
    CorruptSegmentError when it meets bytes that are not what was written, and ValueError after close. On Linux that
    holds for bytes that are gone too: the first segment that is opened sets a handler for SIGBUS (qix_guard.h), so that
    a file that someone truncates costs its segment and not the process; a SIGBUS of anything else takes its old course.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle: Handle | None = handle
        info = ffi.new("qix_segment_info *")
        lib.qix_get_info(handle.pointer, info)
        self.path = handle.path
        self.info = info_of(handle.path, info)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Map a file and check its structure; postings are checked when they are first used.

        Raises:
            CorruptSegmentError: The file breaks the format.
            FormatVersionError: It is of another format version.
            OSError: It cannot be opened.
        """
        return cls(Handle(Path(path)))

    def close(self) -> None:
        """Give up the file; a snapshot that holds it keeps it mapped until that is gone too."""
        self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def handle(self) -> Handle:
        """For this package: the mapping."""
        if self._handle is None:
            raise ValueError(f"segment {self.path} is closed")
        return self._handle

    @property
    def doc_count(self) -> int:
        """Documents, deleted ones included."""
        return self.info.doc_count

    @property
    def term_count(self) -> int:
        """Keys of the dictionary, all namespaces."""
        return self.info.term_count

    @property
    def total_length(self) -> int:
        """Sum of the weighted lengths of all documents."""
        return self.info.total_length

    @property
    def bytes(self) -> int:
        """Size of the file."""
        return self.info.bytes

    def find(self, page_id: int) -> int | None:
        """The docid of a page, or None if it is not here."""
        handle, fault, docid = self.handle, new_fault(), ffi.new("uint32_t *")
        check(lib.qix_find_page(handle.pointer, page_id, docid, fault), fault, self.path)
        return None if docid[0] == NO_DOCID else int(docid[0])

    def document(self, docid: int) -> DocumentRow:
        """A document's row; ValueError unless 0 <= docid < doc_count."""
        handle, fault, row = self.handle, new_fault(), ffi.new("qix_document *")
        if docid < 0:
            raise ValueError(f"docid is {docid}; it must be 0 to {self.doc_count - 1}")
        check(lib.qix_get_document(handle.pointer, docid, row, fault), fault, self.path)
        return DocumentRow(row.page_id, row.origin_id, row.language, row.date_s, row.static_rank, row.flags, row.length)

    def page_ids(self) -> list[int]:
        """All page ids, by docid."""
        handle, fault, pages = self.handle, new_fault(), ffi.new("uint64_t[]", self.doc_count + 1)
        check(lib.qix_get_page_ids(handle.pointer, pages, fault), fault, self.path)
        return ffi.unpack(pages, self.doc_count) if self.doc_count else []

    def df(self, term: str, namespace: Namespace = Namespace.WORD) -> int:
        """How many documents hold a term, deleted ones included."""
        key = bytes((namespace,)) + term.encode("utf-8", "replace")
        handle, fault, df = self.handle, new_fault(), ffi.new("uint32_t *")
        check(lib.qix_term_df(handle.pointer, key, len(key), df, fault), fault, self.path)
        return int(df[0])

    def terms(self, prefix: str, limit: int = 10, namespace: Namespace = Namespace.WORD) -> list[tuple[str, int]]:
        """The commonest terms that begin with `prefix`: (term, df) by falling df, ties in byte order.

        `limit` is 1 to 10,000. Takes a few milliseconds at most: of more than 65,536 terms with the prefix, only those
        are looked at that stand among frequent ones in the dictionary, so that a rarer one may be missing.
        """
        key = bytes((namespace,)) + prefix.encode("utf-8", "replace")
        handle, fault, listed = self.handle, new_fault(), _Listed(min(limit, max(self.term_count, 1)))
        check(lib.qix_list_terms(handle.pointer, key, len(key), listed.rows, *listed.out, fault), fault, self.path)
        return listed.terms()

    def near_terms(
        self, term: str, max_edits: int = 1, limit: int = 10, namespace: Namespace = Namespace.WORD
    ) -> list[tuple[str, int]]:
        """Terms that differ from `term` by a few edits: (term, df), fewest edits first, then by falling df.

        An edit puts in, leaves out or replaces a character, or exchanges two neighbours. `max_edits` is 1 or 2,
        `limit` 1 to 10,000, `term` 1 to 128 characters; only terms with its first character are found.
        """
        key = bytes((namespace,)) + term.encode("utf-8", "replace")
        handle, fault, listed = self.handle, new_fault(), _Listed(min(limit, max(self.term_count, 1)))
        status = lib.qix_near_terms(handle.pointer, key, len(key), max(max_edits, 0), listed.rows, *listed.out, fault)
        check(status, fault, self.path)
        return listed.terms()

    def check_chunks(self, first: int, count: int) -> None:
        """Hash chunks of 1 MiB that no query has used yet, as a background task does; past the end there are none."""
        handle, fault = self.handle, new_fault()
        check(lib.qix_check_chunks(handle.pointer, first, count, fault), fault, self.path)

    def verify(self) -> list[Fault]:
        """Check every byte and every invariant; [] if all is right, else the first faults. Reads the whole file."""
        handle, faults, count = self.handle, ffi.new("qix_fault[]", FAULTS_MAX), ffi.new("uint32_t *")
        check(lib.qix_verify(handle.pointer, faults, FAULTS_MAX, count), faults, self.path)
        return [Fault(faults[i].offset, reason_of(faults[i])) for i in range(min(count[0], FAULTS_MAX))]
