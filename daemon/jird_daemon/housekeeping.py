"""Work on the store that nobody asks for, in a thread of its own: what is kept of the past, now and then."""

import os
import threading

from jird_daemon.clock import Clock
from jird_daemon.errors import JirdError
from jird_daemon.log import get_logger
from jird_daemon.store.env import Store
from jird_daemon.store.retention import Retention, apply_retention
from jird_settings import Content

INTERVAL_S = 600.0
# Between two batches, so that the crawl's writer has its turn.
PAUSE_S = 0.05
_DAY_S = 86_400.0
_NICENESS = 10  # as for merges: fetching comes first

_log = get_logger("store")


class Housekeeping:
    """Applies the retention settings when it is started, when they change, and every INTERVAL_S."""

    def __init__(self, store: Store, content: Content, clock: Clock) -> None:
        """Prepare; `start` begins.

        Args:
            store: Open for writing.
            content: The settings.
            clock: Tells how old generations are.
        """
        self._store = store
        self._content = content
        self._clock = clock
        self._is_called = threading.Event()
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def take_up(self, content: Content) -> None:
        """Apply other settings, now."""
        self._content = content
        self._is_called.set()

    def close(self) -> None:
        """Stop after the batch that is being worked on."""
        self._is_closing.set()
        self._is_called.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        while not self._is_closing.is_set():
            self._is_called.clear()
            self._apply()
            if not self._is_closing.is_set():
                self._is_called.wait(INTERVAL_S)

    def _apply(self) -> None:
        limits, now_s = retention_of(self._content), self._clock.now_s()
        try:
            forgotten = apply_retention(self._store, limits, now_s, lambda: self._is_closing.wait(PAUSE_S))
        except JirdError as error:
            _log.error("retention.failed", reason=str(error), then=f"tried again in {INTERVAL_S:.0f} s")
            return
        if forgotten:
            _log.info("retention.done", generations=forgotten)


def retention_of(content: Content) -> Retention:
    """The limits as the store counts them."""
    days = content.keep_generation_days
    return Retention(content.keep_generations, None if days is None else days * _DAY_S, content.keep_generation_bytes)
