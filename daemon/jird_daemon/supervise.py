"""The ingest process: started, listened to, replaced when it ends or hangs, and stopped.

Search never depends on it: while it is gone, the view that serve holds answers, and commands are refused with
NotReadyError. The state lock is held by serve for its whole life and inherited, so that no other daemon can slip in
between two ingest processes.
"""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence

from jird_daemon.child import IngestArguments, child_environment
from jird_daemon.clock import Clock
from jird_daemon.config import settings_file
from jird_daemon.control import Answer, Heartbeat, Progress, Request, Shutdown, ViewChanged
from jird_daemon.control_client import ControlClient
from jird_daemon.control_frames import ChannelError
from jird_daemon.errors import JirdError, NotReadyError
from jird_daemon.log import get_logger
from jird_settings import Settings

START_TIMEOUT_S = 60.0  # to the first heartbeat: an interpreter and its imports, on a machine that is busy otherwise
STABLE_S = 60.0  # an ingest process that lived so long starts the back-off anew
CHECK_INTERVAL_S = 0.5
READY_WAIT_S = 15.0  # how long a command waits for a process that is being started, before it is refused
EXIT_CONFIGURATION = 2
EXIT_REPLACE = 42

_log = get_logger("supervise")


class Supervisor:
    """Keeps one ingest process alive. Lives in serve's event loop, in the main thread (PDEATHSIG follows the thread).

    Args:
        command: Interpreter and module of the ingest process, without arguments.
        lock_fd: The state lock.
        settings: Those in effect, for it and for its deadlines; asked anew each time, so that a reload counts.
        clock: For back-off and hang detection.
        environ: Environment to pass on, less what is private.
        on_event: Called in the loop with every ViewChanged and Heartbeat.

    Attributes:
        pid: Of the running process; 0 when none runs.
        restart_count: How often it was started again.
        start_s: When it was last started, on the clock's monotonic reading.
        heartbeat: The last one; an empty one when none came yet.
        must_be_replaced: It asked for another release of jird (exit code 42).
    """

    def __init__(
        self,
        command: Sequence[str],
        lock_fd: int,
        settings: Callable[[], Settings],
        clock: Clock,
        environ: Mapping[str, str],
        on_event: Callable[[ViewChanged | Heartbeat], None],
    ) -> None:
        self._command = tuple(command)
        self._lock_fd = lock_fd
        self._settings = settings
        self._clock = clock
        self._environ = child_environment(environ)
        self._on_event = on_event
        self._client: ControlClient | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._ready = asyncio.Event()  # set by the first view of the running process
        self._stop_task: asyncio.Task[tuple[str, ...]] | None = None
        self._beat_s = 0.0
        self._has_beaten = False
        self._failures = 0
        self.restart_count = 0
        self.start_s = 0.0
        self.heartbeat = Heartbeat()
        self.must_be_replaced = False

    @property
    def pid(self) -> int:
        """The process id; 0 when none runs."""
        return self._process.pid if self._process is not None and self._process.returncode is None else 0

    @property
    def is_up(self) -> bool:
        """Whether the process runs and has shown a sign of life."""
        return self.pid != 0 and self._has_beaten

    async def start(self) -> None:
        """Start the first ingest process. `run` must follow.

        Raises:
            OSError: It cannot be started.
        """
        await self._spawn(is_restart=False)

    async def run(self) -> None:
        """Watch, and start again, until `stop` is called or the process asks to be replaced."""
        while True:
            await self._watch()
            if self._stopping.is_set() or self.must_be_replaced:
                return
            await self._back_off()
            if self._stopping.is_set():
                return
            self.restart_count += 1
            try:
                await self._spawn(is_restart=True)
            except OSError as error:
                _log.error("ingest.start_failed", message=error, action="trying again")

    async def call(
        self, request: Request, *, timeout_s: float | None, progress: Callable[[Progress], None] | None = None
    ) -> Answer:
        """Give a command to ingest and wait for its answer; see ControlClient.call.

        A process that is being started gets READY_WAIT_S to become ready first.

        Raises:
            NotReadyError: No ingest process is ready.
        """
        if not self._ready.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), READY_WAIT_S)
        if self._client is None or not self._ready.is_set():
            raise NotReadyError("the ingest process is being started; try again in a moment", "INGEST_STARTING")
        return await self._client.call(request, timeout_s=timeout_s, progress=progress)

    async def stop(self) -> tuple[str, ...]:
        """Have ingest stop in order, and wait for its end; kill it when it takes too long. Harmless when repeated.

        Returns:
            What failed, in words; empty after a clean stop.
        """
        if self._stop_task is None:
            self._stop_task = asyncio.create_task(self._stop())
        return await asyncio.shield(self._stop_task)

    async def _stop(self) -> tuple[str, ...]:
        self._stopping.set()
        process, client = self._process, self._client
        if process is None or process.returncode is not None or client is None:
            return () if self.must_be_replaced else ("the ingest process was not running",)
        faults: tuple[str, ...] = ()
        try:
            async with asyncio.timeout(self._settings().service.stop_timeout_ms / 1000):
                faults = (await client.call(Shutdown(), timeout_s=None)).faults
                code = await process.wait()
        except TimeoutError:
            _log.error("ingest.stop_timeout", pid=process.pid, action="killed")
            self._kill()
            return (*faults, f"the ingest process did not stop within {self._settings().service.stop_timeout_ms} ms")
        except JirdError as error:
            self._kill()
            await process.wait()
            return (error.message,)
        return faults if code == 0 else (*faults, f"the ingest process ended with exit code {code}")

    async def close(self) -> None:
        """Kill what is left, and give the channel back."""
        self._stopping.set()
        self._kill()
        if self._process is not None:
            await self._process.wait()
        await self._close_channel()

    async def _spawn(self, *, is_restart: bool) -> None:
        self._process = None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        settings_fd = settings_file(self._settings())
        with theirs:
            arguments = IngestArguments(theirs.fileno(), self._lock_fd, os.getpid(), settings_fd, is_restart)
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    *arguments.to_argv(),
                    stdin=asyncio.subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(), self._lock_fd, settings_fd),
                    env=self._environ,
                    process_group=0,
                )
            except OSError:
                ours.close()
                raise
            finally:
                os.close(settings_fd)
        self.start_s = self._beat_s = self._clock.monotonic_s()
        self._has_beaten = False
        self.heartbeat = Heartbeat()
        self._client = await ControlClient.connect(ours, self._take)
        self._reading = asyncio.create_task(self._read(self._client, self._process))
        _log.info("ingest.started", pid=self._process.pid, restart=is_restart)

    def _take(self, event: ViewChanged | Heartbeat) -> None:
        self._beat_s = self._clock.monotonic_s()
        if isinstance(event, Heartbeat):
            self._has_beaten = True
            self.heartbeat = event
        else:
            self._ready.set()
        self._on_event(event)

    async def _read(self, client: ControlClient, process: asyncio.subprocess.Process) -> None:
        try:
            await client.run()
        except ChannelError as error:
            _log.error("ingest.channel_broken", pid=process.pid, message=error, action="killed")
            _signal(process, signal.SIGKILL)

    async def _watch(self) -> None:
        """Wait for the process to end, killing it when it is silent for too long."""
        process = self._process
        if process is None:
            return
        ended = asyncio.create_task(process.wait())
        while not ended.done():
            checked_s = self._clock.monotonic_s()
            await asyncio.wait({ended}, timeout=CHECK_INTERVAL_S)
            if self._clock.monotonic_s() - checked_s > 2 * CHECK_INTERVAL_S:
                self._beat_s = self._clock.monotonic_s()  # it was we who stood still; its signs of life are unread
            if not ended.done() and not self._stopping.is_set() and self._is_hung():
                silence_s = round(self._clock.monotonic_s() - self._beat_s, 1)
                _log.error("ingest.hung", pid=process.pid, silence_s=silence_s, action="killed")
                self._kill()
        await self._close_channel()
        code = ended.result()
        if self._stopping.is_set():
            _log.info("ingest.ended", pid=process.pid, exit_status=code)
        elif code == EXIT_REPLACE:
            _log.warning("ingest.ended", pid=process.pid, exit_status=code, action="ending for another release")
            self.must_be_replaced = True
        else:
            _log.error("ingest.ended", pid=process.pid, exit_status=code, action="starting it again")

    def _is_hung(self) -> bool:
        limit_s = self._settings().service.hang_timeout_ms / 1000 if self._has_beaten else START_TIMEOUT_S
        return self._clock.monotonic_s() - self._beat_s > limit_s

    async def _back_off(self) -> None:
        lived_s = self._clock.monotonic_s() - self.start_s
        self._failures = 1 if lived_s >= STABLE_S else self._failures + 1
        settings = self._settings().service
        delay_ms = min(settings.restart_max_ms, settings.restart_base_ms * 2 ** min(self._failures - 1, 20))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), delay_ms / 1000)

    async def _close_channel(self) -> None:
        client, self._client = self._client, None
        reading, self._reading = self._reading, None
        self._has_beaten = False
        self._ready.clear()
        self.heartbeat = Heartbeat()
        if client is not None:
            await client.close()
        if reading is not None:
            await reading

    def _kill(self) -> None:
        if self._process is not None:
            _signal(self._process, signal.SIGKILL)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
