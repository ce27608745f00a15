"""The ingest process: the crawl, the one writer of the store, and the index.

Started by serve (supervise.py), told what to do over the control channel, and watched by its heartbeats. It holds the
state lock through an inherited descriptor, dies with serve, and owns the parse workers.

Order of life: store, index, parsers, crawler; the first view tells serve that it is ready. Order of death: crawler,
parsers, index, store; each stage is tried although one before it failed, and what failed is reported (J45, J47).
"""

import asyncio
import gc
import os
import socket
import sys
import time
from collections.abc import Coroutine, Sequence
from typing import Any

import uvloop

from jird_daemon import log as logs
from jird_daemon.child import IngestArguments, die_with_parent, yield_to_searches
from jird_daemon.clock import SystemClock
from jird_daemon.config import decode_settings, read_settings_file
from jird_daemon.control import (
    HEARTBEAT_INTERVAL_S,
    AcknowledgeView,
    Answer,
    Checkpoint,
    CollectGarbage,
    Compact,
    GuardFacts,
    Heartbeat,
    ImportDocuments,
    ProbeParsers,
    PruneLog,
    Rebuild,
    Reload,
    ReportDamage,
    Shutdown,
    StartCrawl,
    StartReindex,
    StopCrawl,
    StopReindex,
    Verify,
    View,
)
from jird_daemon.control_server import ControlServer, ProgressCallback
from jird_daemon.crawler.crawler import Activity, Crawler
from jird_daemon.crawler.importing import Importer
from jird_daemon.crawler.reindex import Reindexer
from jird_daemon.errors import JirdError, NotReadyError, ShuttingDownError, WrongStateError
from jird_daemon.extract.pool import ParsePool
from jird_daemon.housekeeping import Housekeeping
from jird_daemon.index.writer import IndexWriter
from jird_daemon.log import get_logger
from jird_daemon.resource_watch import ResourceWatch
from jird_daemon.store import StateLock, Store
from jird_daemon.store.env import INDEX_FOLDER
from jird_daemon.store.garbage import collect_garbage
from jird_daemon.store.log_pruning import prune_log
from jird_daemon.store.tables import RunReason
from jird_settings import Settings

# The slowest honest page of J161's size takes a second; ten leave room for a busy machine.
PAGE_TIMEOUT_MS = 10_000
GC_THRESHOLD = 20_000  # objects: cycles of a few hundred pages, some megabytes
# What a command waits for the process to be ready: imports on a busy machine, and a long replay of changes.
READY_TIMEOUT_S = 20.0

_log = get_logger("ingest")


class Ingest:
    """The parts of the process, and what serve may ask of them (control_server.ControlHandler)."""

    def __init__(self, arguments: IngestArguments, settings: Settings) -> None:
        """Take how the process was started, and the settings; `run` does the rest."""
        self._arguments = arguments
        self._settings = settings
        self._clock = SystemClock()
        self._lock = StateLock.adopt(arguments.lock_fd)
        self._store: Store | None = None
        self._index: IndexWriter | None = None
        self._parsers: ParsePool | None = None
        self._crawler: Crawler | None = None
        self._housekeeping: Housekeeping | None = None
        self._reindexer: Reindexer | None = None
        self._importer: Importer | None = None
        self._watch: ResourceWatch | None = None
        self._server: ControlServer | None = None
        self._ready = asyncio.Event()
        self._opened = asyncio.Event()  # `_open` has ended, well or not
        self._is_stopping = False
        self._view: View | None = None  # the latest, until serve may be told
        self._is_collecting = False
        self._changing = asyncio.Lock()  # start, reload and stop change the crawler one after the other
        self._done = asyncio.Event()
        self.faults: list[str] = []

    async def run(self, sock: socket.socket) -> int:
        """Work until serve asks for the end, or is gone; returns the exit code."""
        self._server = await ControlServer.connect(sock, self)
        serving = asyncio.create_task(self._serve(self._server))
        beating = asyncio.create_task(self._beat(self._server))
        try:
            await self._open()
            self._opened.set()
            await self._done.wait()
        except (JirdError, OSError) as error:
            if not self._is_stopping:
                _log.error("ingest.failed", kind=type(error).__name__, reason=str(error))
                self.faults.append(str(error))
        finally:
            self._opened.set()
            await self._close()
            beating.cancel()
            await self._server.close()
            serving.cancel()
            await asyncio.gather(beating, serving, return_exceptions=True)
            self._lock.close()
        return 1 if self.faults else 0

    # -- commands -------------------------------------------------------------------------------------------------

    async def start_crawl(self, request: StartCrawl) -> Answer:
        """Make or resume a run."""
        async with self._changing:
            crawler = await self._ready_crawler()
            if crawler.guard:
                raise WrongStateError(f"intake is paused by the {crawler.guard} guard", "INTAKE_PAUSED")
            if self._is_collecting:
                raise WrongStateError("content is being collected; start the crawl afterwards", "GC_RUNNING")
            return Answer(run_ids=(await crawler.runs.start(request),))

    async def stop_crawl(self, request: StopCrawl) -> Answer:
        """Pause runs."""
        return Answer(run_ids=await (await self._ready_crawler()).runs.stop(request.run_id))

    async def checkpoint(self, request: Checkpoint) -> Answer:
        """Make the view durable."""
        return Answer(view=await asyncio.to_thread((await self._ready_index()).checkpoint))

    async def compact(self, request: Compact, progress: ProgressCallback) -> Answer:
        """Rewrite all segments into one."""
        return Answer(view=await asyncio.to_thread((await self._ready_index()).compact, progress))

    async def verify(self, request: Verify, progress: ProgressCallback) -> Answer:
        """Read every byte of every segment."""
        return Answer(faults=await asyncio.to_thread((await self._ready_index()).verify, progress))

    async def rebuild(self, request: Rebuild, progress: ProgressCallback) -> Answer:
        """Derive the index again."""
        return Answer(view=await asyncio.to_thread((await self._ready_index()).rebuild, progress))

    async def collect_garbage(self, request: CollectGarbage) -> Answer:
        """Remove unreferenced blobs."""
        crawler = await self._ready_crawler()
        assert self._store is not None
        if self._is_collecting:
            raise WrongStateError("content is being collected already", "GC_RUNNING")
        self._is_collecting = True
        crawler.runs.hold_rounds(True)
        try:
            return Answer(garbage=await asyncio.to_thread(collect_garbage, self._store))
        finally:
            self._is_collecting = False
            crawler.runs.hold_rounds(False)

    async def prune_log(self, request: PruneLog, progress: ProgressCallback) -> Answer:
        """Forget old entries of the crawl log, or count them."""
        await self._ready_crawler()
        store = self._store
        assert store is not None

        def tell(entries: int, _forgotten: int) -> None:
            progress("entries looked at", entries, 0)

        keep, apply = request.keep_latest, request.apply
        report = await asyncio.to_thread(lambda: prune_log(store, keep, apply=apply, progress=tell))
        if apply:
            _log.info("log.pruned", entries=report.entries, forgotten=report.forgotten, keep_latest=keep)
        return Answer(pruned=report)

    async def start_reindex(self, request: StartReindex) -> Answer:
        """Parse the stored bytes again, in the background."""
        await (await self._ready_reindexer()).start(request.host, request.since_s)
        return Answer()

    async def stop_reindex(self, request: StopReindex) -> Answer:
        """End that work."""
        await (await self._ready_reindexer()).stop()
        return Answer()

    async def import_documents(self, request: ImportDocuments) -> Answer:
        """Parse and store a batch of documents that nobody was asked for."""
        crawler = await self._ready_crawler()
        if crawler.guard:
            raise WrongStateError(f"intake is paused by the {crawler.guard} guard", "INTAKE_PAUSED")
        assert self._importer is not None
        generation, results = await self._importer.run(request.documents)
        return Answer(imported=results, generation=generation)

    async def probe_parsers(self, request: ProbeParsers) -> Answer:
        """Run the probes on a parse worker."""
        await self._ready_crawler()
        assert self._parsers is not None
        return Answer(probes=await self._parsers.probe())

    async def acknowledge_view(self, request: AcknowledgeView) -> Answer:
        """Let the files of older views go."""
        (await self._ready_index()).acknowledge(request.sequence)
        return Answer()

    async def report_damage(self, request: ReportDamage) -> Answer:
        """Take a segment out and derive its documents again."""
        (await self._ready_index()).report_damage(request.segment, request.reason)
        return Answer()

    async def reload(self, request: Reload) -> Answer:
        """Take up other settings: a new crawler takes the runs over; they go on where they are.

        Index, storage and the number of parse workers keep what they were started with.
        """
        settings = decode_settings(request.settings)
        async with self._changing:
            old = await self._ready_crawler()
            new = self._make_crawler(settings)
            await old.stop()
            self._settings, self._crawler = settings, new
            _configure_log(settings)
            await new.start()
            new.set_guard(old.guard)
            if self._watch is not None:
                self._watch.take_up(settings)
            await new.runs.resume_running()
            if self._housekeeping is not None:
                self._housekeeping.take_up(settings.content)
            if self._reindexer is not None:
                self._reindexer.content = settings.content
            if self._importer is not None:
                self._importer.take_up(settings)
        return Answer()

    async def shutdown(self, request: Shutdown) -> Answer:
        """Stop the crawl, checkpoint, close; faults hold what failed."""
        self._is_stopping = True
        await self._opened.wait()  # what is being opened cannot be closed
        await self._close()
        self._done.set()
        return Answer(faults=tuple(self.faults))

    # -- life -----------------------------------------------------------------------------------------------------

    async def _open(self) -> None:
        storage = self._settings.storage
        self._store = await asyncio.to_thread(
            lambda: Store.open(storage.state_dir, map_bytes=storage.max_metadata_bytes)
        )
        self._watch = ResourceWatch(self._settings, self._store)
        self._index = IndexWriter(
            self._store,
            storage.state_dir / INDEX_FOLDER,
            self._settings.index,
            self._show,
            max_chars=self._settings.content.index_max_chars,
        )
        self._parsers = ParsePool(self._settings.crawl.workers, PAGE_TIMEOUT_MS)
        await self._parsers.start()
        self._go_on()
        self._crawler = self._make_crawler(self._settings)
        await self._crawler.start()
        await asyncio.to_thread(self._index.open)
        self._go_on()
        if self._arguments.is_restart:
            run_ids = await self._crawler.runs.resume_running()
        else:
            run_ids = await self._crawler.runs.pause_running(RunReason.RESTART)
            if run_ids:
                how = "`jirdctl crawl start` with the same seeds resumes a run"
                _log.warning("runs.paused", runs=",".join(map(str, run_ids)), reason="restart", action=how)
        self._housekeeping = Housekeeping(self._store, self._settings.content, self._clock)
        self._housekeeping.start()
        token = self._settings.crawl.user_agent.split(" ", 1)[0]
        self._reindexer = Reindexer(
            self._store, self._parsers, self._settings.content, self._clock, self._index.notify, token
        )
        await self._reindexer.resume()
        self._importer = Importer(self._store, self._parsers, self._settings, self._clock, self._index.notify)
        self._ready.set()
        assert self._server is not None
        assert self._view is not None
        self._server.publish_view(self._view)
        _log.info("ingest.ready", runs=len(run_ids), resumed=self._arguments.is_restart)

    def _go_on(self) -> None:
        """Between the steps of a start: give up when the end has been asked for."""
        if self._is_stopping:
            raise ShuttingDownError("stopped while it was being started")

    def _show(self, view: View) -> None:
        """A newer view can be searched; called in the index writer's thread."""
        self._view = view
        if self._ready.is_set() and self._server is not None:
            self._server.publish_view(view)

    def _make_crawler(self, settings: Settings) -> Crawler:
        assert self._store is not None
        assert self._index is not None
        assert self._parsers is not None
        return Crawler(self._store, settings, self._parsers, self._clock, on_commit=self._index.notify)

    async def _close(self) -> None:
        """Stop in order; every stage is tried, and runs once."""
        self._is_stopping = True
        self._ready.clear()
        async with self._changing:
            crawler, self._crawler = self._crawler, None
            parsers, self._parsers = self._parsers, None
            index, self._index = self._index, None
            housekeeping, self._housekeeping = self._housekeeping, None
            reindexer, self._reindexer = self._reindexer, None
            importer, self._importer = self._importer, None
            store, self._store = self._store, None
            if reindexer is not None:
                await self._try("reindex", reindexer.close())
            if importer is not None:
                await self._try("import", importer.close())
            if crawler is not None:
                await self._try("crawl", crawler.stop(RunReason.RESTART))
            if parsers is not None:
                await self._try("parsers", parsers.close())
            if housekeeping is not None:
                await self._try("housekeeping", asyncio.to_thread(housekeeping.close))
            if index is not None:
                await self._try("index", asyncio.to_thread(index.close))
            if store is not None:
                await self._try("store", asyncio.to_thread(store.close))

    async def _try(self, stage: str, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except Exception as error:
            _log.error("stop.failed", stage=stage, exc_info=True)
            self.faults.append(f"{stage}: {error}")
        else:
            _log.info("stop.done", stage=stage)

    async def _serve(self, server: ControlServer) -> None:
        """Answer until serve is gone; without it there is nobody to work for."""
        try:
            await server.run()
        finally:
            self._done.set()

    async def _beat(self, server: ControlServer) -> None:
        requests, then_s = 0, time.monotonic()
        while True:
            now_s = time.monotonic()
            crawler, watch, parsers = self._crawler, self._watch, self._parsers
            if crawler is None or watch is None or parsers is None:
                server.send_heartbeat(Heartbeat())
            else:
                watch.look(crawler, parsers.pids)
                activity = crawler.activity()
                rate = max(activity.requests - requests, 0) / max(now_s - then_s, 0.001)
                requests, then_s = activity.requests, now_s
                server.send_heartbeat(self._heartbeat(activity, rate, parsers, watch.facts))
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)

    def _heartbeat(
        self, activity: Activity, requests_per_second: float, parsers: ParsePool, guards: GuardFacts
    ) -> Heartbeat:
        counters = parsers.counters
        return Heartbeat(
            active_run_ids=activity.active_run_ids,
            in_flight=activity.in_flight,
            in_flight_by_run=activity.in_flight_by_run,
            guard=activity.guard,
            robots_cached=activity.robots_cached,
            origin_deadlines=activity.origin_deadlines,
            parser_pids=parsers.pids,
            parser_failures=counters.crashed + counters.timed_out + counters.out_of_memory + counters.failed,
            parser_restarts=max(counters.workers_started - self._settings.crawl.workers, 0),
            requests_per_second=requests_per_second,
            waiting_reasons=activity.waiting_reasons,
            guards=guards,
        )

    async def _ready_crawler(self) -> Crawler:
        await self._until_ready()
        if self._crawler is None:
            raise ShuttingDownError("the ingest process is being stopped")
        return self._crawler

    async def _ready_reindexer(self) -> Reindexer:
        await self._until_ready()
        if self._reindexer is None:
            raise ShuttingDownError("the ingest process is being stopped")
        return self._reindexer

    async def _ready_index(self) -> IndexWriter:
        await self._until_ready()
        if self._index is None:
            raise ShuttingDownError("the ingest process is being stopped")
        return self._index

    async def _until_ready(self) -> None:
        """A command that comes while the process starts waits, so that nobody has to try again."""
        if self._is_stopping:
            raise ShuttingDownError("the ingest process is being stopped")
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                await self._ready.wait()
        except TimeoutError:
            raise NotReadyError("the ingest process is being started", "INGEST_STARTING") from None


def _configure_log(settings: Settings) -> None:
    logs.configure(settings.log.level, settings.log.max_lines_per_s, os.environ)


def main(argv: Sequence[str]) -> int:
    """The process; arguments as serve writes them."""
    arguments = IngestArguments.parse(argv)
    die_with_parent(arguments.parent_pid)
    yield_to_searches()
    settings = read_settings_file(arguments.settings_fd)
    _configure_log(settings)
    # Modules live as long as the process, and a page makes thousands of objects that no cycle holds: looking through
    # all of them every 700 objects is time lost.
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    with socket.socket(fileno=arguments.control_fd) as sock:
        try:
            return uvloop.run(_run(arguments, settings, sock))
        finally:
            logs.flush()


async def _run(arguments: IngestArguments, settings: Settings, sock: socket.socket) -> int:
    return await Ingest(arguments, settings).run(sock)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
