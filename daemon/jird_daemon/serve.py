"""The main process: the sockets, the searches, and the ingest process it looks after.

Started from the locks upwards (sockets claimed, state lock, store, searcher, ingest, gRPC), stopped in the other
direction. Who talks to whom: clients to the gRPC servers (rpc/); those to the searcher and the store for all that can
be read, and to the supervisor for commands; ingest tells of new views, which the searcher takes up.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

from jird_daemon import log
from jird_daemon.clock import Clock, SystemClock
from jird_daemon.config import Configuration, encode_settings
from jird_daemon.control import AcknowledgeView, Heartbeat, Reload, ReportDamage, View, ViewChanged
from jird_daemon.errors import JirdError, ShuttingDownError, StateLockedError, UnusableFolderError
from jird_daemon.index.searcher import Searcher
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.server import RpcServers
from jird_daemon.rpc.sockets import SocketFolder
from jird_daemon.rpc.work_pool import WorkPool
from jird_daemon.sdnotify import Notifier
from jird_daemon.stop_stages import StopStages
from jird_daemon.store.env import INDEX_FOLDER, Store
from jird_daemon.store.lock import StateLock
from jird_daemon.store.pages import DOCUMENT_COUNT, INDEX_GENERATION
from jird_daemon.supervise import EXIT_REPLACE, Supervisor
from jird_settings import UNCONFIGURED_USER_AGENT, SettingsError

EXIT_DONE = 0
EXIT_FAILED = 1

LOCK_WAIT_S = 3.0  # an ingest process whose parent was killed is gone within moments
LOCK_RETRY_S = 0.1
READ_THREADS = 4  # LMDB reads from memory; a cold page costs a disk's latency
READS_MAX = 256
TEND_INTERVAL_S = 5.0  # how often the status line is renewed
STUCK_S = 120.0  # a search that takes longer holds its thread for good: let the watchdog act
ACKNOWLEDGE_TIMEOUT_S = 30.0
RELOAD_TIMEOUT_S = 30.0
REPORT_TIMEOUT_S = 30.0
CHECK_PAUSE_S = 0.2  # between some 64 MiB of the background check: a tenth of one core and of a disk
FIRST_VIEW_WAIT_S = 10.0  # ingest's start and the replay of a checkpoint's distance
CHECK_IDLE_S = 30.0  # when everything in the view has been checked

INGEST_COMMAND = (sys.executable, "-m", "jird_daemon.ingest")

_log = log.get_logger("serve")


class Serve:
    """The daemon's main process; `run` is its whole life. Make it in the event loop of the main thread.

    Args:
        configuration: The settings, already checked.
        environ: The environment: systemd's addresses, and what children get.
        clock: For everything that waits or reports times.
        ingest_command: Interpreter and module of the ingest process; None: the real one.
    """

    def __init__(
        self,
        configuration: Configuration,
        environ: Mapping[str, str],
        clock: Clock | None = None,
        ingest_command: tuple[str, ...] | None = None,
    ) -> None:
        self._configuration = configuration
        self._settings = configuration.settings
        self._environ = environ
        self._clock = clock or SystemClock()
        self._ingest_command = ingest_command or INGEST_COMMAND
        self._notifier = Notifier(environ)
        self._stop_wanted = asyncio.Event()
        self._refusing = asyncio.Event()
        self._reloading = asyncio.Lock()
        self._views: asyncio.Queue[View] = asyncio.Queue()
        self._view_taken = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._stages = StopStages(self._notifier)
        self._supervisor: Supervisor | None = None

    async def run(self) -> int:
        """Start, serve until told to stop, and stop in order; returns the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._want_stop, number.name)
        loop.add_signal_handler(signal.SIGHUP, self._want_reload)
        try:
            await self._start()
            await self._stop_wanted.wait()
        except (JirdError, OSError) as error:
            self._stages.fail("start", error)
        except Exception as error:
            self._stages.fail("start", error, exc_info=True)
        return await self._stop()

    async def _start(self) -> None:
        settings = self._settings()
        _log.info("start", state_dir=settings.storage.state_dir, run_dir=settings.storage.run_dir)
        if settings.crawl.user_agent == UNCONFIGURED_USER_AGENT:  # U131
            _log.warning("crawl.user_agent_unset", action=f"crawling as {UNCONFIGURED_USER_AGENT}")
        with _usable("storage.run_dir", settings.storage.run_dir):
            sockets = SocketFolder.claim(settings.storage.run_dir)
        self._stages.add("sockets", _as_async(sockets.close))
        lock = await self._acquire_lock()
        self._stages.add("lock", _as_async(lock.close))
        store = await asyncio.to_thread(self._open_store)
        self._stages.add("store", _in_thread(store.close))
        searcher = self._make_searcher(store)
        self._stages.add("index", lambda: self._close_index(searcher))
        supervisor = Supervisor(
            self._ingest_command,
            lock.fileno(),
            self._settings,
            self._clock,
            self._environ,
            self._take_event,
        )
        self._supervisor = supervisor
        await supervisor.start()
        self._stages.add("ingest", self._stop_ingest, settings.service.stop_timeout_ms / 1000)
        self._begin("supervise", self._supervise(supervisor))
        await asyncio.to_thread(_open_view, store, searcher)
        backend = self._make_backend(store, searcher, supervisor)
        servers = RpcServers(backend, sockets)
        self._stages.add("drain", lambda: self._drain(servers), settings.service.drain_ms / 1000)
        self._stages.add("listeners", lambda: self._refuse_calls(servers))
        await servers.start()
        await servers.set_ready(True)
        self._begin("views", self._follow_views(searcher, supervisor))
        self._begin("tend", self._tend(backend))
        self._begin("check", self._check_segments(searcher))
        await self._wait_for_view(store, searcher)
        self._notifier.ready(await self._status(backend))
        _log.info("ready", generation=searcher.view.generation if searcher.view else None)

    async def _wait_for_view(self, store: Store, searcher: Searcher) -> None:
        """Wait for ingest's first view where what was published last does not hold all that is stored.

        After a kill the changes since the last checkpoint are indexed again in a moment, so that whoever waits for
        READY=1 finds what was found before. A rebuild takes longer: jird is ready without it.
        """
        with store.read() as txn:
            wanted = txn.number(INDEX_GENERATION)
        stop = asyncio.create_task(self._stop_wanted.wait())
        deadline_s = self._clock.monotonic_s() + FIRST_VIEW_WAIT_S
        while not (stop.done() or _covers(searcher.view, wanted)):
            left_s = deadline_s - self._clock.monotonic_s()
            if left_s <= 0:
                break
            self._view_taken.clear()
            taken = asyncio.create_task(self._view_taken.wait())
            await asyncio.wait((stop, taken), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            taken.cancel()
        stop.cancel()

    async def _acquire_lock(self) -> StateLock:
        deadline_s = self._clock.monotonic_s() + LOCK_WAIT_S
        while True:
            try:
                with _usable("storage.state_dir", state_dir := self._settings().storage.state_dir):
                    return StateLock.acquire(state_dir)
            except StateLockedError:
                if self._clock.monotonic_s() >= deadline_s:
                    raise
                await asyncio.sleep(LOCK_RETRY_S)

    def _open_store(self) -> Store:
        """Open for reading; before that once for writing, which makes or checks the store before ingest needs it."""
        storage = self._settings().storage
        Store.open(storage.state_dir, map_bytes=storage.max_metadata_bytes).close()
        return Store.open(storage.state_dir, readonly=True, map_bytes=storage.max_metadata_bytes)

    def _make_searcher(self, store: Store) -> Searcher:
        settings = self._settings()
        loop = asyncio.get_running_loop()
        return Searcher(
            store,
            settings.storage.state_dir / INDEX_FOLDER,
            k1=settings.index.k1,
            b=settings.index.b,
            images_per_page=settings.content.images_per_page,
            on_damage=lambda name, reason: _in_loop(loop, self._take_damage, name, reason),
        )

    def _make_backend(self, store: Store, searcher: Searcher, supervisor: Supervisor) -> Backend:
        search = self._settings().search
        searches = WorkPool("search", search.threads, search.max_concurrent, self._clock)
        reads = WorkPool("read", READ_THREADS, READS_MAX, self._clock)
        self._stages.add("searches", _in_thread(searches.close))
        self._stages.add("reads", _in_thread(reads.close))
        return Backend(
            store=store,
            searcher=searcher,
            ingest=supervisor,
            settings=self._settings,
            clock=self._clock,
            start_time_s=self._clock.now_s(),
            stopping=self._refusing,
            searches=searches,
            reads=reads,
        )

    def _take_event(self, event: ViewChanged | Heartbeat) -> None:
        if isinstance(event, ViewChanged):
            self._views.put_nowait(event.view)

    def _take_damage(self, name: str, reason: str) -> None:
        """A segment is damaged and left out of searches: have ingest derive its documents again (J14, F91)."""
        _log.error("segment.damaged", segment=name, reason=reason, action="left out; its documents are indexed again")
        if not self._stop_wanted.is_set():
            self._begin("damage", self._report_damage(name, reason))

    async def _report_damage(self, name: str, reason: str) -> None:
        assert self._supervisor is not None
        try:
            await self._supervisor.call(ReportDamage(name, reason), timeout_s=REPORT_TIMEOUT_S)
        except (JirdError, TimeoutError) as error:
            # The next ingest process checks what it opens, and meets the damage itself.
            _log.warning("segment.report_failed", segment=name, message=error, action="ingest checks when it starts")

    async def _follow_views(self, searcher: Searcher, supervisor: Supervisor) -> None:
        """Let searches see the newest view, and tell ingest that the older ones' files may go."""
        while True:
            view = await self._views.get()
            while not self._views.empty():
                view = self._views.get_nowait()
            try:
                await asyncio.to_thread(searcher.set_view, view)
            except (JirdError, OSError) as error:
                _log.warning("view.failed", generation=view.generation, message=error, action="the older one stays")
                continue
            self._view_taken.set()
            # An ingest process that is stopping or gone needs no answer: its successor starts from the manifest.
            with contextlib.suppress(JirdError, TimeoutError):
                await supervisor.call(AcknowledgeView(view.sequence), timeout_s=ACKNOWLEDGE_TIMEOUT_S)

    async def _check_segments(self, searcher: Searcher) -> None:
        """Hash what no query has used yet, a little at a time."""
        while True:
            try:
                has_more = await asyncio.to_thread(searcher.check_chunks)
            except Exception:  # the check is a help to searches, which check for themselves
                _log.error("check.failed", exc_info=True, action="tried again later")
                has_more = False
            await asyncio.sleep(CHECK_PAUSE_S if has_more else CHECK_IDLE_S)

    async def _supervise(self, supervisor: Supervisor) -> None:
        await supervisor.run()
        if supervisor.must_be_replaced:
            self._want_stop("exit code 42 of ingest")

    async def _tend(self, backend: Backend) -> None:
        """Show signs of life to systemd while searches and reads make progress, and a line for people."""
        interval_s = min(self._notifier.watchdog_interval_s or TEND_INTERVAL_S, TEND_INTERVAL_S)
        while True:
            try:
                line = await self._status(backend)
                backend.store.clear_dead_readers()
            except ShuttingDownError:
                line = "stopping"
            except Exception as error:  # a store that cannot be read is no reason to end what can still answer
                _log.error("tend.failed", message=f"{type(error).__name__}: {error}")
                line = "not well: the store cannot be read; see the log"
            if max(backend.searches.oldest_s, backend.reads.oldest_s) < STUCK_S:
                self._notifier.watchdog()
            if not self._stop_wanted.is_set():
                self._notifier.status(line)
            log.flush()
            await asyncio.sleep(interval_s)

    async def _status(self, backend: Backend) -> str:
        documents = await backend.read(lambda txn: txn.number(DOCUMENT_COUNT))
        ingest = backend.ingest
        crawl = "ingest is being started"
        if ingest.is_up:
            runs = len(ingest.heartbeat.active_run_ids)
            crawl = (
                f"{runs} crawls running, {ingest.heartbeat.in_flight} requests in flight" if runs else "no crawl runs"
            )
        restarts = f"; ingest restarted {ingest.restart_count} times" if ingest.restart_count else ""
        return f"{documents:,} documents; {crawl}{restarts}"

    def _want_reload(self) -> None:
        if not self._stop_wanted.is_set():
            self._begin("reload", self._reload())

    async def _reload(self) -> None:
        """Read the configuration again, here and in ingest; a bad one is refused and nothing changes."""
        async with self._reloading:
            self._notifier.reloading()
            try:
                late = self._configuration.reload()
            except SettingsError as error:
                _log.error("reload.refused", message=error, action="the settings in effect stay")
                self._notifier.ready("reload refused; the settings in effect stay")
                return
            settings = self._settings()
            log.configure(settings.log.level, settings.log.max_lines_per_s, self._environ)
            if late:
                _log.warning("reload.partial", tables=",".join(late), action="these change at the next start")
            if self._supervisor is not None:
                try:
                    await self._supervisor.call(Reload(encode_settings(settings)), timeout_s=RELOAD_TIMEOUT_S)
                except (JirdError, TimeoutError) as error:
                    _log.warning("reload.ingest_failed", message=error, action="ingest reads them when it starts")
            _log.info("reload.done")
            self._notifier.ready("reloaded")

    def _want_stop(self, reason: str) -> None:
        """Begin the ordered stop; harmless when it has begun (J46)."""
        if not self._stop_wanted.is_set():
            _log.info("stop", reason=reason)
            self._stop_wanted.set()

    async def _stop(self) -> int:
        """Undo the start in order, and end what is left."""
        await self._stages.run()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._supervisor is not None:
            await self._supervisor.close()
        _log.info("stopped", failed=",".join(self._stages.failures) or None)
        self._notifier.close()
        log.flush()
        if self._stages.failures:
            return EXIT_FAILED
        return EXIT_REPLACE if self._supervisor is not None and self._supervisor.must_be_replaced else EXIT_DONE

    async def _refuse_calls(self, servers: RpcServers) -> None:
        self._refusing.set()
        await servers.set_ready(False)

    async def _drain(self, servers: RpcServers) -> None:
        await servers.stop(self._settings().service.drain_ms / 1000)

    async def _close_index(self, searcher: Searcher) -> None:
        following = [task for task in self._tasks if task.get_name() in {"views", "check"}]
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        await asyncio.to_thread(searcher.close)

    async def _stop_ingest(self) -> None:
        assert self._supervisor is not None
        faults = await self._supervisor.stop()
        if faults:
            raise JirdError("; ".join(faults), "STOP_FAILED")

    def _begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a loop of the daemon; if it ever fails, the daemon stops and says so."""
        task = asyncio.create_task(work, name=name)
        self._tasks = [known for known in self._tasks if not known.done()]
        self._tasks.append(task)
        task.add_done_callback(self._end_task)

    def _end_task(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._stages.fail(task.get_name(), error)
            self._want_stop(f"{task.get_name()} failed")


def _covers(view: View | None, generation: int) -> bool:
    return view is not None and view.generation >= generation and not view.is_rebuilding


@contextlib.contextmanager
def _usable(setting: str, folder: Path) -> Iterator[None]:
    """Name the setting when the system refuses its folder."""
    try:
        yield
    except OSError as error:
        raise UnusableFolderError(f"{setting}: {folder} cannot be used: {error.strerror}") from error


def _open_view(store: Store, searcher: Searcher) -> None:
    """Search what was published last; a store without anything to find needs nothing published."""
    if searcher.open_published() is not None:
        return
    with store.read() as txn:
        is_new = txn.number(INDEX_GENERATION) == 0
    if is_new:
        searcher.set_view(View(0, 0, 0))


def _in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[str, str], None], *arguments: str) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(lambda: call(*arguments))


def _as_async(work: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    async def done() -> None:
        work()

    return done


def _in_thread(work: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    return lambda: asyncio.to_thread(work)
