"""The parse workers: who runs, what each has to do, and what becomes of a page whose worker does not survive it.

A worker has at most two jobs, one that it parses and one that waits in its socket, so that it never waits for this
process. A worker that dies, or does not answer in time, costs the page that it had begun; the page behind it is given
to another. Everything here runs in the event loop that called `start`.
"""

import asyncio
from collections import deque
from dataclasses import dataclass

import msgspec

from jird_daemon.control import ProbeResult
from jird_daemon.errors import ParserFailedError, ShuttingDownError
from jird_daemon.extract import wire
from jird_daemon.extract.document import ParsedDocument, ParseJob
from jird_daemon.extract.probes import FATAL, probe_names
from jird_daemon.extract.worker import Task, Worker
from jird_daemon.log import get_logger

MEMORY_BYTES_DEFAULT = 768 * 1024 * 1024
# Jobs that wait beside those given to workers; more callers than this wait before their job is taken.
QUEUED_JOBS_MAX = 64
# A worker is replaced after so many pages, or once it has had so much memory: allocators do not give everything back.
PAGES_PER_WORKER = 20_000
PEAK_MEMORY_KIB_MAX = 256 * 1024
START_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 5.0
# A worker that cannot start (no memory, no processes left) is tried again, ever more slowly.
_RESTART_DELAY_S = 0.1
_RESTART_DELAY_S_MAX = 5.0
# So many in a row without one that started, and pages that wait are given up: the crawl must not hang.
_FAILED_STARTS_MAX = 4

log = get_logger("extract")


@dataclass(slots=True)
class PoolCounters:
    """Events since the start; failures by their reason."""

    parsed: int = 0
    crashed: int = 0
    timed_out: int = 0
    out_of_memory: int = 0
    failed: int = 0  # exceptions and broken answers
    workers_started: int = 0
    workers_recycled: int = 0


class ParsePool:
    """A fixed number of confined worker processes."""

    def __init__(
        self,
        worker_count: int,
        page_timeout_ms: int,
        memory_bytes: int = MEMORY_BYTES_DEFAULT,
        pages_per_worker: int = PAGES_PER_WORKER,
    ) -> None:
        """Take the settings; nothing is started.

        Args:
            worker_count: Processes, at least 1.
            page_timeout_ms: Wall-clock time that one page may take; its processor time has the same limit.
            memory_bytes: Address space of each process.
            pages_per_worker: Pages after which a worker is replaced.
        """
        self.counters = PoolCounters()
        self._worker_count = worker_count
        self._page_timeout_ms = page_timeout_ms
        self._memory_bytes = memory_bytes
        self._pages_per_worker = pages_per_worker
        self._workers: set[Worker] = set()
        self._waiting: deque[Task] = deque()
        self._admission = asyncio.Semaphore(2 * worker_count + QUEUED_JOBS_MAX)
        self._is_closing = False
        self._failed_starts = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def pids(self) -> tuple[int, ...]:
        """Processes that are running, also those that are not ready yet."""
        return tuple(sorted(worker.pid for worker in self._workers))

    @property
    def queued(self) -> int:
        """Jobs that no worker has yet."""
        return len(self._waiting)

    async def start(self) -> None:
        """Start all workers and wait until each is confined.

        Raises:
            ParserFailedError: A worker did not start; all are stopped again.
        """
        try:
            await asyncio.gather(*(self._start_worker() for _ in range(self._worker_count)))
        except ParserFailedError:
            await self.close()
            raise

    async def parse(self, job: ParseJob) -> ParsedDocument:
        """Parse one page; waits while all workers are busy and the queue is full.

        Raises:
            ParserFailedError: The page was lost; its reason is CRASHED, TIMEOUT, MEMORY, PROTOCOL, FAULT or NO_WORKER.
            ShuttingDownError: The pool is being closed.
        """
        answer = await self._submit(Task(wire.JOB, wire.encode(job), self._loop_future()))
        assert isinstance(answer, ParsedDocument)
        return answer

    async def probe(self) -> tuple[ProbeResult, ...]:
        """Have a worker try everything that is forbidden to it; costs two workers, which are replaced."""
        return tuple([await self._probe_one(name) for name in probe_names()])

    async def close(self) -> None:
        """Let pages in work be finished for a while, then end and join every worker; calling it again is harmless."""
        self._is_closing = True
        self._fail_waiting(ShuttingDownError("the parse workers are being stopped"))
        workers = list(self._workers)
        for worker in workers:
            worker.finish()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(
            *self._tasks, *(worker.join(CLOSE_TIMEOUT_S) for worker in workers), return_exceptions=True
        )

    @staticmethod
    def _loop_future() -> "asyncio.Future[ParsedDocument | ProbeResult]":
        return asyncio.get_running_loop().create_future()

    async def _submit(self, task: Task) -> ParsedDocument | ProbeResult:
        if self._is_closing:
            raise ShuttingDownError("the parse workers are being stopped")
        async with self._admission:
            self._waiting.append(task)
            self._assign()
            return await task.future

    async def _probe_one(self, name: str) -> ProbeResult:
        try:
            answer = await self._submit(Task(wire.PROBE, name.encode(), self._loop_future()))
        except ParserFailedError as error:
            # Only where death is how the kernel says no.
            expected = {"memory": "MEMORY", "cpu_time": "TIMEOUT"}.get(name)
            return ProbeResult(name, name in FATAL and error.reason == expected, error.message)
        assert isinstance(answer, ProbeResult)
        return answer

    def _assign(self) -> None:
        """Give waiting jobs to workers that have room, the idlest first."""
        while self._waiting:
            worker = min((w for w in self._workers if w.has_room), key=lambda w: w.load, default=None)
            if worker is None:
                return
            task = self._waiting.popleft()
            if not task.future.done():
                worker.give(task)

    async def _start_worker(self) -> None:
        worker = Worker(self._page_timeout_ms, self._memory_bytes, self._on_answer, self._on_lost)
        self._workers.add(worker)
        try:
            await asyncio.wait_for(worker.start(), START_TIMEOUT_S)
        except BaseException as error:
            self._workers.discard(worker)
            worker.kill()
            await worker.join(CLOSE_TIMEOUT_S)
            if isinstance(error, OSError | TimeoutError | ParserFailedError):
                raise ParserFailedError(f"a parse worker did not start: {error or 'no answer'}", "NO_WORKER") from error
            raise
        self._failed_starts = 0
        self.counters.workers_started += 1
        self._assign()

    async def _replace_worker(self) -> None:
        while not self._is_closing:
            try:
                await self._start_worker()
                return
            except ParserFailedError as error:
                self._failed_starts += 1
                log.warning("parse.worker_not_started", error=error.message, attempt=self._failed_starts)
                if self._failed_starts >= _FAILED_STARTS_MAX and not any(w.is_ready for w in self._workers):
                    self._fail_waiting(error)
                await asyncio.sleep(min(_RESTART_DELAY_S * 2**self._failed_starts, _RESTART_DELAY_S_MAX))

    def _on_answer(self, worker: Worker, task: Task, kind: bytes, payload: memoryview) -> None:
        """Take a worker's answer to the task it had begun first."""
        try:
            answer, peak_memory_kib = _decode(task, kind, payload)
        except msgspec.MsgspecError as error:
            self.counters.failed += 1
            _fail(task, ParserFailedError(f"a parse worker gave a broken answer: {error}", "PROTOCOL"))
            worker.kill()
            return
        if isinstance(answer, ParserFailedError):
            self.counters.failed += 1
            _fail(task, answer)
        elif not task.future.done():
            task.future.set_result(answer)
        if kind == wire.DOCUMENT:
            self.counters.parsed += 1
            worker.pages += 1
        is_spent = worker.pages >= self._pages_per_worker or peak_memory_kib > PEAK_MEMORY_KIB_MAX
        if is_spent and worker.is_ready:
            self.counters.workers_recycled += 1
            worker.finish()
        self._assign()

    def _on_lost(self, worker: Worker, reason: str, message: str, tasks: list[Task]) -> None:
        """Go on after a worker ended: its first task is lost, the others are given to another."""
        self._workers.discard(worker)
        if tasks and reason:
            self._count(reason)
            _fail(tasks.pop(0), ParserFailedError(message, reason))
        self._waiting.extendleft(reversed(tasks))
        if not self._is_closing and worker.was_ready:
            task = asyncio.get_running_loop().create_task(self._replace_worker())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            self._assign()
        elif self._is_closing:
            self._fail_waiting(ShuttingDownError("the parse workers are being stopped"))

    def _count(self, reason: str) -> None:
        counters = self.counters
        if reason == "TIMEOUT":
            counters.timed_out += 1
        elif reason == "MEMORY":
            counters.out_of_memory += 1
        elif reason == "PROTOCOL":
            counters.failed += 1
        else:
            counters.crashed += 1

    def _fail_waiting(self, error: ParserFailedError | ShuttingDownError) -> None:
        while self._waiting:
            _fail(self._waiting.popleft(), error)


def _fail(task: Task, error: ParserFailedError | ShuttingDownError) -> None:
    if not task.future.done():
        task.future.set_exception(error)


def _decode(
    task: Task, kind: bytes, payload: memoryview
) -> tuple[ParsedDocument | ProbeResult | ParserFailedError, int]:
    """Read an answer and the worker's peak of memory; only the kinds that the task can have."""
    if task.kind == wire.PROBE and kind == wire.PROBE:
        return wire.decode_probe(payload), 0
    if task.kind == wire.JOB and kind == wire.DOCUMENT:
        parsed = wire.decode_parsed(payload)
        return parsed.document, parsed.peak_memory_kib
    if task.kind == wire.JOB and kind == wire.FAILURE:
        return ParserFailedError(wire.decode_failure(payload).message[:1_000], "FAULT"), 0
    raise msgspec.DecodeError(f"unexpected kind {kind!r}")
