"""Work in threads with a bound on how much may wait: more is refused at once instead of queueing up (F113)."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from jird_daemon.clock import Clock
from jird_daemon.errors import OverloadedError, ShuttingDownError

T = TypeVar("T")

RETRY_AFTER_S = 1.0


class WorkPool:
    """A few threads and a bounded queue before them. Lives in one event loop.

    Args:
        name: For thread names and messages.
        threads: Pieces of work that are done at a time.
        max_concurrent: Pieces being done or waiting.
        clock: Tells how long the oldest piece has been in a thread.
    """

    def __init__(self, name: str, threads: int, max_concurrent: int, clock: Clock) -> None:
        self._name = name
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._clock = clock
        self._begun_s: dict[int, float] = {}
        self._last_id = 0
        self._waiting = 0
        self._is_closed = False
        self.max_concurrent = max(max_concurrent, threads)
        self.refused_count = 0

    @property
    def concurrent(self) -> int:
        """Pieces being done or waiting."""
        return self._waiting

    @property
    def oldest_s(self) -> float:
        """How long the oldest piece has been in its thread; 0 when none is."""
        begun_s = list(self._begun_s.values())
        return self._clock.monotonic_s() - min(begun_s) if begun_s else 0.0

    async def run(self, work: Callable[[], T], timeout_s: float | None = None) -> T:
        """Do `work` in a thread.

        A caller that is cancelled, or whose time is up, leaves the queue; what is already in a thread goes on to its
        end and keeps its place in the bound until then.

        Raises:
            OverloadedError: Too much is waiting already.
            ShuttingDownError: The pool is closed.
            TimeoutError: The time was up.
        """
        if self._is_closed:
            raise ShuttingDownError(f"{self._name}: closed")
        if self._waiting >= self.max_concurrent:
            self.refused_count += 1
            raise OverloadedError(f"{self._name}: {self._waiting} are in progress", retry_after_s=RETRY_AFTER_S)
        loop = asyncio.get_running_loop()
        self._waiting += 1
        self._last_id += 1
        future = self._executor.submit(self._timed, self._last_id, work)
        future.add_done_callback(lambda _: _in_loop(loop, self._leave))
        async with asyncio.timeout(timeout_s):
            return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Wait for what is in the threads; what waits is dropped."""
        self._is_closed = True
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _timed(self, number: int, work: Callable[[], T]) -> T:
        self._begun_s[number] = self._clock.monotonic_s()
        try:
            return work()
        finally:
            del self._begun_s[number]

    def _leave(self) -> None:
        self._waiting -= 1


def _in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
