"""Merges and compactions: chosen and installed in the writer's thread, done beside it.

At most two run at a time, of different segments: while a large merge takes its minutes, what is sealed meanwhile is
merged beside it, so that the number of segments stays bounded however long that one takes.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from jird_daemon.errors import ShuttingDownError, StoreFullError, WorkCancelledError, WrongStateError
from jird_daemon.index import background
from jird_daemon.index.background import MergeBudget
from jird_daemon.index.live import SEGMENT_SUFFIX, LiveSegment
from jird_daemon.index.merge_policy import choose_merge
from jird_daemon.index.outcome import Outcome
from jird_daemon.index.state import IndexState
from jird_daemon.log import get_logger
from jird_daemon.store.env import store_full_errors
from jird_native import CorruptSegmentError, MergeControl, StoppedError

log = get_logger("index")

# After a merge that failed (a full disk, as a rule) none is tried for so long.
RETRY_S = 30.0
# A merge is begun beside another one only if it has at most this part of its documents: it will be done long before.
_BESIDE_PART_MAX = 0.25
_AT_A_TIME = 2
_STOPPING = ShuttingDownError("the daemon is stopping")
_CANCELLED = WorkCancelledError("the compaction was cancelled")


@dataclass(slots=True, eq=False)
class _Job:
    """A merge that runs."""

    inputs: Sequence[LiveSegment]
    watch: set[int]  # pages changed since it began
    epoch: int
    control: MergeControl
    is_compaction: bool

    @property
    def live_count(self) -> int:
        """Documents that it copies."""
        return sum(live.live_count for live in self.inputs)


class Merger:
    """Belongs to the writer's thread, apart from the threads of running merges, and from `progress` and `cancel`.

    Args:
        state: What is merged.
        post: Has work done in the writer's thread.
        show: Shows a new view.
        take_out: Told of a damaged segment.
        merge_segments: As the setting of that name.
        max_overlay_documents: As the setting of that name.
        budget: What each merge may use.
    """

    def __init__(
        self,
        state: IndexState,
        post: Callable[[Callable[[], None]], None],
        show: Callable[[], None],
        take_out: Callable[[str, str], None],
        *,
        merge_segments: int,
        max_overlay_documents: int,
        budget: MergeBudget,
    ) -> None:
        self._state = state
        self._post = post
        self._show = show
        self._take_out = take_out
        self._merge_segments = merge_segments
        self._max_overlay_documents = max_overlay_documents
        self._budget = budget
        self._compaction = Outcome()
        self._jobs: tuple[_Job, ...] = ()  # replaced as a whole: other threads read it
        self._threads: tuple[threading.Thread, ...] = ()
        self._is_cancelled = False
        self._not_before = 0.0

    def consider(self) -> None:
        """Begin the compaction that was asked for, or a merge if one is worth it, unless enough are running."""
        state = self._state
        if self._is_cancelled or len(self._jobs) >= _AT_A_TIME:
            return
        if self._compaction.is_awaited and not any(job.is_compaction for job in self._jobs):
            if not self._jobs:
                self._begin(list(state.live.segments), is_compaction=True)
            return
        if time.monotonic() < self._not_before:
            return
        # While the index is made again beside it, what is old will go as a whole.
        era = state.rebuild.era if state.rebuild is not None else 0
        busy = {live.name for job in self._jobs for live in job.inputs}
        candidates = [live for live in state.live.segments if live.era >= era and live.name not in busy]
        chosen = choose_merge(
            [live.size for live in candidates],
            state.changed_since_merge,
            merge_segments=self._merge_segments,
            max_overlay_documents=self._max_overlay_documents,
        )
        inputs = [candidates[index] for index in chosen]
        copied = sum(live.live_count for live in inputs)
        if inputs and all(copied <= job.live_count * _BESIDE_PART_MAX for job in self._jobs):
            self._begin(inputs)

    def compact(self) -> Future[None]:
        """Rewrite everything into one segment; the future is done when that is shown.

        Raises:
            WrongStateError: A compaction or a rebuild is running.
        """
        if self._compaction.is_awaited:
            raise WrongStateError("a compaction is running", "COMPACTION_RUNNING")
        if self._state.rebuild is not None:
            raise WrongStateError("the index is being rebuilt", "REBUILD_RUNNING")
        future = self._compaction.promise()
        self.consider()
        return future

    def cancel_compaction(self) -> None:
        """Stop the compaction, whether it runs or waits to."""
        running = [job for job in self._jobs if job.is_compaction]
        for job in running:
            job.control.stop()
        if not running:
            self._compaction.settle(_CANCELLED)

    def progress(self) -> tuple[int, int]:
        """Bytes of lists that the running compaction has merged, and in all; (0, 0) if none runs. For any thread."""
        controls = [job.control for job in self._jobs if job.is_compaction]
        return (controls[0].done, controls[0].total) if controls else (0, 0)

    def cancel(self) -> None:
        """Stop what runs, within milliseconds, and begin nothing more. For any thread."""
        self._is_cancelled = True
        for job in self._jobs:
            job.control.stop()

    def join(self, timeout_s: float) -> None:
        """Wait for what runs. For any thread but the writer's."""
        for thread in self._threads:
            thread.join(timeout_s)

    def forget(self) -> None:
        """Nothing will be installed any more; whoever waits is told."""
        self._compaction.settle(_STOPPING)

    def _begin(self, inputs: Sequence[LiveSegment], *, is_compaction: bool = False) -> None:
        state = self._state
        parts = [live.part() for live in inputs]
        path = state.folder / state.live.names.next(SEGMENT_SUFFIX)
        job = _Job(inputs, state.watch(), state.epoch, self._budget.control(), is_compaction)
        self._jobs += (job,)
        state.is_merging, state.changed_since_merge = True, 0
        if self._is_cancelled:  # between the check before and now: nobody has told this one
            job.control.stop()

        def work() -> None:
            merged: Path | None = None
            failure: Exception | None = None
            try:
                with store_full_errors(state.folder):
                    merged = background.merge(parts, path, job.control)
                state.at_step("merge.file_written")
            except (CorruptSegmentError, StoreFullError, StoppedError) as error:
                failure = error
            except Exception as error:  # whatever it is, the writer's thread must learn of it
                log.error("index.merge_failed", exc_info=True, segments=len(parts))
                failure = error
            self._post(lambda: self._finish(job, merged, failure))

        thread = background.start_thread("index-merge", work)
        self._threads = (*(other for other in self._threads if other.is_alive()), thread)
        self._show()

    def _finish(self, job: _Job, merged: Path | None, failure: Exception | None) -> None:
        state = self._state
        self._jobs = tuple(other for other in self._jobs if other is not job)
        state.is_merging = bool(self._jobs)
        state.unwatch(job.watch)
        if failure is None:
            try:
                if not state.install_merge(job.inputs, merged, job.watch, job.epoch) and merged is not None:
                    merged.unlink(missing_ok=True)
            except CorruptSegmentError as error:
                failure = error
        if isinstance(failure, StoppedError):
            failure = _STOPPING if self._is_cancelled else _CANCELLED
        else:
            state.merge_failed = failure is not None
            if failure is not None:
                self._not_before = time.monotonic() + RETRY_S
                self._report(failure)
        if job.is_compaction:
            self._compaction.settle(failure)
        self._show()
        state.at_step("merge.installed")
        self.consider()

    def _report(self, failure: Exception) -> None:
        if isinstance(failure, CorruptSegmentError):
            self._take_out(failure.path.name, failure.reason)
        elif isinstance(failure, StoreFullError):
            log.warning("index.merge_failed", reason=failure.message, action=f"tried again in {RETRY_S:.0f} s")
