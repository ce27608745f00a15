"""Merges and compactions: chosen and installed in the writer's thread, done beside it, one at a time."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from jird_daemon.errors import ShuttingDownError, StoreFullError, WrongStateError
from jird_daemon.index import background
from jird_daemon.index.live import SEGMENT_SUFFIX, LiveSegment
from jird_daemon.index.merge_policy import choose_merge
from jird_daemon.index.state import IndexState
from jird_daemon.log import get_logger
from jird_daemon.store.env import store_full_errors
from jird_native import CorruptSegmentError

log = get_logger("index")

# After a merge that failed (a full disk, as a rule) none is tried for so long.
RETRY_S = 30.0


class Merger:
    """Belongs to the writer's thread, apart from the thread of a running merge.

    Args:
        state: What is merged.
        post: Has work done in the writer's thread.
        show: Shows a new view.
        take_out: Told of a damaged segment.
        merge_segments: As the setting of that name.
        max_overlay_documents: As the setting of that name.
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
    ) -> None:
        self._state = state
        self._post = post
        self._show = show
        self._take_out = take_out
        self._merge_segments = merge_segments
        self._max_overlay_documents = max_overlay_documents
        self._compaction: Future[None] | None = None  # asked for, and not done
        self._is_compacting = False
        self._not_before = 0.0
        self.thread: threading.Thread | None = None

    def consider(self) -> None:
        """Begin the compaction that was asked for, or a merge if one is worth it, unless one is running."""
        state = self._state
        if state.is_merging:
            return
        if self._compaction is not None:
            self._is_compacting = True
            self._begin(list(state.live.segments))
        elif time.monotonic() >= self._not_before:
            # While the index is made again beside it, what is old will go as a whole.
            era = state.rebuild.era if state.rebuild is not None else 0
            candidates = [live for live in state.live.segments if live.era >= era]
            chosen = choose_merge(
                [live.size for live in candidates],
                state.changed_since_merge,
                merge_segments=self._merge_segments,
                max_overlay_documents=self._max_overlay_documents,
            )
            if chosen:
                self._begin([candidates[index] for index in chosen])

    def compact(self) -> Future[None]:
        """Rewrite everything into one segment; the future is done when that is shown.

        Raises:
            WrongStateError: A compaction or a rebuild is running.
        """
        if self._compaction is not None:
            raise WrongStateError("a compaction is running", "COMPACTION_RUNNING")
        if self._state.rebuild is not None:
            raise WrongStateError("the index is being rebuilt", "REBUILD_RUNNING")
        self._compaction = future = Future[None]()
        self.consider()
        return future

    def stop(self) -> None:
        """Nothing will be installed any more."""
        self._end_compaction(ShuttingDownError("the daemon is stopping"))

    def _begin(self, inputs: Sequence[LiveSegment]) -> None:
        state = self._state
        parts = [live.part() for live in inputs]
        path = state.folder / state.live.names.next(SEGMENT_SUFFIX)
        watch, epoch = state.watch(), state.epoch
        state.is_merging, state.changed_since_merge = True, 0

        def work() -> None:
            merged: Path | None = None
            failure: Exception | None = None
            try:
                with store_full_errors(state.folder):
                    merged = background.merge(parts, path)
                state.at_step("merge.file_written")
            except (CorruptSegmentError, StoreFullError) as error:
                failure = error
            except Exception as error:  # whatever it is, the writer's thread must learn of it
                log.error("index.merge_failed", exc_info=True, segments=len(parts))
                failure = error
            self._post(lambda: self._finish(inputs, merged, watch, epoch, failure))

        self.thread = background.start_thread("index-merge", work)
        self._show()

    def _finish(
        self,
        inputs: Sequence[LiveSegment],
        merged: Path | None,
        watch: set[int],
        epoch: int,
        failure: Exception | None,
    ) -> None:
        state = self._state
        state.is_merging = False
        state.unwatch(watch)
        if failure is None:
            try:
                if not state.install_merge(inputs, merged, watch, epoch) and merged is not None:
                    merged.unlink(missing_ok=True)
            except CorruptSegmentError as error:
                failure = error
        state.merge_failed = failure is not None
        if failure is not None:
            self._not_before = time.monotonic() + RETRY_S
            self._report(failure)
        if self._is_compacting:
            self._is_compacting = False
            self._end_compaction(failure)
        self._show()
        state.at_step("merge.installed")
        self.consider()

    def _report(self, failure: Exception) -> None:
        if isinstance(failure, CorruptSegmentError):
            self._take_out(failure.path.name, failure.reason)
        elif isinstance(failure, StoreFullError):
            log.warning("index.merge_failed", reason=failure.message, action=f"tried again in {RETRY_S:.0f} s")

    def _end_compaction(self, failure: Exception | None) -> None:
        future, self._compaction = self._compaction, None
        if future is None:
            return
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)
