"""The index writer: one thread that changes the index, and what others may ask of it.

The thread pulls changes from the store's own list whenever someone says that there are new ones, so that indexing live,
catching up after a crash and catching up after a rebuild are the same code. It seals small segments, shows views of
them, makes them durable now and then, and has the slow work (merges, rebuilds) done beside it.

Every public method may be called from any thread; those that wait must not be called from an event loop's.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import wait
from pathlib import Path

from jird_daemon.control import View
from jird_daemon.errors import StoreFullError, WrongStateError
from jird_daemon.index.background import MergeBudget, Progress, no_progress
from jird_daemon.index.changes import count_documents
from jird_daemon.index.manifest import Fingerprint
from jird_daemon.index.merging import Merger
from jird_daemon.index.rebuilding import RETRY_DUTY, Rebuilder
from jird_daemon.index.recovery import recover, store_id
from jird_daemon.index.state import IndexState, Step
from jird_daemon.index.verify import VerifiedSegment, verify_index
from jird_daemon.index.work_loop import WorkLoop
from jird_daemon.log import get_logger
from jird_daemon.store import Store
from jird_daemon.store.env import store_full_errors
from jird_native import ANALYSIS_VERSION, FIELD_WEIGHTS, FORMAT_VERSION, CorruptSegmentError
from jird_settings.tables import Index

log = get_logger("index")

# With nothing to index for so long, what is searchable is made durable.
IDLE_CHECKPOINT_S = 5.0
# After a failure (a full disk, as a rule) the same work is tried again.
RETRY_S = 5.0
# Segments full of changes that are made before the first view is shown: a few seconds of work. By default checkpoints
# are closer together, so that a restarted writer's first view holds all that its killed predecessor had shown.
_CAUGHT_UP_FIRST = 2
# At the end, merges and rebuilds are told to stop and do so within milliseconds, unless a disk hangs: what they have
# written is then removed at the next open.
_STOP_WAIT_S = 10.0
# How often the progress of a compaction is told.
_PROGRESS_S = 0.5
_MIB = 1024 * 1024


class IndexWriter:
    """Keeps the index folder in step with the store."""

    def __init__(
        self,
        store: Store,
        index_dir: Path,
        settings: Index,
        on_view: Callable[[View], None],
        *,
        max_chars: int = 200_000,
        at_step: Step = lambda step: None,
    ) -> None:
        """Nothing happens before `open`.

        Args:
            store: Open for writing.
            index_dir: The index folder; made if it is not there.
            settings: When to seal, merge and checkpoint.
            on_view: Called in the writer's thread with each new view.
            max_chars: Characters of a page's text that are indexed (S5).
            at_step: Called between steps, for tests that kill there.
        """
        self._store = store
        self._settings = settings
        self._on_view = on_view
        fingerprint = Fingerprint(store_id(store), ANALYSIS_VERSION, FORMAT_VERSION, FIELD_WEIGHTS, max_chars)
        self._state = IndexState(store, index_dir, fingerprint, at_step, settings.builder_mib * _MIB)
        duties = {"seal": self._seal, "checkpoint": self._idle_checkpoint, RETRY_DUTY: self._rebuild_if_needed}
        self._loop = WorkLoop("index-writer", duties, self._handle)
        self._merger = Merger(
            self._state,
            self._loop.post,
            self._show,
            self._take_out,
            merge_segments=settings.merge_segments,
            max_overlay_documents=settings.max_overlay_documents,
            budget=MergeBudget(settings.merge_mib_per_s * _MIB, settings.merge_cpu_percent),
        )
        self._rebuilder = Rebuilder(self._state, self._loop, self._show, self._after_rebuild)
        self._is_notified = threading.Event()
        self._last_seal = 0.0
        self._no_seal_before = 0.0
        self._acknowledged = 0
        self._shown = threading.Condition()
        self._view: View | None = None

    # ---- for any thread ----

    def open(self) -> View:
        """Recover what is there, show it, and begin to follow the store. Returns the first view.

        Raises:
            StoreFullError: There is no room to index what a crash left behind.
        """
        state = self._state
        state.folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        with store_full_errors(state.folder):
            state.needs_rebuild = recover(state)
            if not state.needs_rebuild:
                self._catch_up(_CAUGHT_UP_FIRST)
            self._loop.schedule(RETRY_DUTY, 0.0)
            self._loop.schedule("seal", 0.0)
            self._loop.start()
            self._loop.call(self._show)
        return self.view

    @property
    def view(self) -> View:
        """The view shown last."""
        assert self._view is not None, "the index is not open"
        return self._view

    def notify(self) -> None:
        """A transaction that changed pages has been committed."""
        if not self._is_notified.is_set():
            self._is_notified.set()
            self._loop.post(self._schedule_seal)

    def acknowledge(self, sequence: int) -> None:
        """Whoever uses the views has this one, and opens no older one any more: files may go."""
        self._loop.post(lambda: self._remove_files(sequence))

    def report_damage(self, name: str, reason: str = "a search met damage") -> None:
        """A segment is not what was written: it is taken out, and the index made again beside the others."""
        self._loop.post(lambda: self._take_out(name, reason))

    def wait_until(self, is_wanted: Callable[[View], bool], timeout_s: float) -> View:
        """Wait for a view.

        Raises:
            TimeoutError: There was none in time.
        """
        with self._shown:
            if not self._shown.wait_for(lambda: self._view is not None and is_wanted(self._view), timeout_s):
                raise TimeoutError(f"no such view in {timeout_s} s; the last is {self._view}")
            return self.view

    def checkpoint(self) -> View:
        """Index what is waiting, make all of it durable, and return the view.

        Raises:
            WrongStateError: The index is being rebuilt and not complete.
            StoreFullError: There is no room; the checkpoint before stands.
            ShuttingDownError: The writer is closed.
        """
        return self._loop.call(self._checkpoint)

    def compact(self, progress: Progress = no_progress) -> View:
        """Rewrite all segments into one, without what is deleted, and make it durable.

        What `progress` raises ends it, and leaves the index as it was. Its units are bytes of lists.

        Raises:
            WrongStateError: A compaction or a rebuild is running.
            StoreFullError: There is no room; the index is as it was.
            ShuttingDownError: The writer is closed, or was meanwhile.
        """
        done = self._loop.call(self._merger.compact)
        try:
            progress("merging segments", 0, 0)
            while wait([done], _PROGRESS_S).not_done:
                progress("merging segments", *self._merger.progress())
        except BaseException:  # whatever it is, nobody waits any more
            self._loop.call(self._merger.cancel_compaction)
            raise
        done.result()
        progress("publishing", 1, 1)
        return self.checkpoint()

    def rebuild(self, progress: Progress = no_progress) -> View:
        """Make the index again, beside the one in use.

        Raises:
            WrongStateError: A rebuild is running.
            StoreFullError: There is no room; the index is as it was.
            ShuttingDownError: The writer is closed, or was meanwhile.
        """
        self._loop.call(lambda: self._rebuilder.start(progress)).result()
        return self.view

    def verify(self, progress: Progress = no_progress) -> tuple[str, ...]:
        """Read every byte of every segment in use; returns what is wrong, and begins to mend it.

        Raises:
            ShuttingDownError: The writer is closed.
        """
        entries, generation, documents = self._loop.call(self._in_use)
        faults = verify_index(self._state.folder, entries, progress)
        for name, found in faults.items():
            self.report_damage(name, found[0])
        messages = [message for found in faults.values() for message in found]
        at_generation, in_store = count_documents(self._store)
        if at_generation == generation and in_store != documents and not self.view.is_rebuilding:
            messages.append(f"the index holds {documents} documents, the store {in_store}")
            self._loop.post(lambda: self._make_again(messages[-1]))
        return tuple(messages)

    def close(self) -> None:
        """Index and checkpoint what is there, unless it is incomplete, and stop.

        Raises:
            StoreFullError: The last checkpoint failed; the one before stands. The writer is stopped all the same.
        """
        if self._view is None:
            return  # it was never opened
        self._rebuilder.stop()
        self._merger.cancel()
        self._merger.join(_STOP_WAIT_S)
        if self._rebuilder.thread is not None:
            self._rebuilder.thread.join(_STOP_WAIT_S)
        try:
            self._loop.call(self._last_checkpoint)
        finally:
            self._loop.call(self._end_waiting)
            self._loop.stop()

    # ---- in the writer's thread ----

    def _last_checkpoint(self) -> None:
        if not self._state.needs_rebuild:
            self._checkpoint()
        else:
            log.warning("index.incomplete", reason=self._state.needs_rebuild, action="rebuilt at the next start")

    def _end_waiting(self) -> None:
        self._merger.forget()
        self._rebuilder.forget()

    def _schedule_seal(self) -> None:
        """At once when the last one was long ago; under load, at the interval."""
        next_seal = max(self._last_seal + self._settings.seal_interval_ms / 1000, self._no_seal_before)
        self._loop.schedule("seal", max(0.0, next_seal - time.monotonic()))

    def _seal(self) -> None:
        self._last_seal = time.monotonic()
        self._is_notified.clear()
        before = self._state.generation
        if self._state.apply_changes():
            self._loop.schedule("seal", 0.0)
        if self._state.generation == before:
            return
        self._show()
        self._merger.consider()
        if self._state.changed_since_checkpoint >= self._settings.checkpoint_every and not self._state.needs_rebuild:
            self._checkpoint()
        elif self._state.is_dirty:
            self._loop.postpone("checkpoint", IDLE_CHECKPOINT_S)

    def _idle_checkpoint(self) -> None:
        if self._state.is_dirty and not self._state.needs_rebuild:
            self._checkpoint()

    def _rebuild_if_needed(self) -> None:
        self._rebuilder.start_if_needed()

    def _after_rebuild(self) -> None:
        if not self._state.needs_rebuild:
            self._checkpoint()

    def _catch_up(self, rounds: int) -> None:
        """Index what is waiting, up to so many segments of it; then the counts must agree."""
        try:
            while rounds and self._state.apply_changes():
                rounds -= 1
        except CorruptSegmentError as error:
            self._state.drop_segment(error.path.name, str(error))
            return
        generation, documents = count_documents(self._store)
        found = self._state.live.document_count
        if self._state.generation == generation and found != documents:
            self._state.needs_rebuild = f"the index holds {found} documents, the store {documents}"

    def _checkpoint(self) -> View:
        if self._state.needs_rebuild:
            raise WrongStateError(f"the index is being rebuilt: {self._state.needs_rebuild}", "REBUILD_RUNNING")
        with store_full_errors(self._state.folder):
            try:
                while self._state.apply_changes():
                    pass
            except CorruptSegmentError as error:
                self._take_out(error.path.name, error.reason)
                raise WrongStateError("a segment is damaged; the index is being rebuilt", "REBUILD_RUNNING") from error
            self._state.checkpoint()
            self._show()
        self._state.files.remove_unused(self._acknowledged)
        return self.view

    def _show(self) -> None:
        """Make the next view, and tell of it; whoever waits for it goes on afterwards."""
        view = self._state.next_view()
        self._on_view(view)
        with self._shown:
            self._view = view
            self._shown.notify_all()

    def _remove_files(self, sequence: int) -> None:
        self._acknowledged = max(self._acknowledged, sequence)
        self._state.files.remove_unused(self._acknowledged)

    def _in_use(self) -> tuple[list[VerifiedSegment], int, int]:
        self._state.live.write_deletions()
        entries = [
            VerifiedSegment(live.name, live.segment, live.tombstone_file, live.deleted_count)
            for live in self._state.live.segments
        ]
        return entries, self._state.generation, self._state.live.document_count

    def _take_out(self, name: str, reason: str) -> None:
        if self._state.drop_segment(name, f"segment {name}: {reason}"):
            log.error("index.segment_damaged", segment=name, reason=reason, action="taken out; the index is rebuilt")
            self._show()
            self._rebuilder.start_if_needed()

    def _make_again(self, reason: str) -> None:
        self._state.needs_rebuild = reason
        self._rebuilder.start_if_needed()

    def _handle(self, duty: str, error: Exception) -> None:
        """Something that this thread did failed: it is logged, and tried again if it is a duty (F91)."""
        if isinstance(error, CorruptSegmentError):
            self._take_out(error.path.name, error.reason)
            self._loop.schedule(duty or "seal", 0.0)
            return
        if isinstance(error, StoreFullError | OSError):
            log.warning("index.no_room", duty=duty, reason=str(error), action=f"tried again in {RETRY_S:.0f} s")
            self._no_seal_before = time.monotonic() + RETRY_S
        else:
            log.error("index.failed", exc_info=True, duty=duty)
        self._loop.schedule(duty or "seal", RETRY_S)
