"""The services over real sockets: answers, codes and reasons, bounds, and who may call what."""

import asyncio
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import ParseDict
from google.protobuf.timestamp_pb2 import Timestamp
from grpc import StatusCode, aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird.v1 import crawl_service_pb2_grpc as crawl_grpc
from jird.v1 import index_service_pb2 as index_pb
from jird.v1 import index_service_pb2_grpc as index_grpc
from jird.v1 import search_service_pb2 as search_pb
from jird.v1 import search_service_pb2_grpc as search_grpc
from jird.v1 import status_service_pb2 as status_pb
from jird.v1 import status_service_pb2_grpc as status_grpc
from jird_daemon.control import (
    Answer,
    Checkpoint,
    CollectGarbage,
    Compact,
    GarbageReport,
    Heartbeat,
    ProbeParsers,
    ProbeResult,
    Progress,
    PruneLog,
    PruneReport,
    SegmentRef,
    StartCrawl,
    StopCrawl,
    Verify,
    View,
)
from jird_daemon.errors import InvalidUrlError, StoreFullError, WrongStateError
from jird_daemon.rpc.paging import make_token
from jird_settings import Secret, Settings, Web

from .conftest import PAGES, SEED, START_S, TOKEN, Serving

DEADLINE_S = 10.0
VIEW = View(3, 9, 9, (SegmentRef("a.qix"),))
BEARER = (("authorization", f"Bearer {TOKEN}"),)


async def refused(call: Any) -> aio.AioRpcError:
    """The refusal of a call that must not succeed."""
    with pytest.raises(aio.AioRpcError) as caught:
        await call
    return caught.value


async def read_on(stream: Any) -> None:
    """Read a stream to its end."""
    while await stream.read() is not aio.EOF:
        pass


def reason_of(error: aio.AioRpcError) -> str:
    return str(dict(error.trailing_metadata()).get("jird-reason", ""))


async def test_search_finds_ranks_and_explains(serving: Serving) -> None:
    search = serving.stub(search_grpc.SearchServiceStub)
    answer = await search.Search(search_pb.SearchRequest(query="apples"), timeout=DEADLINE_S)
    assert [hit.document.url for hit in answer.hits] == ["https://a.test/apples", "https://a.test/pears"]
    first = answer.hits[0]
    assert first.document.title == "Apples"
    assert first.document.language == "en"
    assert first.document.first_seen_time.seconds == START_S
    assert first.score > answer.hits[1].score > 0
    marked = [first.snippet.text[part.start : part.end] for part in first.snippet.highlights]
    assert "Apples" in marked
    assert (answer.query, answer.limit, answer.offset, answer.match_count, answer.has_more) == (
        "apples",
        20,
        0,
        2,
        False,
    )
    assert answer.took_us > 0


async def test_search_pages_within_its_caps(serving: Serving) -> None:
    """J75, J76: limit and offset are lowered to their caps, and the answer shows what is in effect."""
    search = serving.stub(search_grpc.SearchServiceStub)
    answer = await search.Search(search_pb.SearchRequest(query="apples", limit=1), timeout=DEADLINE_S)
    assert answer.has_more
    answer = await search.Search(search_pb.SearchRequest(query="apples", limit=101, offset=1001), timeout=DEADLINE_S)
    assert (answer.limit, answer.offset, len(answer.hits)) == (100, 1000, 0)


async def test_explanation_agrees_with_the_search_and_names_what_a_page_lacks(serving: Serving) -> None:
    search = serving.stub(search_grpc.SearchServiceStub)
    index = serving.stub(index_grpc.IndexServiceStub, "admin")
    hits = (await search.Search(search_pb.SearchRequest(query="apples quinces"), timeout=DEADLINE_S)).hits
    found = await index.ExplainQuery(index_pb.ExplainQueryRequest(query="apples quinces"), timeout=DEADLINE_S)
    assert [(hit.url, hit.score) for hit in found.hits] == [(hit.document.url, hit.score) for hit in hits]
    for hit in found.hits:
        assert sum(part.score for part in hit.parts) == pytest.approx(hit.score)
        assert [found.nodes[part.node].text for part in hit.parts if not part.matches] == ["quinces"]
    assert (found.plan, found.decoded_posting_count, found.posting_count) == ("or", 2, 2)
    one = index_pb.ExplainQueryRequest(query="quinces", url="https://a.test/apples")
    (missed,) = (await index.ExplainQuery(one, timeout=DEADLINE_S)).hits
    assert (missed.url, missed.matches, missed.score) == ("https://a.test/apples", False, 0.0)
    unknown = index_pb.ExplainQueryRequest(query="apples", url="https://a.test/nowhere")
    error = await refused(index.ExplainQuery(unknown, timeout=DEADLINE_S))
    assert (error.code(), reason_of(error)) == (StatusCode.NOT_FOUND, "PAGE_NOT_INDEXED")


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (search_pb.SearchRequest(query="x" * 1_025), "QUERY_TOO_LONG"),
        (search_pb.SearchRequest(query="x" * 2_000), "QUERY_TOO_LONG"),
        (search_pb.SearchRequest(query="a\0b"), "QUERY_NOT_TEXT"),
        (search_pb.SearchRequest(query="\x1b[2J\x07"), "QUERY_NOT_TEXT"),
        (search_pb.SearchRequest(query="a", limit=-1), "LIMIT"),
        (search_pb.SearchRequest(query="a", offset=-1), "OFFSET"),
    ],
)
async def test_bad_query_is_refused_with_its_reason(
    serving: Serving, request_: search_pb.SearchRequest, reason: str
) -> None:
    """J103: above 1,024 characters; control characters."""
    error = await refused(serving.stub(search_grpc.SearchServiceStub).Search(request_, timeout=DEADLINE_S))
    assert error.code() is StatusCode.INVALID_ARGUMENT
    assert reason_of(error) == reason


async def test_suggestions_and_pictures(serving: Serving) -> None:
    search = serving.stub(search_grpc.SearchServiceStub)
    suggestions = await search.Suggest(search_pb.SuggestRequest(query="appl"), timeout=DEADLINE_S)
    assert "apples" in suggestions.completions
    pictures = await search.SearchImages(search_pb.SearchImagesRequest(query="apples"), timeout=DEADLINE_S)
    assert [image.url for image in pictures.images] == ["https://a.test/apples.png", "https://a.test/pears.png"]
    assert pictures.images[0].page_title == "Apples"
    assert (pictures.limit, pictures.offset) == (40, 0)


async def test_searches_beyond_the_bound_are_told_to_come_back(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F113: RESOURCE_EXHAUSTED at once, with a hint; status still answers."""
    gate = threading.Event()
    monkeypatch.setattr(serving.backend.searcher, "suggest", lambda text, limit: gate.wait(DEADLINE_S) and [])
    search = serving.stub(search_grpc.SearchServiceStub)
    calls = [search.Suggest(search_pb.SuggestRequest(query="a"), timeout=DEADLINE_S) for _ in range(2)]
    tasks = [asyncio.ensure_future(call) for call in calls]
    async with asyncio.timeout(DEADLINE_S):
        while serving.backend.searches.concurrent < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    error = await refused(search.Search(search_pb.SearchRequest(query="a"), timeout=DEADLINE_S))
    assert error.code() is StatusCode.RESOURCE_EXHAUSTED
    assert int(dict(error.trailing_metadata())["jird-retry-after-ms"]) > 0
    readiness = serving.stub(status_grpc.StatusServiceStub).GetReadiness
    assert (await readiness(status_pb.GetReadinessRequest(), timeout=DEADLINE_S)).is_ready
    gate.set()
    await asyncio.gather(*tasks)


async def test_deadline_of_the_caller_is_kept(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    monkeypatch.setattr(serving.backend.searcher, "suggest", lambda text, limit: gate.wait(DEADLINE_S) and [])
    call = serving.stub(search_grpc.SearchServiceStub).Suggest(search_pb.SuggestRequest(query="a"), timeout=0.1)
    assert (await refused(call)).code() is StatusCode.DEADLINE_EXCEEDED
    gate.set()


async def test_search_without_a_view_is_not_ready(serving: Serving) -> None:
    serving.backend.searcher.close()
    error = await refused(
        serving.stub(search_grpc.SearchServiceStub).Search(search_pb.SearchRequest(query="a"), timeout=DEADLINE_S)
    )
    assert (error.code(), reason_of(error)) == (StatusCode.UNAVAILABLE, "INDEX_NOT_READY")
    readiness = await serving.stub(status_grpc.StatusServiceStub).GetReadiness(
        status_pb.GetReadinessRequest(), timeout=DEADLINE_S
    )
    assert not readiness.is_ready
    assert readiness.reason == "the index is being opened or rebuilt"


async def test_failed_merge_shows_in_readiness(serving: Serving) -> None:
    """J86: not ready when background compaction failed."""
    view = serving.backend.searcher.view
    assert view is not None
    serving.backend.searcher.set_view(View(1, view.generation, view.generation, view.segments, merge_failed=True))
    readiness = await serving.stub(status_grpc.StatusServiceStub).GetReadiness(
        status_pb.GetReadinessRequest(), timeout=DEADLINE_S
    )
    assert (readiness.is_ready, readiness.reason) == (False, "a background merge of the index failed")
    assert readiness.generation == view.generation


async def test_start_crawl_tells_ingest_and_returns_the_run(serving: Serving) -> None:
    serving.ingest.answers[StartCrawl] = lambda request: Answer(run_ids=(4,))
    request = crawl_pb.StartCrawlRequest(
        seeds=[SEED], max_depth=0, scope=crawl_pb.CRAWL_SCOPE_OPEN, delay=Duration(nanos=250_000_000), name="mine"
    )
    run = await serving.stub(crawl_grpc.CrawlServiceStub, "admin").StartCrawl(request, timeout=DEADLINE_S)
    assert serving.ingest.told == [StartCrawl((SEED,), max_depth=0, max_pages=None, scope=3, delay_ms=250, name="mine")]
    assert run.run_id == 4
    assert run.state == crawl_pb.CRAWL_RUN_STATE_RUNNING


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (crawl_pb.StartCrawlRequest(), "SEED_COUNT"),
        (crawl_pb.StartCrawlRequest(seeds=[SEED] * 1_001), "SEED_COUNT"),
        (crawl_pb.StartCrawlRequest(seeds=["https://a.test/" + "x" * 4_096]), "URL_TOO_LONG"),
        (crawl_pb.StartCrawlRequest(seeds=[SEED], max_depth=33), "MAX_DEPTH"),
        (crawl_pb.StartCrawlRequest(seeds=[SEED], max_depth=-1), "MAX_DEPTH"),
        (crawl_pb.StartCrawlRequest(seeds=[SEED], max_pages=10_000_001), "MAX_PAGES"),
        (crawl_pb.StartCrawlRequest(seeds=[SEED], delay=Duration(seconds=601)), "DELAY"),
        (crawl_pb.StartCrawlRequest(seeds=[SEED], delay=Duration(seconds=-1)), "DELAY"),
        (crawl_pb.StartCrawlRequest(seeds=[SEED], scope=9), "SCOPE"),  # type: ignore[arg-type]
        (crawl_pb.StartCrawlRequest(seeds=[SEED], name="a\nb"), "NAME"),
        (crawl_pb.StartCrawlRequest(seeds=[SEED], name="x" * 201), "NAME"),
    ],
)
async def test_start_out_of_range_is_refused_before_ingest_is_asked(
    serving: Serving, request_: crawl_pb.StartCrawlRequest, reason: str
) -> None:
    """J55, J56, J57, J104: caps of a run's options and of seeds."""
    error = await refused(serving.stub(crawl_grpc.CrawlServiceStub, "admin").StartCrawl(request_, timeout=DEADLINE_S))
    assert (error.code(), reason_of(error)) == (StatusCode.INVALID_ARGUMENT, reason)
    assert serving.ingest.told == []


async def test_refused_seed_names_its_rule(serving: Serving) -> None:
    """J43, J44: what ingest refuses reaches the caller with rule and reason."""

    def refuse(request: object) -> Answer:
        raise InvalidUrlError("http://a.test/: scheme http, allowed: https", "URL_SCHEME")

    serving.ingest.answers[StartCrawl] = refuse
    call = serving.stub(crawl_grpc.CrawlServiceStub).StartCrawl(
        crawl_pb.StartCrawlRequest(seeds=["http://a.test/"]), metadata=BEARER, timeout=DEADLINE_S
    )
    error = await refused(call)
    assert (error.code(), reason_of(error)) == (StatusCode.INVALID_ARGUMENT, "URL_SCHEME")
    assert error.details() == "http://a.test/: scheme http, allowed: https"


async def test_missing_ingest_refuses_commands_while_search_answers(serving: Serving) -> None:
    """Search answers all the while that ingest is gone."""
    error = await refused(
        serving.stub(index_grpc.IndexServiceStub, "admin").Checkpoint(index_pb.CheckpointRequest(), timeout=DEADLINE_S)
    )
    assert (error.code(), reason_of(error)) == (StatusCode.UNAVAILABLE, "INGEST_STARTING")
    search = serving.stub(search_grpc.SearchServiceStub)
    assert (await search.Search(search_pb.SearchRequest(query="plums"), timeout=DEADLINE_S)).match_count == 1


async def test_stop_crawl_returns_the_runs_it_paused(serving: Serving) -> None:
    serving.ingest.answers[StopCrawl] = lambda request: Answer(run_ids=(2, 3))
    crawl = serving.stub(crawl_grpc.CrawlServiceStub, "admin")
    answer = await crawl.StopCrawl(crawl_pb.StopCrawlRequest(), timeout=DEADLINE_S)
    assert [run.run_id for run in answer.runs] == [2, 3]
    error = await refused(crawl.StopCrawl(crawl_pb.StopCrawlRequest(run_id=99), timeout=DEADLINE_S))
    assert (error.code(), reason_of(error)) == (StatusCode.NOT_FOUND, "RUN_UNKNOWN")


async def test_runs_are_listed_newest_first_in_pages(serving: Serving) -> None:
    crawl = serving.stub(crawl_grpc.CrawlServiceStub, "admin")
    first = await crawl.ListCrawlRuns(crawl_pb.ListCrawlRunsRequest(page_size=3), timeout=DEADLINE_S)
    assert [run.run_id for run in first.runs] == [4, 3, 2]
    second = await crawl.ListCrawlRuns(
        crawl_pb.ListCrawlRunsRequest(page_size=3, page_token=first.next_page_token), timeout=DEADLINE_S
    )
    assert [run.run_id for run in second.runs] == [1]
    assert second.next_page_token == ""
    run = second.runs[0]
    assert (run.name, run.state, run.reason) == (
        "run 1",
        crawl_pb.CRAWL_RUN_STATE_COMPLETED,
        crawl_pb.CRAWL_RUN_REASON_DRAINED,
    )
    assert run.scope_reached
    assert run.counts.exit_code_counts == {20: 5, 44: 2}
    assert run.active_time.ToMilliseconds() == 9_500
    for token in ("x", make_token(("runs",), -1), make_token(("runs",), "5")):
        error = await refused(crawl.ListCrawlRuns(crawl_pb.ListCrawlRunsRequest(page_token=token), timeout=DEADLINE_S))
        assert (error.code(), reason_of(error)) == (StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN")


async def test_watch_ends_with_the_final_state(serving: Serving) -> None:
    crawl = serving.stub(crawl_grpc.CrawlServiceStub, "admin")
    serving.ingest.heartbeat = Heartbeat(in_flight_by_run={1: 4})  # of a moment before the run's end
    updates = [
        update async for update in crawl.WatchCrawlRun(crawl_pb.WatchCrawlRunRequest(run_id=1), timeout=DEADLINE_S)
    ]
    assert [update.run.state for update in updates] == [crawl_pb.CRAWL_RUN_STATE_COMPLETED]
    assert updates[0].run.counts.in_flight_count == 0


async def test_watch_of_a_running_run_ends_when_the_daemon_stops(serving: Serving) -> None:
    """J45: a stream that could last for days does not hold up the stop."""
    serving.ingest.heartbeat = Heartbeat(in_flight_by_run={4: 2}, requests_per_second=12.5, guard="little memory")
    stream = serving.stub(crawl_grpc.CrawlServiceStub, "admin").WatchCrawlRun(
        crawl_pb.WatchCrawlRunRequest(run_id=4), timeout=DEADLINE_S
    )
    update = await stream.read()
    assert (update.run.counts.in_flight_count, update.requests_per_second) == (2, 12.5)
    assert update.guard == "little memory"
    assert update.run.budget_left_count == update.run.max_pages - update.run.counts.request_count
    serving.backend.stopping.set()
    with pytest.raises(aio.AioRpcError) as caught:
        await read_on(stream)
    assert (caught.value.code(), reason_of(caught.value)) == (StatusCode.UNAVAILABLE, "SHUTTING_DOWN")


async def test_page_is_shown_and_an_unknown_one_is_not_found(serving: Serving) -> None:
    crawl = serving.stub(crawl_grpc.CrawlServiceStub, "admin")
    url = "https://a.test/apples"
    page = await crawl.GetPage(
        crawl_pb.GetPageRequest(url="HTTPS://A.test:443/./apples", with_text=True), timeout=DEADLINE_S
    )
    assert (page.document.url, page.text) == (url, PAGES[url][1])
    error = await refused(crawl.GetPage(crawl_pb.GetPageRequest(url="https://none.test/"), timeout=DEADLINE_S))
    assert (error.code(), reason_of(error)) == (StatusCode.NOT_FOUND, "PAGE_UNKNOWN")
    error = await refused(crawl.GetPage(crawl_pb.GetPageRequest(url="not a url"), timeout=DEADLINE_S))
    assert error.code() is StatusCode.INVALID_ARGUMENT


async def test_log_is_empty_and_checks_its_filters(serving: Serving) -> None:
    crawl = serving.stub(crawl_grpc.CrawlServiceStub, "admin")
    answer = await crawl.ListCrawlLogEntries(crawl_pb.ListCrawlLogEntriesRequest(host="a.test"), timeout=DEADLINE_S)
    assert list(answer.entries) == []
    late = crawl_pb.ListCrawlLogEntriesRequest(start_time=Timestamp(seconds=2**62))
    assert reason_of(await refused(crawl.ListCrawlLogEntries(late, timeout=DEADLINE_S))) == "START_TIME"
    error = await refused(crawl.ListCrawlLogEntries(crawl_pb.ListCrawlLogEntriesRequest(uuid="7"), timeout=DEADLINE_S))
    assert (error.code(), reason_of(error)) == (StatusCode.INVALID_ARGUMENT, "UUID_MALFORMED")


async def test_checkpoint_answers_with_the_state_of_the_index(serving: Serving) -> None:
    """J90: generation and checkpoint generation, and no path."""
    serving.ingest.answers[Checkpoint] = lambda request: Answer(view=VIEW)
    state = await serving.stub(index_grpc.IndexServiceStub).Checkpoint(
        index_pb.CheckpointRequest(), metadata=BEARER, timeout=DEADLINE_S
    )
    assert (state.generation, state.checkpoint_generation, state.segment_count, state.document_count) == (3, 9, 1, 3)


async def test_compaction_streams_its_progress(serving: Serving) -> None:
    """J92."""
    serving.ingest.answers[Compact] = lambda request: Answer(view=VIEW)
    serving.ingest.steps = [Progress(1, "merge", 1, 3), Progress(1, "merge", 3, 3)]
    stream = serving.stub(index_grpc.IndexServiceStub).Compact(
        index_pb.CompactRequest(), metadata=BEARER, timeout=DEADLINE_S
    )
    steps = [step async for step in stream]
    assert [(step.stage, step.done_count, step.total_count, step.done) for step in steps] == [
        ("merge", 1, 3, False),
        ("merge", 3, 3, False),
        ("merge", 3, 3, True),
    ]
    assert steps[-1].state.checkpoint_generation == 9


async def test_pruning_of_the_crawl_log_streams_its_progress_and_its_report(serving: Serving) -> None:
    """U123."""
    serving.ingest.answers[PruneLog] = lambda request: Answer(pruned=PruneReport(9, 4, 2))
    serving.ingest.steps = [Progress(1, "entries looked at", 5)]
    stub = serving.stub(crawl_grpc.CrawlServiceStub, "admin")
    request = crawl_pb.PruneCrawlLogRequest(keep_latest=3, apply=True)
    steps = [step async for step in stub.PruneCrawlLog(request, timeout=DEADLINE_S)]
    assert [(step.entry_count, step.forgotten_count, step.done) for step in steps] == [(5, 0, False), (9, 4, True)]
    assert (steps[1].url_count, steps[1].applied) == (2, True)
    with pytest.raises(aio.AioRpcError) as caught:
        await stub.PruneCrawlLog(crawl_pb.PruneCrawlLogRequest(), timeout=DEADLINE_S).read()
    assert (caught.value.code(), reason_of(caught.value)) == (StatusCode.INVALID_ARGUMENT, "KEEP_LATEST")


async def test_explanation_of_a_url_is_for_administrators(serving: Serving) -> None:
    """From the store alone; what is unknown is said to be."""
    request = crawl_pb.ExplainUrlRequest(url="https://never-met.test/a")
    answer = await serving.stub(crawl_grpc.CrawlServiceStub, "admin").ExplainUrl(request, timeout=DEADLINE_S)
    outcomes = {verdict.rule: verdict.outcome for verdict in answer.verdicts}
    assert outcomes["robots"] == crawl_pb.RULE_OUTCOME_UNKNOWN
    with pytest.raises(aio.AioRpcError) as caught:
        await serving.stub(crawl_grpc.CrawlServiceStub).ExplainUrl(request, metadata=BEARER, timeout=DEADLINE_S)
    assert caught.value.code() in (StatusCode.PERMISSION_DENIED, StatusCode.UNIMPLEMENTED)


async def test_rules_of_a_crawl_file_reach_ingest_and_faults_do_not(serving: Serving) -> None:
    """U113, U110: a criterium that means nothing is refused with its place."""
    serving.ingest.answers[StartCrawl] = lambda request: Answer(run_ids=(1,))
    stub = serving.stub(crawl_grpc.CrawlServiceStub, "admin")
    request = crawl_pb.StartCrawlRequest(seeds=[SEED], force_recrawl=True, state_path="a/b")
    request.recrawl_interval.FromSeconds(60)
    policy = request.rules.do_not_crawl.add(reason="r")
    ParseDict({"url": {"port": {"in_list": [80, 8080]}}}, policy.criterium)
    await stub.StartCrawl(request, timeout=DEADLINE_S)
    command = serving.ingest.told[-1]
    assert isinstance(command, StartCrawl)
    assert (command.recrawl_interval_s, command.force_recrawl, command.state_path) == (60, True, "a/b")
    assert command.rules is not None
    assert command.rules.do_not_crawl[0].criterium == {"url": {"port": {"in_list": [80, 8080]}}}
    ParseDict({"url": {"prt": "is_none"}}, policy.criterium)
    with pytest.raises(aio.AioRpcError) as caught:
        await stub.StartCrawl(request, timeout=DEADLINE_S)
    assert (caught.value.code(), reason_of(caught.value)) == (StatusCode.INVALID_ARGUMENT, "POLICY")
    assert "do_not_crawl[1].if.url.prt" in str(caught.value.details())


async def test_compaction_that_runs_already_is_refused(serving: Serving) -> None:
    def refuse(request: object) -> Answer:
        raise WrongStateError("a full compaction is running", "COMPACTION_RUNNING")

    serving.ingest.answers[Compact] = refuse
    stream = serving.stub(index_grpc.IndexServiceStub, "admin").Compact(index_pb.CompactRequest(), timeout=DEADLINE_S)
    with pytest.raises(aio.AioRpcError) as caught:
        await stream.read()
    assert (caught.value.code(), reason_of(caught.value)) == (StatusCode.FAILED_PRECONDITION, "COMPACTION_RUNNING")


async def test_caller_that_leaves_cancels_long_work(serving: Serving) -> None:
    serving.ingest.answers[Compact] = lambda request: Answer(view=VIEW)
    serving.ingest.steps = [Progress(1, "merge", 1, 3)]
    serving.ingest.gate = asyncio.Event()
    stream = serving.stub(index_grpc.IndexServiceStub, "admin").Compact(index_pb.CompactRequest(), timeout=DEADLINE_S)
    assert (await stream.read()).stage == "merge"
    stream.cancel()
    async with asyncio.timeout(DEADLINE_S):
        while not serving.ingest.cancelled:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_damage_found_by_verification_is_data_loss_after_the_list(serving: Serving) -> None:
    serving.ingest.answers[Verify] = lambda request: Answer(view=VIEW, faults=("a.qix: offset 8: wrong hash",))
    stream = serving.stub(index_grpc.IndexServiceStub, "admin").Verify(index_pb.VerifyRequest(), timeout=DEADLINE_S)
    last = await stream.read()
    assert last.done
    assert list(last.faults) == ["a.qix: offset 8: wrong hash"]
    with pytest.raises(aio.AioRpcError) as caught:
        await stream.read()
    assert caught.value.code() is StatusCode.DATA_LOSS


async def test_garbage_is_collected_unless_a_crawl_runs(serving: Serving) -> None:
    """J93."""
    serving.ingest.answers[CollectGarbage] = lambda request: Answer(garbage=GarbageReport(3, 4_096))
    index = serving.stub(index_grpc.IndexServiceStub)
    answer = await index.CollectGarbage(index_pb.CollectGarbageRequest(), metadata=BEARER, timeout=DEADLINE_S)
    assert (answer.blob_count, answer.freed_bytes) == (3, 4_096)

    def refuse(request: object) -> Answer:
        raise WrongStateError("a crawl runs", "CRAWL_RUNNING")

    serving.ingest.answers[CollectGarbage] = refuse
    error = await refused(index.CollectGarbage(index_pb.CollectGarbageRequest(), metadata=BEARER, timeout=DEADLINE_S))
    assert (error.code(), reason_of(error)) == (StatusCode.FAILED_PRECONDITION, "CRAWL_RUNNING")


async def test_full_store_shows_its_path_to_admins_only(serving: Serving) -> None:
    """J82: no path on search.sock."""

    def refuse(request: object) -> Answer:
        raise StoreFullError("/var/lib/jird: no space left on device", "DISK_FULL")

    serving.ingest.answers[Checkpoint] = refuse
    public = await refused(
        serving.stub(index_grpc.IndexServiceStub).Checkpoint(
            index_pb.CheckpointRequest(), metadata=BEARER, timeout=DEADLINE_S
        )
    )
    admin = await refused(
        serving.stub(index_grpc.IndexServiceStub, "admin").Checkpoint(index_pb.CheckpointRequest(), timeout=DEADLINE_S)
    )
    assert (public.code(), reason_of(public)) == (StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL")
    assert "/var/lib" not in (public.details() or "")
    assert "/var/lib/jird" in (admin.details() or "")


async def test_probes_of_the_parsers_are_passed_on(serving: Serving) -> None:
    serving.ingest.answers[ProbeParsers] = lambda request: Answer(probes=(ProbeResult("connect", True, "EPERM"),))
    answer = await serving.stub(status_grpc.StatusServiceStub, "admin").ProbeParsers(
        status_pb.ProbeParsersRequest(), timeout=DEADLINE_S
    )
    assert [(probe.name, probe.is_refused, probe.detail) for probe in answer.probes] == [("connect", True, "EPERM")]


async def test_status_tells_what_is_held_and_done(serving: Serving) -> None:
    """J79, J80, J83: index, crawler, stores, processes."""
    serving.ingest.heartbeat = Heartbeat(active_run_ids=(4,), in_flight=2, robots_cached=3, parser_pids=(os.getpid(),))
    serving.ingest.pid = os.getpid()
    serving.ingest.restart_count = 2
    status = await serving.stub(status_grpc.StatusServiceStub).GetStatus(
        status_pb.GetStatusRequest(), timeout=DEADLINE_S
    )
    assert (status.index.document_count, status.index.segment_count, status.index.query_engine) == (3, 1, "mapped")
    assert (status.index.generation, status.index.checkpoint_generation, status.index.is_dirty) == (3, 3, False)
    assert status.index.term_count_exact
    assert status.index.term_count > 0
    assert status.crawler.is_running
    assert [(run.run_id, run.max_frontier) for run in status.crawler.runs] == [(4, 1_000)]
    assert status.crawler.robots_cache_count == 3
    assert (status.store.page_count, status.store.schema_version) == (3, 1)
    assert status.store.free_bytes > 0
    assert [(process.kind, process.is_up) for process in status.processes] == [
        ("serve", True), ("ingest", True), ("parse", True),
    ]  # fmt: skip
    assert status.processes[1].restart_count == 2
    assert (status.admin_mode, status.has_admin_token) == ("token", True)


async def test_status_tells_how_the_latest_runs_ended(serving: Serving) -> None:
    """J83: whoever started a crawl in a browser sees afterwards what became of it."""
    status = await serving.stub(status_grpc.StatusServiceStub).GetStatus(
        status_pb.GetStatusRequest(), timeout=DEADLINE_S
    )
    recent = status.crawler.recent_runs
    assert [run.run_id for run in recent] == [3, 2, 1]  # run 4 is RUNNING
    assert recent[0].reason == crawl_pb.CRAWL_RUN_REASON_DRAINED
    assert recent[0].end_time.seconds > 0
    assert dict(recent[0].counts.exit_code_counts) == {20: 5, 44: 2}


async def test_status_is_not_running_when_ingest_is_gone(serving: Serving) -> None:
    """F99: a run that a killed process left as running is not shown as running."""
    status = await serving.stub(status_grpc.StatusServiceStub).GetStatus(
        status_pb.GetStatusRequest(), timeout=DEADLINE_S
    )
    assert not status.crawler.is_running
    assert not status.processes[1].is_up


async def test_status_holds_no_secret_seed_or_path(serving: Serving, filled: Path) -> None:
    """J82, J99."""
    serving.ingest.heartbeat = Heartbeat(active_run_ids=(4,))
    status = await serving.stub(status_grpc.StatusServiceStub).GetStatus(
        status_pb.GetStatusRequest(), timeout=DEADLINE_S
    )
    text = str(status)
    for hidden in (TOKEN, SEED, str(filled), str(serving.run_dir)):
        assert hidden not in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("query_chars", 1_024),  # J103
        ("query_terms", 32),  # J158
        ("query_token_scan", 256),
        ("search_page_window", 100_000),  # J159
        ("snippet_scan_chars", 65_536),  # J160
        ("snippet_terms", 8),
        ("robots_body_bytes", 524_288),  # J119
        ("robots_rule_limit", 10_000),
        ("robots_agent_group_limit", 256),
        ("robots_line_chars", 8_192),
        ("robots_cache_capacity", 128),
        ("page_body_bytes", 4_194_304),  # J127
        ("sitemap_body_bytes", 4_194_304),
        ("sitemap_location_limit", 50_000),
        ("sitemap_depth_limit", 3),
        ("frontier_error_chars", 4_096),  # J153
        ("document_tokens", 50_000),  # J157
        ("term_chars", 128),
        ("document_nodes", 100_000),  # J161
        ("document_depth", 256),
        ("document_text_chars", 2_097_152),
        ("document_links", 10_000),
        ("document_title_chars", 1_024),  # J162
        ("directive_chars", 8_192),  # J163
        ("seed_chars", 4_096),  # J104
        ("crawl_max_attempts", 3),  # J152
        ("crawl_retry_base_ms", 1_000),
        ("crawl_retry_max_ms", 60_000),
        ("web_max_connections", 128),  # J81
    ],
)
async def test_status_names_every_limit(serving: Serving, name: str, value: int) -> None:
    """J81, J104, J119, J127, J152, J153, J157, J158, J159, J160, J161, J162, J163: under fixed names."""
    status = await serving.stub(status_grpc.StatusServiceStub).GetStatus(
        status_pb.GetStatusRequest(), timeout=DEADLINE_S
    )
    assert status.limits[name] == value


@pytest.mark.parametrize(
    ("settings", "metadata", "code", "reason"),
    [
        (Settings(admin_token=Secret(TOKEN)), (), StatusCode.UNAUTHENTICATED, "ADMIN_TOKEN_NEEDED"),
        (
            Settings(admin_token=Secret(TOKEN)),
            (("authorization", "Bearer x"),),
            StatusCode.UNAUTHENTICATED,
            "ADMIN_TOKEN_WRONG",
        ),
        (
            Settings(admin_token=Secret(TOKEN)),
            (("jird-admin-local", "1"),),
            StatusCode.UNAUTHENTICATED,
            "ADMIN_TOKEN_NEEDED",
        ),
        (Settings(), BEARER, StatusCode.PERMISSION_DENIED, "ADMIN_TOKEN_MISSING"),
        (Settings(web=Web(admin="off"), admin_token=Secret(TOKEN)), BEARER, StatusCode.PERMISSION_DENIED, "ADMIN_OFF"),
        (Settings(web=Web(admin="local")), (), StatusCode.PERMISSION_DENIED, "ADMIN_NOT_LOCAL"),
        (Settings(web=Web(admin="local")), (("jird-admin-local", "1"),), StatusCode.UNAVAILABLE, "INGEST_STARTING"),
        (Settings(admin_token=Secret(TOKEN)), BEARER, StatusCode.UNAVAILABLE, "INGEST_STARTING"),
    ],
)
async def test_admin_call_on_the_search_socket_needs_its_right(
    serving: Serving, settings: Settings, metadata: Any, code: StatusCode, reason: str
) -> None:
    """J96, F121: a call that is let through meets the stub's "not ready"; the others do not get so far."""
    serving.settings.append(settings)
    request = crawl_pb.StartCrawlRequest(seeds=[SEED])
    call = serving.stub(crawl_grpc.CrawlServiceStub).StartCrawl(request, metadata=metadata, timeout=DEADLINE_S)
    error = await refused(call)
    assert (error.code(), reason_of(error)) == (code, reason)
    assert bool(serving.ingest.told) is (code is StatusCode.UNAVAILABLE)


async def test_reading_calls_are_refused_on_the_search_socket(serving: Serving) -> None:
    """F121: runs and their seeds are for admins; the token opens the one call that the statistics need."""
    serving.settings.append(Settings(admin_token=Secret(TOKEN)))
    crawl = serving.stub(crawl_grpc.CrawlServiceStub)
    error = await refused(crawl.ListCrawlRuns(crawl_pb.ListCrawlRunsRequest(), metadata=BEARER, timeout=DEADLINE_S))
    assert (error.code(), reason_of(error)) == (StatusCode.PERMISSION_DENIED, "ADMIN_SOCKET_ONLY")
    request = crawl_pb.WatchCrawlRunRequest(run_id=4)
    with pytest.raises(aio.AioRpcError) as caught:
        await crawl.WatchCrawlRun(request, timeout=DEADLINE_S).read()
    assert (caught.value.code(), reason_of(caught.value)) == (StatusCode.UNAUTHENTICATED, "ADMIN_TOKEN_NEEDED")
    look = await crawl.WatchCrawlRun(request, metadata=BEARER, timeout=DEADLINE_S).read()
    assert look.run.run_id == 4


@pytest.mark.parametrize("which", ["search", "admin"])
async def test_health_and_reflection_are_on_both_sockets(serving: Serving, which: str) -> None:
    health = serving.stub(health_pb2_grpc.HealthStub, which)
    for service in ("", "jird.v1.SearchService"):
        answer = await health.Check(health_pb2.HealthCheckRequest(service=service), timeout=DEADLINE_S)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    call = serving.stub(reflection_pb2_grpc.ServerReflectionStub, which).ServerReflectionInfo(timeout=DEADLINE_S)
    await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    listed = await call.read()
    await call.done_writing()
    names = {service.name for service in listed.list_services_response.service}
    assert names >= {"jird.v1.SearchService", "jird.v1.CrawlService", "jird.v1.IndexService", "jird.v1.StatusService"}
    call.cancel()


async def test_health_says_not_serving_before_the_stop(serving: Serving) -> None:
    await serving.servers.set_ready(False)
    answer = await serving.stub(health_pb2_grpc.HealthStub).Check(health_pb2.HealthCheckRequest(), timeout=DEADLINE_S)
    assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING


async def test_calls_are_refused_once_the_daemon_stops(serving: Serving) -> None:
    serving.backend.stopping.set()
    error = await refused(
        serving.stub(search_grpc.SearchServiceStub).Search(search_pb.SearchRequest(query="a"), timeout=DEADLINE_S)
    )
    assert (error.code(), reason_of(error)) == (StatusCode.UNAVAILABLE, "SHUTTING_DOWN")


async def test_running_call_is_finished_before_the_end(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """J45: the listener stops accepting, and what runs is drained."""
    gate, begun = threading.Event(), threading.Event()

    def slow(text: str, limit: int) -> list[str]:
        begun.set()
        gate.wait(DEADLINE_S)
        return ["done"]

    monkeypatch.setattr(serving.backend.searcher, "suggest", slow)
    search = serving.stub(search_grpc.SearchServiceStub)
    running = asyncio.ensure_future(search.Suggest(search_pb.SuggestRequest(query="a"), timeout=DEADLINE_S))
    await asyncio.to_thread(begun.wait, DEADLINE_S)
    serving.backend.stopping.set()
    error = await refused(search.Suggest(search_pb.SuggestRequest(query="b"), timeout=DEADLINE_S))
    assert error.code() is StatusCode.UNAVAILABLE
    stopping = asyncio.create_task(serving.servers.stop(DEADLINE_S))
    gate.set()
    assert list((await running).completions) == ["done"]
    await stopping


async def test_message_above_the_bound_is_refused(serving: Serving) -> None:
    """F123: the bound is set on purpose; small for the frontend, large enough for a thousand seeds on admin.sock."""
    error = await refused(
        serving.stub(search_grpc.SearchServiceStub).Search(
            search_pb.SearchRequest(query="x" * 100_000), timeout=DEADLINE_S
        )
    )
    assert error.code() is StatusCode.RESOURCE_EXHAUSTED
    seeds = ["https://a.test/" + "\N{SNOWMAN}" * 4_000] * 1_000
    error = await refused(
        serving.stub(crawl_grpc.CrawlServiceStub, "admin").StartCrawl(
            crawl_pb.StartCrawlRequest(seeds=seeds), timeout=DEADLINE_S
        )
    )
    assert reason_of(error) == "INGEST_STARTING"


async def test_fault_of_ours_is_internal_and_says_nothing_to_strangers(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """J82."""

    def fail(*arguments: object) -> None:
        raise ZeroDivisionError("/secret/path")

    monkeypatch.setattr(serving.backend.searcher, "search", fail)
    error = await refused(
        serving.stub(search_grpc.SearchServiceStub).Search(search_pb.SearchRequest(query="a"), timeout=DEADLINE_S)
    )
    assert error.code() is StatusCode.INTERNAL
    assert "secret" not in (error.details() or "")
    assert "ZeroDivision" not in (error.details() or "")


def test_sockets_are_for_owner_and_group(serving: Serving) -> None:
    """F121."""
    for name in ("search.sock", "admin.sock"):
        assert stat.S_IMODE((serving.run_dir / name).stat().st_mode) == 0o660
