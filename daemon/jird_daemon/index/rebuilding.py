"""Rebuilds: begun and finished in the writer's thread, done beside it, one at a time."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from jird_daemon.errors import ShuttingDownError, WrongStateError
from jird_daemon.index import background
from jird_daemon.index.background import Progress, no_progress
from jird_daemon.index.outcome import Outcome
from jird_daemon.index.state import IndexState, Rebuild
from jird_daemon.index.work_loop import WorkLoop
from jird_daemon.log import get_logger
from jird_daemon.store.env import store_full_errors

log = get_logger("index")

# After a rebuild that was needed and failed (a full disk, as a rule) it is begun again.
RETRY_S = 30.0
RETRY_DUTY = "rebuild"


class Rebuilder:
    """Belongs to the writer's thread, apart from the thread of a running rebuild.

    Args:
        state: What is rebuilt.
        loop: The writer's thread; has a duty RETRY_DUTY that calls `start_if_needed`.
        show: Shows a new view.
        done: Called when a rebuild has finished and is shown.
    """

    def __init__(self, state: IndexState, loop: WorkLoop, show: Callable[[], None], done: Callable[[], None]) -> None:
        self._state = state
        self._loop = loop
        self._show = show
        self._done = done
        self._is_stopping = threading.Event()
        self._outcome = Outcome()  # of the running rebuild
        self.thread: threading.Thread | None = None

    def start_if_needed(self) -> None:
        """Begin a rebuild if pages are missing and none is running."""
        if self._state.needs_rebuild and self._state.rebuild is None and not self._is_stopping.is_set():
            log.warning(
                "index.rebuild", reason=self._state.needs_rebuild, action="made again from metadata and content"
            )
            self.start(no_progress)

    def start(self, progress: Progress) -> Future[None]:
        """Begin a rebuild; the future is done when it is shown.

        Raises:
            WrongStateError: One is running.
        """
        state = self._state
        if state.rebuild is not None:
            raise WrongStateError("a rebuild is running", "REBUILD_RUNNING")
        rebuild = state.begin_rebuild()
        future = self._outcome.promise()

        def deliver(path: Path) -> None:
            self._loop.call(lambda: self._deliver(rebuild, path))

        def work() -> None:
            failure: Exception | None = None
            try:
                with store_full_errors(state.folder):
                    background.rebuild(
                        state.store,
                        state.folder,
                        state.fingerprint,
                        deliver,
                        progress,
                        self._is_stopping.is_set,
                        builder_bytes=state.builder_bytes,
                    )
            except Exception as error:  # whatever it is, the writer's thread must learn of it
                failure = error
                if not isinstance(error, ShuttingDownError):
                    log.error("index.rebuild_failed", exc_info=True)
            self._loop.post(lambda: self._finish(rebuild, failure))

        self.thread = background.start_thread("index-rebuild", work)
        self._show()
        return future

    def stop(self) -> None:
        """End a running rebuild soon. May be called from any thread."""
        self._is_stopping.set()

    def _deliver(self, rebuild: Rebuild, path: Path) -> None:
        self._state.deliver(rebuild, path)
        if not rebuild.is_beside:
            self._show()

    def forget(self) -> None:
        """Nothing will be taken in any more; whoever waits is told."""
        self._outcome.settle(ShuttingDownError("the daemon is stopping"))

    def _finish(self, rebuild: Rebuild, failure: Exception | None) -> None:
        state = self._state
        if failure is None:
            state.finish_rebuild(rebuild)
            log.info("index.rebuilt", documents=state.live.document_count, generation=state.generation)
        else:
            for fresh in rebuild.fresh:
                (state.folder / fresh.name).unlink(missing_ok=True)
            state.end_rebuild()
        if state.needs_rebuild:
            self._loop.schedule(RETRY_DUTY, RETRY_S if failure else 0.0)
        self._show()
        if failure is None:
            self._done()
        self._outcome.settle(failure)
