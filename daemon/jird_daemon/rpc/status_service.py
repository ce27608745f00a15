"""StatusService: what the engine holds and does. It is on search.sock too: no secret, seed, path or exception (J82)."""

import math
import os
from collections import Counter
from importlib.metadata import version
from itertools import islice

from jird.v1 import status_service_pb2 as status_pb
from jird.v1 import status_service_pb2_grpc as status_grpc
from jird_daemon.control import GuardFacts, ProbeParsers, View
from jird_daemon.frontier.runs import budget_left, scope_reached
from jird_daemon.log import get_logger
from jird_daemon.process_facts import read_process
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.convert import counts_message, duration, timestamp
from jird_daemon.rpc.gate import Context
from jird_daemon.rpc.limits import limits_in_effect
from jird_daemon.store.generations import FORGOTTEN_COUNT, PAST_BYTES, PAST_COUNT
from jird_daemon.store.pages import DOCUMENT_COUNT, DUPLICATE_COUNT, INDEX_GENERATION, PAGE_COUNT
from jird_daemon.store.tables import RUNS, SCHEMA_VERSION, Run, RunState
from jird_daemon.store.txn import BLOB_BYTES, BLOB_COUNT, Txn
from jird_daemon.store.urls import ORIGIN_COUNT, URL_COUNT

RUNS_MAX = 100  # the contract's numbers
RECENT_RUNS_MAX = 5
PROBE_TIMEOUT_S = 120.0  # the probes use up their memory and processor time before they are stopped
VERSION = version("jird")

_log = get_logger("rpc")


class StatusService(status_grpc.StatusServiceServicer):
    """See status_service.proto."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def GetStatus(self, request: status_pb.GetStatusRequest, context: Context) -> status_pb.Status:
        """Return counts, limits and settings."""
        backend = self._backend
        settings = backend.settings()
        status = await backend.read(self._from_store)
        status.version = VERSION
        status.store.free_bytes = backend.store.free_bytes
        status.store.metadata_bytes = backend.store.metadata_bytes
        self._add_crawler(status.crawler)
        await backend.reads.run(lambda: status.processes.extend(self._processes()))
        status.limits.update(limits_in_effect(settings))
        status.admin_mode = settings.web.admin
        status.has_admin_token = settings.admin_token is not None
        return status

    async def GetReadiness(self, request: status_pb.GetReadinessRequest, context: Context) -> status_pb.Readiness:
        """Say whether the current index view can be used (J86)."""
        view = self._backend.searcher.view
        found = status_pb.Readiness(
            query_engine=self._backend.searcher.status().query_engine, generation=view.generation if view else 0
        )
        try:
            await self._backend.read(lambda txn: txn.number(INDEX_GENERATION))
        except Exception as error:  # whatever it is, the answer is "not ready", and the operator's log says why
            _log.error("readiness.failed", message=f"{type(error).__name__}: {error}")
            found.reason = "the store cannot be read"
            return found
        if view is None:
            found.reason = "the index is being opened or rebuilt"
        elif view.merge_failed:
            found.reason = "a background merge of the index failed"
        found.is_ready = not found.reason
        return found

    async def ProbeParsers(
        self, request: status_pb.ProbeParsersRequest, context: Context
    ) -> status_pb.ProbeParsersResponse:
        """Have a parse worker try what it must not be able to do."""
        answer = await self._backend.ingest.call(ProbeParsers(), timeout_s=PROBE_TIMEOUT_S)
        return status_pb.ProbeParsersResponse(
            probes=[
                status_pb.ParserProbe(name=probe.name, is_refused=probe.is_refused, detail=probe.detail)
                for probe in answer.probes
            ]
        )

    def _from_store(self, txn: Txn) -> status_pb.Status:
        """The parts that one snapshot of the store tells."""
        backend = self._backend
        in_flight = backend.ingest.heartbeat.in_flight_by_run
        status = status_pb.Status(
            start_time=timestamp(backend.start_time_s),
            store=status_pb.StoreStatus(
                page_count=txn.number(PAGE_COUNT),
                url_count=txn.number(URL_COUNT),
                origin_count=txn.number(ORIGIN_COUNT),
                blob_count=txn.number(BLOB_COUNT),
                blob_bytes=txn.number(BLOB_BYTES),
                schema_version=SCHEMA_VERSION,
                past_generation_count=txn.number(PAST_COUNT),
                past_generation_bytes=txn.number(PAST_BYTES),
                duplicate_count=txn.number(DUPLICATE_COUNT),
                forgotten_generation_count=txn.number(FORGOTTEN_COUNT),
            ),
            index=self._index(txn.number(INDEX_GENERATION), txn.number(DOCUMENT_COUNT)),
        )
        for run_id in backend.ingest.heartbeat.active_run_ids[:RUNS_MAX]:
            run = txn.get(RUNS, run_id)
            if run is not None:
                status.crawler.runs.append(_summary(run_id, run, in_flight.get(run_id, 0)))
        newest = islice(txn.scan(RUNS, None, None, reverse=True), RUNS_MAX)
        ended = ((run_id, run) for run_id, run in newest if run.state != RunState.RUNNING)
        status.crawler.recent_runs.extend(_summary(run_id, run, 0) for run_id, run in islice(ended, RECENT_RUNS_MAX))
        return status

    def _index(self, generation: int, documents: int) -> status_pb.IndexStatus:
        backend = self._backend
        facts = backend.searcher.status()
        view = facts.view or View(0, 0, 0)
        return status_pb.IndexStatus(
            document_count=documents,
            term_count=facts.term_count,
            term_count_exact=facts.term_count_exact,
            generation=generation,
            view_generation=view.generation,
            checkpoint_generation=view.checkpoint_generation,
            segment_count=facts.segment_count,
            volatile_segment_count=facts.volatile_segment_count,
            changed_document_count=view.changed_documents,
            changed_document_limit=backend.settings().index.max_overlay_documents,
            query_engine=facts.query_engine,
            is_merging=view.is_merging,
            merge_failed=view.merge_failed,
            is_dirty=generation != view.checkpoint_generation,
            segment_bytes=facts.segment_bytes,
            is_rebuilding=view.is_rebuilding or facts.view is None,
            total_length=facts.total_length,
        )

    def _add_crawler(self, crawler: status_pb.CrawlerStatus) -> None:
        heartbeat = self._backend.ingest.heartbeat
        crawler.is_running = bool(heartbeat.active_run_ids)
        crawler.guard = heartbeat.guard
        crawler.robots_cache_count = heartbeat.robots_cached
        crawler.origin_deadline_count = heartbeat.origin_deadlines
        crawler.in_flight_count = heartbeat.in_flight
        crawler.parser_count = len(heartbeat.parser_pids)
        crawler.parser_failure_count = heartbeat.parser_failures
        crawler.requests_per_second = heartbeat.requests_per_second
        crawler.waiting_origin_counts.update(Counter(heartbeat.waiting_reasons.values()))
        crawler.guards.CopyFrom(_guards(heartbeat.guards))

    def _processes(self) -> list[status_pb.ProcessStatus]:
        ingest = self._backend.ingest
        found = [
            _process("serve", os.getpid(), restarts=0),
            _process("ingest", ingest.pid, restarts=ingest.restart_count),
        ]
        for position, pid in enumerate(ingest.heartbeat.parser_pids):
            # Restarts are counted for the pool: a worker that is replaced leaves its place, not its name.
            found.append(_process("parse", pid, restarts=0 if position else ingest.heartbeat.parser_restarts))
        return found


def _guards(facts: GuardFacts) -> status_pb.GuardStatus:
    return status_pb.GuardStatus(
        pause_count=facts.pauses,
        paused=duration(round(facts.paused_s * 1_000)),
        relief_count=facts.reliefs,
        memory_bytes=facts.memory_bytes,
        available_memory_bytes=facts.available_bytes,
        # A disk that does not answer has no time that could be told: the guard's name says it.
        commit_time=duration(round(facts.commit_s * 1_000)) if 0 < facts.commit_s < math.inf else None,
    )


def _summary(run_id: int, run: Run, in_flight: int) -> status_pb.CrawlRunSummary:
    return status_pb.CrawlRunSummary(
        run_id=run_id,
        state=int(run.state),  # type: ignore[arg-type]
        counts=counts_message(run, in_flight),
        max_frontier=run.max_frontier,
        reason=int(run.reason),  # type: ignore[arg-type]
        end_time=timestamp(run.end_time_s),
        budget_left_count=max(budget_left(run), 0),
        active_time=duration(int(run.active_s * 1_000)),
        scope_reached=scope_reached(run),
    )


def _process(kind: str, pid: int, *, restarts: int) -> status_pb.ProcessStatus:
    facts = read_process(pid) if pid else None
    if facts is None:
        return status_pb.ProcessStatus(kind=kind, restart_count=restarts)
    return status_pb.ProcessStatus(
        kind=kind,
        pid=pid,
        is_up=True,
        restart_count=restarts,
        memory_bytes=facts.memory_bytes,
        uptime=duration(int(facts.uptime_s * 1_000)),
    )
