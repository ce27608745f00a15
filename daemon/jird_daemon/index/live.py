"""The segments in use, as the index writer holds them: files, deletions, and what a view names.

A page is live in one segment at most. Whatever adds a document deletes the page from all others first, in the writer's
thread; a document that came from elsewhere (a merge, a rebuild) is deleted at once if its page has changed since.
"""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jird_daemon.control import SegmentRef
from jird_daemon.index.manifest import ManifestSegment
from jird_daemon.index.merge_policy import SegmentSize
from jird_native import Segment, Tombstones

SEGMENT_SUFFIX = ".qix"
TOMBSTONES_SUFFIX = ".del"


class FileNames:
    """Names for new files, never used before: readers keep files by name, over restarts of the writer too."""

    def __init__(self) -> None:
        self._series = secrets.token_hex(4)
        self._number = 0

    def next(self, suffix: str) -> str:
        """A new name."""
        self._number += 1
        return f"{self._series}-{self._number:08d}{suffix}"


@dataclass(slots=True, eq=False)
class LiveSegment:
    """One segment in use. Its file is immutable; its deletions grow, and are written to a new file each time."""

    name: str
    segment: Segment
    tombstones: Tombstones | None = None
    tombstone_file: str = ""
    is_durable: bool = False  # a checkpoint has synced the segment's file
    is_tombstone_file_durable: bool = False
    has_unwritten_deletions: bool = False
    era: int = 0  # rebuilds begun before it was made

    @property
    def deleted_count(self) -> int:
        """Documents that are deleted."""
        return self.tombstones.count if self.tombstones is not None else 0

    @property
    def live_count(self) -> int:
        """Documents that can be found."""
        return self.segment.doc_count - self.deleted_count

    @property
    def size(self) -> SegmentSize:
        """What the merge policy decides by."""
        return SegmentSize(self.live_count, self.deleted_count)

    def delete_page(self, page_id: int) -> bool:
        """Delete a page's document, if it is here and live.

        Raises:
            jird_native.CorruptSegmentError: The part of the file that says so is damaged.
        """
        docid = self.segment.find(page_id)
        if docid is None:
            return False
        if self.tombstones is None:
            self.tombstones = Tombstones(self.segment.doc_count)
        is_new = self.tombstones.add(docid)
        self.has_unwritten_deletions |= is_new
        return is_new

    def part(self) -> tuple[Segment, Tombstones | None]:
        """The segment and its deletions so far, for a thread that works on them meanwhile."""
        return self.segment, self.tombstones.copy() if self.tombstones is not None else None


class LiveSegments:
    """All segments in use; belongs to the writer's thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = FileNames()
        self.segments: list[LiveSegment] = []

    @property
    def document_count(self) -> int:
        """Documents that can be found."""
        return sum(segment.live_count for segment in self.segments)

    def sizes(self) -> list[SegmentSize]:
        """What the merge policy decides by, for each segment."""
        return [segment.size for segment in self.segments]

    def delete_pages(self, page_ids: Iterable[int]) -> int:
        """Delete pages wherever they are live; returns how many documents that were."""
        pages = tuple(page_ids)
        return sum(segment.delete_page(page_id) for segment in self.segments for page_id in pages)

    def write_deletions(self) -> None:
        """Write deletions that no file holds yet, unsynced, and drop segments in which nothing lives.

        Raises:
            OSError: The disk is full, or broken; nothing was changed, and the next call writes the same again.
        """
        for live in self.segments:
            if live.has_unwritten_deletions and live.live_count > 0:
                assert live.tombstones is not None
                name = self.names.next(TOMBSTONES_SUFFIX)
                write_file(self.folder / name, live.tombstones.to_bytes())
                live.tombstone_file, live.is_tombstone_file_durable = name, False
                live.has_unwritten_deletions = False
        self.segments = [live for live in self.segments if live.live_count > 0]

    def replace(self, old: Iterable[LiveSegment], new: LiveSegment | None) -> None:
        """Put one segment, or none, in the place of others."""
        gone = {live.name for live in old}
        self.segments = [live for live in self.segments if live.name not in gone]
        if new is not None:
            self.segments.append(new)

    def refs(self) -> tuple[SegmentRef, ...]:
        """What a view names; every deletion must be written."""
        return tuple(
            SegmentRef(live.name, live.tombstone_file, is_volatile=not live.is_durable) for live in self.segments
        )

    def entries(self) -> tuple[ManifestSegment, ...]:
        """What the manifest names; every deletion must be written."""
        return tuple(
            ManifestSegment(
                live.name, live.segment.bytes, live.segment.doc_count, live.tombstone_file, live.deleted_count
            )
            for live in self.segments
        )

    def sync_files(self) -> None:
        """Make every file of the view durable; the folder, which holds their names, is synced by the caller."""
        for live in self.segments:
            if not live.is_durable:
                sync_file(self.folder / live.name)
            if live.tombstone_file and not live.is_tombstone_file_durable:
                sync_file(self.folder / live.tombstone_file)

    def mark_durable(self) -> None:
        """A manifest that names every file of the view has been published."""
        for live in self.segments:
            live.is_durable = True
            live.is_tombstone_file_durable = True


def write_file(path: Path, data: bytes) -> None:
    """Write a new file that nobody may change any more; unsynced."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o440)
    with open(descriptor, "wb") as file:
        file.write(data)


def sync_file(path: Path) -> None:
    """Make a file's bytes durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
