"""One parse worker as the pool sees it: a process, its socket, the tasks it has, and the deadline of the first."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from jird_daemon.child import child_environment
from jird_daemon.control import ProbeResult
from jird_daemon.errors import ParserFailedError
from jird_daemon.extract import wire
from jird_daemon.extract.document import ParsedDocument

# One that is parsed, one that waits behind it.
TASKS_PER_WORKER = 2
_EXIT_GRACE_S = 2.0
# Free memory that a worker keeps for its next page.
_KEPT_MEMORY_BYTES = 16 * 1024 * 1024


@dataclass(slots=True)
class Task:
    """A job or probe on its way; whoever takes the answer sets the future."""

    kind: bytes
    payload: bytes
    future: "asyncio.Future[ParsedDocument | ProbeResult]"


class Worker(asyncio.Protocol):
    """A worker process. All methods are called in the event loop."""

    def __init__(
        self,
        page_timeout_ms: int,
        memory_bytes: int,
        on_answer: "Callable[[Worker, Task, bytes, memoryview], None]",
        on_lost: "Callable[[Worker, str, str, list[Task]], None]",
    ) -> None:
        """Take limits and the pool's callbacks.

        Args:
            page_timeout_ms: Wall-clock and processor time of one page.
            memory_bytes: Limit of the address space.
            on_answer: Called with the task that was answered, the kind and the payload, valid during the call.
            on_lost: Called once when the worker has ended, with a reason code ("" after an ordered end), a message,
                and the tasks that it had, the one in work first.
        """
        self.pages = 0
        self.was_ready = False
        self._page_timeout_ms = page_timeout_ms
        self._memory_bytes = memory_bytes
        self._on_answer = on_answer
        self._on_lost = on_lost
        self._tasks: deque[Task] = deque()
        self._buffer = bytearray()
        self._process: subprocess.Popen[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._ready: asyncio.Future[None] | None = None
        self._ended: asyncio.Future[None] | None = None
        self._is_finishing = False
        self._is_overdue = False
        self._fault = ""

    @property
    def pid(self) -> int:
        """Process id; 0 before the process was made."""
        return self._process.pid if self._process is not None else 0

    @property
    def is_ready(self) -> bool:
        """Whether it can be given tasks."""
        if self._transport is None or self._transport.is_closing():  # it has ended; how, is being found out
            return False
        return self.was_ready and not self._is_finishing and not self._fault and not self._is_overdue

    @property
    def load(self) -> int:
        """Tasks that it has."""
        return len(self._tasks)

    @property
    def has_room(self) -> bool:
        """Whether another task may be given."""
        return self.is_ready and len(self._tasks) < TASKS_PER_WORKER

    async def start(self) -> None:
        """Make the process and wait until it says that it is confined.

        Raises:
            OSError: No process could be made.
            ParserFailedError: It ended before it was ready.
        """
        loop = asyncio.get_running_loop()
        self._ready, self._ended = loop.create_future(), loop.create_future()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs:
                self._process = _spawn(theirs.fileno(), self._memory_bytes, self._page_timeout_ms)
            ours.setblocking(False)
            await loop.create_unix_connection(lambda: self, sock=ours)
        except BaseException:
            ours.close()
            raise
        await self._ready

    def give(self, task: Task) -> None:
        """Send a task; `has_room` must hold."""
        assert self._transport is not None
        self._tasks.append(task)
        self._transport.writelines([wire.HEADER.pack(len(task.payload), task.kind), task.payload])
        if len(self._tasks) == 1:
            self._set_deadline()

    def finish(self) -> None:
        """End it in good order once it has answered what it has."""
        self._is_finishing = True
        if not self._tasks and self._transport is not None:
            self._transport.close()

    def kill(self) -> None:
        """End it now."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def join(self, timeout_s: float) -> None:
        """Wait until the process has ended and was reaped; after the time it is killed."""
        if self._ended is None or self._transport is None:
            return
        try:
            await asyncio.wait_for(asyncio.shield(self._ended), timeout_s)
        except TimeoutError:
            self.kill()
            await self._ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport (asyncio)."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclass of it

    def data_received(self, data: bytes) -> None:
        """Collect bytes and take the frames that are complete (asyncio)."""
        buffer = self._buffer
        buffer += data
        position = 0
        while len(buffer) - position >= wire.HEADER.size:
            size, kind = wire.HEADER.unpack_from(buffer, position)
            if size > wire.FRAME_BYTES_MAX:
                self._break(f"a frame of {size} bytes")
                return
            end = position + wire.HEADER.size + size
            if len(buffer) < end:
                break
            with memoryview(buffer)[position + wire.HEADER.size : end] as payload:
                self._take_frame(kind, payload)
            position = end
        if position:
            del buffer[:position]

    def connection_lost(self, exc: Exception | None) -> None:
        """Find out how the process ended (asyncio); waiting for it must not hold up the loop."""
        self._cancel_deadline()
        loop = asyncio.get_running_loop()
        assert self._process is not None
        reaped = loop.run_in_executor(None, _reap, self._process)
        reaped.add_done_callback(lambda done: self._lost(done.result()))

    def _take_frame(self, kind: bytes, payload: memoryview) -> None:
        if kind == wire.READY and not self.was_ready:
            self.was_ready = True
            if self._ready is not None and not self._ready.done():
                self._ready.set_result(None)
            return
        if not self._tasks:
            self._break(f"an answer of kind {kind!r} to no question")
            return
        task = self._tasks.popleft()
        self._cancel_deadline()
        if self._tasks:
            self._set_deadline()
        self._on_answer(self, task, kind, payload)
        if self._is_finishing and not self._tasks and self._transport is not None:
            self._transport.close()

    def _break(self, what: str) -> None:
        self._fault = what
        self.kill()

    def _set_deadline(self) -> None:
        self._deadline = asyncio.get_running_loop().call_later(self._page_timeout_ms / 1_000, self._overdue)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _overdue(self) -> None:
        self._is_overdue = True
        self.kill()

    def _lost(self, code: int) -> None:
        reason, message = self._cause(code)
        tasks = list(self._tasks)
        self._tasks.clear()
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(ParserFailedError(message or f"it ended with code {code}", "NO_WORKER"))
        self._on_lost(self, reason, message, tasks)
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def _cause(self, code: int) -> tuple[str, str]:
        """Say why the process ended, as reason code and message; empty after an ordered end."""
        if self._fault:
            return "PROTOCOL", f"a parse worker sent {self._fault}"
        if self._is_overdue:
            return "TIMEOUT", f"parsing took more than {self._page_timeout_ms} ms"
        if code == -signal.SIGPROF:
            return "TIMEOUT", "parsing took more processor time than a page may (SIGPROF)"
        if code == wire.EXIT_MEMORY:
            return "MEMORY", f"parsing needed more than {self._memory_bytes} bytes of memory"
        if code == wire.EXIT_UNCONFINED:
            return "NO_WORKER", "a parse worker could not be confined"
        if code == 0 and not self._tasks:
            return "", ""
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return "CRASHED", f"the parse worker ended by {how}"


def _spawn(channel_fd: int, memory_bytes: int, page_cpu_ms: int) -> "subprocess.Popen[bytes]":
    environment = child_environment(os.environ)
    # One thread needs one arena, and each arena takes 64 MiB of the address space that is limited.
    environment["MALLOC_ARENA_MAX"] = "1"
    # A tree is built and freed for each page: memory kept for the next one saves a worker twenty page faults a page.
    environment["MALLOC_TRIM_THRESHOLD_"] = str(_KEPT_MEMORY_BYTES)
    # With the one set, the C library no longer finds the other by itself.
    environment["MALLOC_MMAP_THRESHOLD_"] = str(_KEPT_MEMORY_BYTES // 4)
    command = [
        sys.executable, "-P", "-m", "jird_daemon.parse", f"--channel-fd={channel_fd}", f"--parent-pid={os.getpid()}",
        f"--memory-bytes={memory_bytes}", f"--page-cpu-ms={page_cpu_ms}",
    ]  # fmt: skip
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment, pass_fds=(channel_fd,),
        process_group=0,
    )  # fmt: skip


def _reap(process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(_EXIT_GRACE_S)
    except subprocess.TimeoutExpired:
        # It closed its socket and stays: nothing that a worker does by itself.
        process.kill()
        return process.wait()
