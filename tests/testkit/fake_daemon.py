"""A daemon with canned, exact answers and faults on demand, served by real gRPC on real Unix sockets.

For tests of the clients, where the moment of a fault must be exact. Its search answers from a fixed list of hits: hit
number n of the query "many" is the document https://docs.test/page/n.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from jird.v1 import (
    archive_service_pb2,
    archive_service_pb2_grpc,
    crawl_service_pb2,
    crawl_service_pb2_grpc,
    index_service_pb2,
    index_service_pb2_grpc,
    search_service_pb2,
    search_service_pb2_grpc,
    status_service_pb2,
    status_service_pb2_grpc,
)
from jird.v1.document_pb2 import CrawlExitCode, CrawlType, Document, Image

TOKEN = "correct-horse-battery-staple-0123456789"
START = Timestamp(seconds=1_796_000_000)
LIMIT_MAX, OFFSET_MAX = 100, 1_000
_GENERATION_NEW = crawl_service_pb2.Generation(
    uuid="0193b2c4-0000-7000-8000-000000000002", first_seen_time=START, last_seen_time=START, text_digest="ab" * 32,
    has_text=True,
)  # fmt: skip
_GENERATION_OLD = crawl_service_pb2.Generation(
    uuid="0193b2c4-0000-7000-8000-000000000001", first_seen_time=START, last_seen_time=START, confirmed_end_time=START,
)  # fmt: skip


@dataclass
class Fault:
    """What a method answers instead of its result."""

    code: grpc.StatusCode
    reason: str = ""
    message: str = "made by the test"
    retry_after_ms: int = 0


@dataclass
class Seen:
    """A call that arrived."""

    method: str
    request: Any
    metadata: dict[str, str]


@dataclass
class FakeDaemon:
    """See the module; use as a context manager around a run_dir."""

    run_dir: Path
    admin_mode: str = "token"
    token: str = TOKEN
    match_count: int = 45
    notices: tuple[str, ...] = ()
    faults: dict[str, Fault] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    gate: threading.Event | None = None  # searches wait for it when set
    hit: Callable[[int], search_service_pb2.SearchHit] | None = None
    run: crawl_service_pb2.CrawlRun = field(default_factory=lambda: make_run())
    watch: list[crawl_service_pb2.WatchCrawlRunResponse] = field(default_factory=list)
    watch_gate: threading.Event | None = None  # watching hangs after its list until it is set
    entries: list[crawl_service_pb2.CrawlLogEntry] = field(default_factory=list)
    index_faults: list[str] = field(default_factory=list)
    is_ready: bool = True
    allow_leaks: bool = False
    _servers: list[grpc.Server] = field(default_factory=list)

    def start(self) -> Self:
        """Bind both sockets."""
        self.run_dir.mkdir(parents=True, exist_ok=True)
        for name in ("search.sock", "admin.sock"):
            server = grpc.server(ThreadPoolExecutor(8, thread_name_prefix=name))
            services = _Services(self, is_admin_socket=name == "admin.sock")
            search_service_pb2_grpc.add_SearchServiceServicer_to_server(services, server)
            crawl_service_pb2_grpc.add_CrawlServiceServicer_to_server(services, server)
            index_service_pb2_grpc.add_IndexServiceServicer_to_server(services, server)
            status_service_pb2_grpc.add_StatusServiceServicer_to_server(services, server)
            archive_service_pb2_grpc.add_ArchiveServiceServicer_to_server(services, server)
            server.add_insecure_port(f"unix:{self.run_dir / name}")
            server.start()
            self._servers.append(server)
        return self

    def stop(self) -> None:
        """Stop both servers, cancelling what runs."""
        for gate in (self.gate, self.watch_gate):
            if gate is not None:
                gate.set()
        for server in self._servers:
            server.stop(grace=0).wait(5)
        self._servers.clear()

    def calls(self, method: str) -> list[Seen]:
        """Return the calls of a method that arrived."""
        return [call for call in self.seen if call.method == method]

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Services:
    """All servicers in one object; on search.sock admin calls need the token, as the contract says."""

    def __init__(self, daemon: FakeDaemon, is_admin_socket: bool) -> None:
        self.daemon = daemon
        self.is_admin_socket = is_admin_socket

    def _enter(self, method: str, request: Any, context: grpc.ServicerContext, admin: bool = False) -> None:
        metadata = {key: str(value) for key, value in context.invocation_metadata()}
        self.daemon.seen.append(Seen(method, request, metadata))
        if admin and not self.is_admin_socket:
            self._authorise(metadata, context)
        fault = self.daemon.faults.get(method)
        if fault is not None:
            _abort(context, fault)

    def _authorise(self, metadata: dict[str, str], context: grpc.ServicerContext) -> None:
        if self.daemon.admin_mode == "local" and metadata.get("jird-admin-local") == "1":
            return
        if self.daemon.admin_mode == "off" or not self.daemon.token:
            _abort(context, Fault(grpc.StatusCode.PERMISSION_DENIED, "ADMIN_DISABLED", "no admin token is configured"))
        if metadata.get("authorization") != f"Bearer {self.daemon.token}":
            _abort(context, Fault(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_REQUIRED", "the token is missing or wrong"))

    # SearchService

    def Search(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("Search", request, context)
        if self.daemon.gate is not None:
            self.daemon.gate.wait(20)
        limit = min(request.limit or 20, LIMIT_MAX)
        offset = min(request.offset, OFFSET_MAX)
        total = 0 if request.query == "nothing" else self.daemon.match_count
        make = self.daemon.hit or make_hit
        hits = [make(number) for number in range(offset, min(offset + limit, total))]
        return search_service_pb2.SearchResponse(
            query=request.query, limit=limit, offset=offset, hits=hits,
            has_more=offset + limit < total and offset + limit <= OFFSET_MAX,
            match_count=total, match_count_exact=total < 1_000, generation=7, took_us=1_234,
            notices=self.daemon.notices,
        )  # fmt: skip

    def Suggest(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("Suggest", request, context)
        return search_service_pb2.SuggestResponse(completions=[request.query + "er", request.query + "ing"])

    def SearchImages(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("SearchImages", request, context)
        limit = min(request.limit or 40, LIMIT_MAX)
        total = 0 if request.query == "nothing" else self.daemon.match_count
        images = [make_image(number) for number in range(request.offset, min(request.offset + limit, total))]
        has_more = request.offset + limit < total
        return search_service_pb2.SearchImagesResponse(
            images=images, limit=limit, offset=request.offset, has_more=has_more
        )

    # CrawlService

    def StartCrawl(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("StartCrawl", request, context, admin=True)
        if not request.seeds:
            _abort(context, Fault(grpc.StatusCode.INVALID_ARGUMENT, "NO_SEEDS", "at least one seed is needed"))
        for seed in request.seeds:
            if not seed.startswith("https://"):
                _abort(context, Fault(grpc.StatusCode.INVALID_ARGUMENT, "URL_SCHEME", f"{seed}: only https is allowed"))
        return self.daemon.run

    def StopCrawl(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("StopCrawl", request, context, admin=True)
        self._need_run(request.run_id or self.daemon.run.run_id, context)
        return crawl_service_pb2.StopCrawlResponse(runs=[make_run("PAUSED", "STOPPED")])

    def GetCrawlRun(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("GetCrawlRun", request, context)
        self._need_run(request.run_id, context)
        return self.daemon.run

    def ListCrawlRuns(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("ListCrawlRuns", request, context)
        return crawl_service_pb2.ListCrawlRunsResponse(runs=[self.daemon.run])

    def WatchCrawlRun(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802
        self._enter("WatchCrawlRun", request, context)
        self._need_run(request.run_id, context)
        yield from self.daemon.watch
        if self.daemon.watch_gate is not None:
            self.daemon.watch_gate.wait(20)

    def ListCrawlLogEntries(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("ListCrawlLogEntries", request, context)
        start = int(request.page_token or 0)
        size = min(request.page_size or 50, 1_000)
        entries = self.daemon.entries[start : start + size]
        token = str(start + size) if start + size < len(self.daemon.entries) else ""
        return crawl_service_pb2.ListCrawlLogEntriesResponse(entries=entries, next_page_token=token)

    def PruneCrawlLog(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("PruneCrawlLog", request, context)
        yield crawl_service_pb2.PruneCrawlLogResponse(entry_count=1_000)
        yield crawl_service_pb2.PruneCrawlLogResponse(
            entry_count=1_500, forgotten_count=1_200, url_count=30, applied=request.apply, done=True
        )

    def ExplainUrl(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("ExplainUrl", request, context)
        verdicts = [
            crawl_service_pb2.RuleVerdict(rule="scope", outcome="RULE_OUTCOME_ALLOWED"),
            crawl_service_pb2.RuleVerdict(
                rule="do_not_crawl",
                outcome="RULE_OUTCOME_REFUSED",
                reason="URL_DO_NOT_CRAWL",
                message="the \x1btracker",
            ),
        ]
        return crawl_service_pb2.ExplainUrlResponse(
            url=request.url, run_id=request.run_id or 4, verdicts=verdicts, deciding=verdicts[1]
        )

    def GetPage(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("GetPage", request, context)
        if "unknown" in request.url:
            _abort(context, Fault(grpc.StatusCode.NOT_FOUND, "PAGE_NOT_FOUND", f"{request.url} was never heard of"))
        document = Document(url=request.url, title="Gerbils", language="en", last_seen_time=START)
        return crawl_service_pb2.Page(
            document=document, is_searchable=True, http_status=200,
            exit_code=CrawlExitCode.CRAWL_EXIT_CODE_FILE_INGESTED, media_type="text/html",
            text="All about gerbils." if request.with_text else "",
        )  # fmt: skip

    def GetIndexiness(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("GetIndexiness", request, context)
        part = crawl_service_pb2.IndexinessPart(name="base", count=1, weight=-10)
        return crawl_service_pb2.Indexiness(url=request.url, score=-10, parts=[part])

    def ListGenerations(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("ListGenerations", request, context)
        start = int(request.page_token or 0)
        end = min(start + min(request.page_size or 50, 1), 2)  # one a page, so that clients must go on
        generations = [_GENERATION_NEW, _GENERATION_OLD][start:end]
        return crawl_service_pb2.ListGenerationsResponse(
            url=request.url, generations=generations, next_page_token=str(end) if end < 2 else ""
        )

    def DiffGenerations(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("DiffGenerations", request, context)
        lines = [
            crawl_service_pb2.DiffLine(kind=crawl_service_pb2.DIFF_LINE_KIND_SAME, text="Gerbils"),
            crawl_service_pb2.DiffLine(kind=crawl_service_pb2.DIFF_LINE_KIND_REMOVED, text="are small."),
            crawl_service_pb2.DiffLine(kind=crawl_service_pb2.DIFF_LINE_KIND_ADDED, text="are \x1b[31msmaller."),
        ]
        return crawl_service_pb2.DiffGenerationsResponse(
            url=request.url, from_generation=_GENERATION_OLD, to_generation=_GENERATION_NEW, added_count=1,
            removed_count=1, hunks=[crawl_service_pb2.DiffHunk(from_line=1, to_line=1, lines=lines)],
        )  # fmt: skip

    def _need_run(self, run_id: int, context: grpc.ServicerContext) -> None:
        if run_id != self.daemon.run.run_id:
            _abort(context, Fault(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND", f"there is no crawl run {run_id}"))

    # ArchiveService

    def ImportDocuments(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Documents whose text is "bad" are refused, the others stored."""
        self._enter("ImportDocuments", request, context)
        result, outcome = archive_service_pb2.ImportResult, archive_service_pb2.ImportOutcome
        return archive_service_pb2.ImportDocumentsResponse(
            results=[
                result(outcome=outcome.IMPORT_OUTCOME_REFUSED, message="no such \x1b[31mthing")
                if document.body == b"bad"
                else result(outcome=outcome.IMPORT_OUTCOME_STORED)
                for document in request.documents
            ],
            generation=7,
        )

    def ExportPages(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802
        """Two blocks of a page each, and a fault after the first if there is to be one."""
        for number in range(2):
            if number:
                self._enter("ExportPages", request, context)
            page = archive_service_pb2.ExportedPage(
                url=f"https://docs.test/{number}", id=bytes(16), is_searchable=True, title="T", text="words",
                content=b"<p>words", content_type="text/html", content_time=START,
            )  # fmt: skip
            yield archive_service_pb2.ExportPagesResponse(pages=[page], done_count=number + 1, total_count=2)

    # IndexService

    def Checkpoint(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("Checkpoint", request, context, admin=True)
        return _index_state()

    def Compact(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802
        self._enter("Compact", request, context, admin=True)
        yield from _progress("merging segments", [])

    def Verify(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802
        self._enter("Verify", request, context)
        yield from _progress("reading segments", self.daemon.index_faults)
        if self.daemon.index_faults:
            _abort(context, Fault(grpc.StatusCode.DATA_LOSS, "SEGMENT_CORRUPT", "1 segment is damaged"))

    def Rebuild(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802
        self._enter("Rebuild", request, context)
        yield from _progress("rebuilding", [])

    def StartReindex(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("StartReindex", request, context, admin=True)
        return index_service_pb2.Reindex(host=request.host, total_count=9)

    def ExplainQuery(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("ExplainQuery", request, context)
        node, part = index_service_pb2.QueryNode, index_service_pb2.ScorePart
        return index_service_pb2.ExplainQueryResponse(
            query=request.query, notices=["a note"], plan="or", segment_count=2, posting_count=900,
            decoded_posting_count=256, block_count=8, decoded_block_count=2, match_count=7, search_us=45,
            nodes=[
                node(text="any of"),
                node(depth=1, text="gerbil", counts=True, document_count=4, idf=2.5, is_term=True),
                node(depth=1, text="absent", counts=True, document_count=0, idf=8.25, is_term=True),
            ],
            hits=[
                index_service_pb2.ExplainedHit(
                    url="https://docs.test/page/1", title="Page 1", matches=True, score=1.75, length=120,
                    parts=[part(node=1, matches=True, frequency=3, score=1.75), part(node=2)],
                )
            ],
        )  # fmt: skip

    def GetReindex(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("GetReindex", request, context, admin=True)
        return index_service_pb2.Reindex(total_count=9, done_count=9, derived_count=8, skipped_count=1, end_time=START)

    def StopReindex(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("StopReindex", request, context, admin=True)
        return index_service_pb2.Reindex(total_count=9, done_count=4, end_time=START, is_stopped=True)

    def CollectGarbage(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("CollectGarbage", request, context, admin=True)
        return index_service_pb2.CollectGarbageResponse(blob_count=3, freed_bytes=4_096)

    # StatusService

    def GetStatus(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("GetStatus", request, context)
        return make_status(self.daemon)

    def GetReadiness(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("GetReadiness", request, context)
        reason = "" if self.daemon.is_ready else "the last merge failed"
        return status_service_pb2.Readiness(
            is_ready=self.daemon.is_ready, reason=reason, generation=7, query_engine="hybrid"
        )

    def ProbeParsers(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._enter("ProbeParsers", request, context)
        probes = [
            status_service_pb2.ParserProbe(name="open_file", is_refused=True, detail="EACCES"),
            status_service_pb2.ParserProbe(name="connect", is_refused=not self.daemon.allow_leaks, detail="EPERM"),
        ]
        return status_service_pb2.ProbeParsersResponse(probes=probes)


def make_run(state: str = "RUNNING", reason: str = "UNSPECIFIED", **counts: int) -> crawl_service_pb2.CrawlRun:
    """Return run 4 in a state, with counts."""
    numbers: Any = {"request_count": 12, "ingested_count": 9, "queued_count": 30, **counts}
    return crawl_service_pb2.CrawlRun(
        run_id=4, name="docs", seeds=["https://docs.test/"],
        state=f"CRAWL_RUN_STATE_{state}", reason=f"CRAWL_RUN_REASON_{reason}",
        max_depth=3, max_pages=1_000, scope=crawl_service_pb2.CRAWL_SCOPE_SAME_ORIGIN, create_time=START,
        counts=crawl_service_pb2.CrawlCounts(**numbers, sitemap_count=2, exit_code_counts={20: 9, 44: 3}),
        scope_reached=reason == "DRAINED", max_frontier=1_000_000, budget_left_count=988,
        active_time=Duration(seconds=6),
    )  # fmt: skip


def make_hit(number: int) -> search_service_pb2.SearchHit:
    """Return hit number n; its snippet has one match, and markup that must not be taken for markup."""
    text = f"Page {number} says <b>gerbil</b> & more."
    start = text.index("gerbil")
    snippet = search_service_pb2.Snippet(
        text=text, highlights=[search_service_pb2.TextRange(start=start, end=start + len("gerbil"))]
    )
    document = Document(
        url=f"https://docs.test/page/{number}", title=f"Page {number} <i>", language="en", last_seen_time=START
    )
    return search_service_pb2.SearchHit(document=document, score=9.5 - number / 1_000, snippet=snippet)


def make_image(number: int) -> Image:
    """Return image number n."""
    return Image(
        url=f"https://docs.test/image/{number}.png", alt=f"Image {number}",
        page_url=f"https://docs.test/page/{number}", page_title=f"Page {number}",
    )  # fmt: skip


def make_entry(
    number: int, code: CrawlExitCode = CrawlExitCode.CRAWL_EXIT_CODE_FILE_INGESTED
) -> crawl_service_pb2.CrawlLogEntry:
    """Return log entry number n."""
    return crawl_service_pb2.CrawlLogEntry(
        uuid=f"0193-{number}", url=f"https://docs.test/page/{number}", crawl_type=CrawlType.CRAWL_TYPE_FILE,
        exit_code=code, start_time=START, http_status=200, run_id=4, attempt=1, body_bytes=5_120,
    )  # fmt: skip


def make_status(daemon: FakeDaemon) -> status_service_pb2.Status:
    """Return a status in which every number is different, so that no two can be mixed up."""
    summary = status_service_pb2.CrawlRunSummary(
        run_id=4, state=daemon.run.state, counts=daemon.run.counts, max_frontier=1_000_000, budget_left_count=988,
        active_time=Duration(seconds=6),
    )  # fmt: skip
    ended = status_service_pb2.CrawlRunSummary(
        run_id=3, state=crawl_service_pb2.CRAWL_RUN_STATE_COMPLETED, reason=crawl_service_pb2.CRAWL_RUN_REASON_DRAINED,
        end_time=START,
        counts=crawl_service_pb2.CrawlCounts(failed_count=1, exit_code_counts={44: 1, 100: 10, 49: 2, 50: 3}),
    )  # fmt: skip
    return status_service_pb2.Status(
        version="0.1.0", start_time=START,
        index=status_service_pb2.IndexStatus(
            document_count=3_214, term_count=91_000, term_count_exact=False, generation=17, view_generation=16,
            checkpoint_generation=15, segment_count=5, volatile_segment_count=2, changed_document_count=120,
            changed_document_limit=1_000, query_engine="hybrid", is_merging=True, is_dirty=True,
            segment_bytes=6_291_456, total_length=1_500_000,
        ),
        crawler=status_service_pb2.CrawlerStatus(
            is_running=True, runs=[summary], recent_runs=[ended], robots_cache_count=3, origin_deadline_count=11,
            in_flight_count=6, parser_count=2, parser_failure_count=1, requests_per_second=2.5,
            waiting_origin_counts={"blamed": 2},
        ),
        store=status_service_pb2.StoreStatus(
            page_count=3_300, url_count=12_345, origin_count=12, blob_count=3_290, blob_bytes=52_428_800,
            metadata_bytes=8_388_608, schema_version=1, free_bytes=10_737_418_240,
        ),
        processes=[
            status_service_pb2.ProcessStatus(kind="serve", pid=101, is_up=True, memory_bytes=73_400_320),
            status_service_pb2.ProcessStatus(kind="ingest", pid=102, is_up=True, memory_bytes=94_371_840),
            status_service_pb2.ProcessStatus(kind="parse", pid=103, is_up=True, restart_count=1, memory_bytes=1_048),
        ],
        limits={"query_chars": 1_024, "search_page_window": 100_000}, admin_mode=daemon.admin_mode,
        has_admin_token=bool(daemon.token),
    )  # fmt: skip


def _index_state() -> index_service_pb2.IndexState:
    return index_service_pb2.IndexState(generation=17, checkpoint_generation=17, segment_count=1, document_count=3_214)


def _progress(stage: str, faults: list[str]) -> Iterator[index_service_pb2.IndexProgress]:
    for done in (0, 5):
        yield index_service_pb2.IndexProgress(stage=stage, done_count=done, total_count=10)
    yield index_service_pb2.IndexProgress(
        stage=stage, done_count=10, total_count=10, done=True, faults=faults, state=_index_state()
    )


def _abort(context: grpc.ServicerContext, fault: Fault) -> None:
    trailing = [("jird-reason", fault.reason)] if fault.reason else []
    if fault.retry_after_ms:
        trailing.append(("jird-retry-after-ms", str(fault.retry_after_ms)))
    context.set_trailing_metadata(tuple(trailing))
    context.abort(fault.code, fault.message)
