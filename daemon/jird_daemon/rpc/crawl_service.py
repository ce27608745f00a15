"""CrawlService: runs, the crawl log, and what is known of a page. Commands go to ingest, all else is read here."""

import asyncio
from collections.abc import AsyncIterator
from itertools import islice

from google.protobuf.timestamp_pb2 import Timestamp

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird.v1 import crawl_service_pb2_grpc as crawl_grpc
from jird_daemon.control import Progress, PruneLog, StopCrawl
from jird_daemon.crawler.admission import Admission, make_url_policy
from jird_daemon.errors import InternalError, InvalidArgumentError, NotFoundError, ShuttingDownError
from jird_daemon.frontier.runs import is_scheduled, next_round_ms
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.convert import explanation_message, log_entry_message, run_message, timestamp
from jird_daemon.rpc.crawl_log import LogFilter, parse_uuid, read_log
from jird_daemon.rpc.explain import Explainer
from jird_daemon.rpc.gate import Context
from jird_daemon.rpc.page_history import (
    GENERATIONS_DEFAULT,
    GENERATIONS_MAX,
    diff_message,
    read_compared,
    read_history,
)
from jird_daemon.rpc.page_view import read_indexiness, read_page
from jird_daemon.rpc.paging import make_token, page_size, read_token
from jird_daemon.rpc.start_crawl import start_command
from jird_daemon.store.log_pruning import KEEP_MAX
from jird_daemon.store.tables import ORIGIN_STATES, ORIGINS, RUN_ORIGINS, RUNS, Run, RunState
from jird_daemon.store.txn import Txn
from jird_daemon.url.canonical import canonicalize

RUNS_DEFAULT, RUNS_MAX = 20, 200
LOG_DEFAULT, LOG_MAX = 50, 1_000
WATCH_INTERVAL_S = 0.5
WATCHED_ORIGINS_MAX = 10
WATCHED_ORIGINS_SCAN_MAX = 1_000  # a run over more origins shows the busiest of so many
START_TIMEOUT_S = 60.0  # thousand seeds are looked up and written
STOP_TIMEOUT_S = 120.0  # J169: requests in flight finish under their own deadline
_YEAR_10000_S = 253_402_300_800  # seconds since 1970; a Timestamp ends before it, though its field does not


class CrawlService(crawl_grpc.CrawlServiceServicer):
    """See crawl_service.proto."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def StartCrawl(self, request: crawl_pb.StartCrawlRequest, context: Context) -> crawl_pb.CrawlRun:
        """Make or resume a run."""
        answer = await self._backend.ingest.call(start_command(request), timeout_s=START_TIMEOUT_S)
        if not answer.run_ids:
            raise InternalError("ingest started a run and gave no number")
        return await self._run_message(answer.run_ids[0])

    async def StopCrawl(self, request: crawl_pb.StopCrawlRequest, context: Context) -> crawl_pb.StopCrawlResponse:
        """Pause runs."""
        if request.run_id:
            await self._run_message(request.run_id)
        answer = await self._backend.ingest.call(StopCrawl(request.run_id), timeout_s=STOP_TIMEOUT_S)
        return crawl_pb.StopCrawlResponse(runs=[await self._run_message(run_id) for run_id in answer.run_ids])

    async def GetCrawlRun(self, request: crawl_pb.GetCrawlRunRequest, context: Context) -> crawl_pb.CrawlRun:
        """Return one run."""
        return await self._run_message(request.run_id)

    async def ListCrawlRuns(
        self, request: crawl_pb.ListCrawlRunsRequest, context: Context
    ) -> crawl_pb.ListCrawlRunsResponse:
        """Return runs, newest first."""
        size = page_size(request.page_size, RUNS_DEFAULT, RUNS_MAX)
        before = read_token(("runs",), request.page_token)
        if not isinstance(before, int | None) or (before is not None and before < 0):
            raise InvalidArgumentError("page_token is not one that this list gave", "PAGE_TOKEN")
        in_flight = self._backend.ingest.heartbeat.in_flight_by_run

        def read(txn: Txn) -> list[tuple[int, crawl_pb.CrawlRun]]:
            runs = islice(txn.scan(RUNS, None, before, reverse=True), size + 1)
            return [(run_id, _message(txn, run_id, run, in_flight)) for run_id, run in runs]

        runs = await self._backend.read(read)
        return crawl_pb.ListCrawlRunsResponse(
            runs=[message for _, message in runs[:size]],
            next_page_token=make_token(("runs",), runs[size - 1][0]) if len(runs) > size else "",
        )

    async def WatchCrawlRun(
        self, request: crawl_pb.WatchCrawlRunRequest, context: Context
    ) -> AsyncIterator[crawl_pb.WatchCrawlRunResponse]:
        """Stream a run's state until it no longer runs."""
        while True:
            update = await self._look_at(request.run_id)
            yield update
            if update.run.state != crawl_pb.CRAWL_RUN_STATE_RUNNING:
                return
            try:
                await asyncio.wait_for(self._backend.stopping.wait(), WATCH_INTERVAL_S)
            except TimeoutError:
                continue
            raise ShuttingDownError("jird is stopping; the run goes on when it is started again")

    async def ListCrawlLogEntries(
        self, request: crawl_pb.ListCrawlLogEntriesRequest, context: Context
    ) -> crawl_pb.ListCrawlLogEntriesResponse:
        """Query the crawl log."""
        size = page_size(request.page_size, LOG_DEFAULT, LOG_MAX)
        wanted = LogFilter(
            url=canonicalize(request.url) if request.url else "",
            host=request.host.lower(),
            uuid=parse_uuid(request.uuid),
            exit_code=int(request.exit_code),
            run_id=request.run_id,
            start_time_s=_seconds(request.start_time, "start_time"),
            end_time_s=_seconds(request.end_time, "end_time"),
        )
        filters = (
            wanted.url, wanted.host, request.uuid, wanted.exit_code, wanted.run_id, wanted.start_time_s,
            wanted.end_time_s,
        )  # fmt: skip
        before = parse_uuid(str(read_token(filters, request.page_token) or ""))
        page = await self._backend.read(lambda txn: read_log(txn, wanted, size, before))
        return crawl_pb.ListCrawlLogEntriesResponse(
            entries=[log_entry_message(*entry) for entry in page.entries],
            next_page_token=make_token(filters, page.next_key.hex()) if page.next_key else "",
        )

    async def PruneCrawlLog(
        self, request: crawl_pb.PruneCrawlLogRequest, context: Context
    ) -> AsyncIterator[crawl_pb.PruneCrawlLogResponse]:
        """Forget old entries of the crawl log."""
        keep, apply = request.keep_latest, request.apply
        if not 1 <= keep <= KEEP_MAX:
            raise InvalidArgumentError(f"keep_latest is {keep}; it must be 1 to {KEEP_MAX}", "KEEP_LATEST")
        steps: asyncio.Queue[Progress | None] = asyncio.Queue()
        command = PruneLog(keep, apply)
        call = asyncio.create_task(self._backend.ingest.call(command, timeout_s=None, progress=steps.put_nowait))
        call.add_done_callback(lambda _: steps.put_nowait(None))
        try:
            while (step := await steps.get()) is not None:
                yield crawl_pb.PruneCrawlLogResponse(entry_count=step.done, applied=apply)
            report = call.result().pruned
        finally:
            call.cancel()
        if report is None:
            raise InternalError("ingest pruned the crawl log and gave no report")
        yield crawl_pb.PruneCrawlLogResponse(
            entry_count=report.entries, forgotten_count=report.forgotten, url_count=report.urls, applied=apply,
            done=True,
        )  # fmt: skip

    async def ExplainUrl(self, request: crawl_pb.ExplainUrlRequest, context: Context) -> crawl_pb.ExplainUrlResponse:
        """Say why a URL is, or is not, crawled."""
        settings, backend = self._backend.settings(), self._backend
        admission = Admission(make_url_policy(settings), settings.crawl)
        explainer = Explainer(admission, settings.crawl, backend.ingest.heartbeat.guard, backend.clock.now_s())
        found = await backend.read(lambda txn: explainer.explain(txn, request.url, request.run_id))
        return explanation_message(found)

    async def GetPage(self, request: crawl_pb.GetPageRequest, context: Context) -> crawl_pb.Page:
        """Return what is known of a URL."""
        url = canonicalize(request.url)
        return await self._backend.read(lambda txn: read_page(txn, url, with_text=request.with_text))

    async def GetIndexiness(self, request: crawl_pb.GetIndexinessRequest, context: Context) -> crawl_pb.Indexiness:
        """Explain whether a page counts as a list of other pages."""
        url = canonicalize(request.url)
        return await self._backend.read(lambda txn: read_indexiness(txn, url))

    async def ListGenerations(
        self, request: crawl_pb.ListGenerationsRequest, context: Context
    ) -> crawl_pb.ListGenerationsResponse:
        """Return a page's history."""
        url = canonicalize(request.url)
        size = page_size(request.page_size, GENERATIONS_DEFAULT, GENERATIONS_MAX)
        below = read_token(("generations", url), request.page_token)
        if not isinstance(below, int | None) or (below is not None and below < 0):
            raise InvalidArgumentError("page_token is not one that this list gave", "PAGE_TOKEN")
        page = await self._backend.read(lambda txn: read_history(txn, url, size, below))
        is_last = page.next_sequence is None
        return crawl_pb.ListGenerationsResponse(
            url=url,
            generations=page.generations,
            next_page_token="" if is_last else make_token(("generations", url), page.next_sequence or 0),
        )

    async def DiffGenerations(
        self, request: crawl_pb.DiffGenerationsRequest, context: Context
    ) -> crawl_pb.DiffGenerationsResponse:
        """Return what changed between two generations."""
        url = canonicalize(request.url)
        from_uuid, to_uuid = parse_uuid(request.from_uuid), parse_uuid(request.to_uuid)
        compared = await self._backend.read(lambda txn: read_compared(txn, url, from_uuid, to_uuid))
        return await self._backend.reads.run(lambda: diff_message(url, compared))

    async def _run_message(self, run_id: int) -> crawl_pb.CrawlRun:
        in_flight = self._backend.ingest.heartbeat.in_flight_by_run
        return await self._backend.read(lambda txn: _message(txn, run_id, _get_run(txn, run_id), in_flight))

    async def _look_at(self, run_id: int) -> crawl_pb.WatchCrawlRunResponse:
        heartbeat = self._backend.ingest.heartbeat

        def look(txn: Txn) -> crawl_pb.WatchCrawlRunResponse:
            run = _get_run(txn, run_id)
            return crawl_pb.WatchCrawlRunResponse(
                run=_message(txn, run_id, run, heartbeat.in_flight_by_run),
                requests_per_second=heartbeat.requests_per_second,
                origins=_busiest_origins(txn, run_id, heartbeat.waiting_reasons)
                if run.state == RunState.RUNNING
                else (),
                guard=heartbeat.guard,
            )

        return await self._backend.read(look)


def _get_run(txn: Txn, run_id: int) -> Run:
    run = txn.get(RUNS, run_id) if run_id > 0 else None
    if run is None:
        raise NotFoundError(f"there is no run {run_id}", "RUN_UNKNOWN")
    return run


def _message(txn: Txn, run_id: int, run: Run, in_flight: dict[int, int]) -> crawl_pb.CrawlRun:
    due_ms = next_round_ms(txn, run_id, run) if is_scheduled(run) else None
    return run_message(run_id, run, in_flight.get(run_id, 0), due_ms)


def _busiest_origins(txn: Txn, run_id: int, reasons: dict[str, str]) -> list[crawl_pb.OriginQueue]:
    scan = txn.scan(RUN_ORIGINS, (run_id, 0), (run_id + 1, 0))
    queues = [
        (part.queued + part.waiting, origin_id) for (_, origin_id), part in islice(scan, WATCHED_ORIGINS_SCAN_MAX)
    ]
    found = []
    for queued, origin_id in sorted(queues, reverse=True)[:WATCHED_ORIGINS_MAX]:
        origin, state = txn.get(ORIGINS, origin_id), txn.get(ORIGIN_STATES, origin_id)
        if origin is None or not queued:
            continue
        found.append(
            crawl_pb.OriginQueue(
                origin=origin.name,
                queued_count=queued,
                waiting_reason=reasons.get(origin.name, ""),
                next_time=timestamp(state.next_time_s if state else None),
            )
        )
    return found


def _seconds(moment: Timestamp, name: str) -> float:
    if moment.seconds >= _YEAR_10000_S:
        raise InvalidArgumentError(f"{name} is {moment.seconds} s; it must be before the year 10000", name.upper())
    return moment.seconds + moment.nanos / 1e9
