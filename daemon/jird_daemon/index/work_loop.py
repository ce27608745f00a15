"""A thread that does one thing at a time: what others ask of it, and its own duties when they are due."""

import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TypeVar

from jird_daemon.errors import ShuttingDownError

T = TypeVar("T")


class WorkLoop:
    """The thread and its inbox. Every public method but `schedule` may be called from any thread."""

    def __init__(self, name: str, duties: Mapping[str, Callable[[], None]], on_error: Callable[[str, Exception], None]):
        """Nothing happens before `start`.

        Args:
            name: Of the thread.
            duties: What can be scheduled, by name.
            on_error: Told the name of a duty (or "" for posted work) that raised, in the thread.
        """
        self._duties = duties
        self._on_error = on_error
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._due: dict[str, float] = {}  # by monotonic time; used in the thread only
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._lock = threading.Lock()
        self._is_stopped = False

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def post(self, work: Callable[[], None]) -> None:
        """Have `work` done soon, after what was posted before; forgotten when the loop has stopped."""
        self._inbox.put(work)

    def call(self, work: Callable[[], T]) -> T:
        """Have `work` done and wait for its result, or its error.

        Raises:
            ShuttingDownError: The loop has stopped, or stops before it comes to it.
        """
        answer: Future[T] = Future()

        def run() -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                answer.set_result(work())
            except BaseException as error:
                answer.set_exception(error)

        with self._lock:
            if self._is_stopped:
                raise ShuttingDownError("the index writer has stopped")
            self._inbox.put(run)
        return answer.result()

    def schedule(self, duty: str, delay_s: float) -> None:
        """Have a duty done in `delay_s`, or when it is due already. Only in the thread, or before start."""
        due = time.monotonic() + delay_s
        self._due[duty] = min(due, self._due.get(duty, due))

    def postpone(self, duty: str, delay_s: float) -> None:
        """Have a duty done in `delay_s` and not before. Only in the thread, or before start."""
        self._due[duty] = time.monotonic() + delay_s

    def stop(self) -> None:
        """Do what was asked for before, then end the thread, and wait for that."""
        with self._lock:
            was_stopped, self._is_stopped = self._is_stopped, True
            self._inbox.put(None)
        if not was_stopped and self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                work = self._inbox.get(timeout=self._time_left())
            except queue.Empty:
                pass
            else:
                if work is None:
                    return
                self._guard("", work)
            now = time.monotonic()
            for duty in [duty for duty, due in self._due.items() if due <= now]:
                del self._due[duty]
                self._guard(duty, self._duties[duty])

    def _time_left(self) -> float | None:
        return max(0.0, min(self._due.values()) - time.monotonic()) if self._due else None

    def _guard(self, duty: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # the thread must live: everything that can be found goes through it
            self._on_error(duty, error)
