"""Work beside the index writer's thread: merging segments, and making all of them again.

Both read what never changes (segments, snapshots of the store), write new files, and hand them to the writer. Both
take a processor for long, so their threads are of low priority, and merges keep to a budget. Both end soon when told
to, and leave nothing; their threads are daemons all the same, so that a disk that hangs does not hold up a stop.
"""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jird_daemon.errors import ShuttingDownError
from jird_daemon.index.documents import all_documents
from jird_daemon.index.live import SEGMENT_SUFFIX, FileNames
from jird_daemon.index.manifest import Fingerprint
from jird_daemon.store import Store
from jird_daemon.store.tables import PAGES
from jird_native import MergeControl, Segment, SegmentBuilder, Tombstones, merge_segments

Progress = Callable[[str, int, int], None]
"""What is being done, units done, units in all (0: unknown)."""
Part = tuple[Segment, Tombstones | None]

# Of a thread, as nice(1) counts; the ingest process is nice already, and fetching comes before merging.
_NICENESS = 10
# Documents of the first segment of a rebuild, so that searches have something soon; the next ones are larger.
_FIRST_SEGMENT_DOCUMENTS = 1_000
_SEGMENT_DOCUMENTS_MAX = 64_000


@dataclass(frozen=True, slots=True)
class MergeBudget:
    """What a merge may use on average.

    Args:
        bytes_per_s: That it writes; 0: any number.
        cpu_percent: Of one processor.
    """

    bytes_per_s: int = 0
    cpu_percent: int = 100

    def control(self) -> MergeControl:
        """For one merge."""
        return MergeControl(bytes_per_s=self.bytes_per_s, cpu_percent=self.cpu_percent)


def no_progress(stage: str, done: int, total: int) -> None:
    """For callers that do not want to know."""


def start_thread(name: str, work: Callable[[], None]) -> threading.Thread:
    """Run `work` in a thread of low priority; it must catch its own errors."""

    def run() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        work()

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def merge(parts: Sequence[Part], path: Path, control: MergeControl | None = None) -> Path | None:
    """Write the live documents of several segments as one, unsynced; None when there are none.

    Raises:
        jird_native.StoppedError: `control` says so.
        OSError: The disk is full, or broken.
        jird_native.CorruptSegmentError: A segment is damaged; it names which.
    """
    if all(stones is not None and stones.count == segment.doc_count for segment, stones in parts):
        return None
    merge_segments(parts, path, sync=False, control=control)
    return path


def rebuild(
    store: Store,
    folder: Path,
    fingerprint: Fingerprint,
    deliver: Callable[[Path], None],
    progress: Progress,
    is_stopping: Callable[[], bool],
    *,
    builder_bytes: int,
) -> None:
    """Make every document again, from metadata and blobs, in segments of growing size.

    Args:
        store: To read from.
        folder: Where segments go.
        fingerprint: How documents are made.
        deliver: Called with each segment's file, unsynced.
        progress: Called with pages read; what it raises ends the rebuild.
        is_stopping: Asked for each page.
        builder_bytes: Memory at which a segment is written.

    Raises:
        ShuttingDownError: It is.
        OSError: The disk is full, or broken.
    """
    names = FileNames()
    with store.read() as txn:
        total = txn.count(PAGES)
    wanted = _FIRST_SEGMENT_DOCUMENTS
    builder = SegmentBuilder(fingerprint.field_weights)

    def write() -> None:
        path = folder / names.next(SEGMENT_SUFFIX)
        builder.write(path, sync=False)
        deliver(path)

    for done, document in all_documents(store, fingerprint.max_chars):
        if is_stopping():
            raise ShuttingDownError("the daemon is stopping; the rebuild begins again at the next start")
        if document is not None:
            builder.add(document)
        if builder.doc_count >= wanted or builder.memory_bytes >= builder_bytes:
            write()
            builder = SegmentBuilder(fingerprint.field_weights)
            wanted = min(2 * wanted, _SEGMENT_DOCUMENTS_MAX)
            progress("reading pages", done, max(total, done))
    if builder.doc_count:
        write()
    progress("reading pages", total, total)
