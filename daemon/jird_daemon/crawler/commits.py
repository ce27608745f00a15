"""The writer: one thread that gathers results into durable transactions.

A result is a function of the batch. Those that come while the disk is busy with one transaction go into the next, so
the cost of a synced commit is shared by as many pages as there are, without waiting for more. If one of them fails, the
transaction is rolled back and each is tried alone, so that a bad one does not take the others with it (S8).
"""

import asyncio
import contextlib
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from jird_daemon.clock import Clock
from jird_daemon.frontier.batch import BatchEffects, FrontierBatch, SeenRows
from jird_daemon.log import get_logger
from jird_daemon.store.env import Store

# Results in one transaction; with it a commit stays well below a tenth of a second.
JOBS_PER_COMMIT = 256
# While results come in faster than this, a commit waits for company: at 25 ms a sync costs a few per cent of the disk's
# time instead of all of it, and a page is still searchable far below a second.
COMMIT_INTERVAL_S = 0.025
# How long commits take now is the median of so many: one slow commit is no slow disk.
TIMED_COMMITS = 5
# Older ones say nothing of now.
TIMED_AGE_S = 60.0

_log = get_logger("writer")

T = TypeVar("T")


@dataclass(slots=True)
class _Job:
    work: Callable[[FrontierBatch], Any]
    done: "asyncio.Future[Any]"
    then: Callable[[], None]


class Committer:
    """Runs functions inside write transactions, in order of submission, in its own thread."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        on_commit: Callable[[BatchEffects], None],
        *,
        on_batch: Callable[[FrontierBatch], None] = lambda _: None,
    ) -> None:
        """Prepare; `start` begins.

        Args:
            store: Opened for writing.
            clock: For the times that batches record.
            on_commit: Called in the event loop after each commit, before its results are given out.
            on_batch: Called in the writer's thread at the end of each batch, before it is flushed.
        """
        self._store = store
        self._clock = clock
        self._on_commit = on_commit
        self._on_batch = on_batch
        self._jobs: deque[_Job] = deque()  # appending and taking are atomic
        self._is_called = threading.Event()
        self._is_closing = False
        self._seen = SeenRows()
        self._thread = threading.Thread(target=self._run, name="writer")
        self._loop: asyncio.AbstractEventLoop | None = None
        self.commits = 0
        self._timed: deque[tuple[float, float]] = deque(maxlen=TIMED_COMMITS)  # end, seconds

    @property
    def commit_s(self) -> float:
        """Seconds that a commit takes now; 0 while too few were made to tell."""
        now_s = time.monotonic()
        recent = [seconds for end_s, seconds in tuple(self._timed) if now_s - end_s < TIMED_AGE_S]
        return statistics.median(recent) if len(recent) == TIMED_COMMITS else 0.0

    def start(self) -> None:
        """Begin; call in the event loop that will submit."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def submit(self, work: Callable[[FrontierBatch], T], then: Callable[[], None] = lambda: None) -> T:
        """Run a function in the next transaction; returns its result when that is on disk.

        Args:
            work: May run more than once, in the writer's thread, and must change nothing but the batch.
            then: Called in the event loop after the commit, just before `on_commit`, so that what was counted in
                memory until now and what the store counts from now on are never seen together.

        Raises:
            StoreFullError: There is no room; nothing of it was written.
            Exception: Whatever the function raised; nothing of it was written.
        """
        assert self._loop is not None
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.append(_Job(work, future, then))
        if not self._is_called.is_set():
            self._is_called.set()
        # Shielded: a caller that goes away must not leave the loop with a result that nobody may set (F101).
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Write what was submitted and end the thread."""
        if self._thread.is_alive():
            self._is_closing = True
            self._is_called.set()
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        last_s = 0.0
        while True:
            self._is_called.wait()
            if not self._is_closing:
                # Only the first result of a batch wakes this thread; the others are there when it looks.
                time.sleep(max(0.0, last_s + COMMIT_INTERVAL_S - time.monotonic()))
            self._is_called.clear()
            is_last = self._is_closing  # looked at after the call was taken, so that none is lost
            while jobs := self._take():
                self._commit(jobs)
            last_s = time.monotonic()
            if is_last:
                return

    def _take(self) -> list[_Job]:
        """The next results, at most JOBS_PER_COMMIT."""
        jobs: list[_Job] = []
        with contextlib.suppress(IndexError):
            while len(jobs) < JOBS_PER_COMMIT:
                jobs.append(self._jobs.popleft())
        return jobs

    def _commit(self, jobs: list[_Job]) -> None:
        try:
            results, effects = self._write(jobs)
        except Exception as error:  # each alone, so that the one at fault is found
            if len(jobs) == 1:
                self._fail(jobs[0], error)
                return
            _log.warning("commit.split", jobs=len(jobs), error=str(error), then="each is written alone")
            for job in jobs:
                self._commit([job])
            return
        self.commits += 1
        self._tell(self._deliver, jobs, results, effects)

    def _write(self, jobs: list[_Job]) -> tuple[list[Any], BatchEffects]:
        start_s = time.monotonic()
        with self._store.write() as txn:
            batch = FrontierBatch(txn, self._seen, self._clock.now_s())
            results = [job.work(batch) for job in jobs]
            self._on_batch(batch)
            effects = batch.flush()
        batch.committed()
        end_s = time.monotonic()
        self._timed.append((end_s, end_s - start_s))
        return results, effects

    def _fail(self, job: _Job, error: Exception) -> None:
        self._tell(self._deliver_error, job, error)

    def _tell(self, callback: Callable[..., None], *args: object) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has been closed: nobody waits any more
            self._loop.call_soon_threadsafe(callback, *args)

    def _deliver(self, jobs: list[_Job], results: list[Any], effects: BatchEffects) -> None:
        for job in jobs:
            job.then()
        self._on_commit(effects)
        for job, result in zip(jobs, results, strict=True):
            if not job.done.done():
                job.done.set_result(result)

    def _deliver_error(self, job: _Job, error: Exception) -> None:
        if not job.done.done():
            job.done.set_exception(error)
