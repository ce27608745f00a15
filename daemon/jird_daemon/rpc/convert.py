"""From records of the store to messages of the contract."""

import math
import uuid

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird.v1 import document_pb2 as document_pb
from jird_daemon.frontier.runs import budget_left, scope_reached
from jird_daemon.rpc.explain import Explanation, Verdict
from jird_daemon.store.tables import Generation, LogEntry, Page, Run, RunState


def timestamp(seconds: float | None) -> Timestamp | None:
    """Seconds since 1970 UTC; None and 0 mean unknown and leave the field unset."""
    if not seconds:
        return None
    whole = math.floor(seconds)
    return Timestamp(seconds=whole, nanos=int((seconds - whole) * 1_000) * 1_000_000)


def duration(milliseconds: int) -> Duration:
    """A length of time."""
    return Duration(seconds=milliseconds // 1_000, nanos=milliseconds % 1_000 * 1_000_000)


def counts_message(run: Run, in_flight: int) -> crawl_pb.CrawlCounts:
    """A run's counts, with what was in flight at the last heartbeat: nothing any more once the run has ended (F103)."""
    counts = run.counts
    return crawl_pb.CrawlCounts(
        request_count=counts.requests,
        ingested_count=counts.ingested,
        unchanged_count=counts.unchanged,
        redirect_count=counts.redirects,
        retired_count=counts.retired,
        failed_count=counts.failed,
        skipped_count=counts.skipped,
        queued_count=counts.queued,
        waiting_count=counts.waiting,
        in_flight_count=in_flight if run.state == RunState.RUNNING else 0,
        dropped_count=counts.dropped,
        beyond_depth_count=counts.beyond_depth,
        received_bytes=counts.received_bytes,
        discovered_count=counts.discovered,
        exit_code_counts=counts.exit_codes,
        sitemap_count=counts.sitemaps,
        foreign_location_count=counts.foreign_locations,
        held_count=counts.held,
        not_due_count=counts.not_due,
        refused_link_counts=counts.refused,
    )


def run_message(run_id: int, run: Run, in_flight: int, next_recrawl_ms: int | None = None) -> crawl_pb.CrawlRun:
    """A run with its seeds; `next_recrawl_ms`: when the daemon sets it going again, unix milliseconds."""
    return crawl_pb.CrawlRun(
        run_id=run_id,
        name=run.name,
        seeds=run.seeds,
        state=int(run.state),  # type: ignore[arg-type]
        reason=int(run.reason),  # type: ignore[arg-type]
        max_depth=run.max_depth,
        max_pages=run.max_pages,
        scope=int(run.scope),  # type: ignore[arg-type]
        create_time=timestamp(run.create_time_s),
        end_time=timestamp(run.end_time_s),
        counts=counts_message(run, in_flight),
        scope_reached=scope_reached(run),
        max_frontier=run.max_frontier,
        active_time=duration(int(run.active_s * 1_000)),
        recrawl_interval=duration(run.recrawl_interval_s * 1_000) if run.recrawl_interval_s else None,
        next_recrawl_time=None if next_recrawl_ms is None else timestamp(max(next_recrawl_ms, 1) / 1_000),
        round_count=run.rounds,
        round_time=timestamp(run.round_time_s),
        delay=None if run.delay_ms is None else duration(run.delay_ms),
        budget_left_count=max(budget_left(run), 0),
    )


def log_entry_message(key: bytes, entry: LogEntry, url: str) -> crawl_pb.CrawlLogEntry:
    """One entry of the crawl log under its UUID."""
    return crawl_pb.CrawlLogEntry(
        uuid=uuid_text(key),
        url=url,
        crawl_type=entry.crawl_type + 1,  # type: ignore[arg-type]  # 0 is "unspecified" in the contract
        exit_code=entry.exit_code,  # type: ignore[arg-type]
        start_time=timestamp(entry.start_time_s),
        duration=duration(entry.duration_ms),
        http_status=entry.http_status,
        message=entry.message,
        run_id=entry.run_id,
        attempt=entry.attempt,
        body_bytes=entry.body_bytes,
        etag=entry.etag,
        remote_address=entry.remote_address,
        agent_uuid=uuid_text(entry.agent_uuid),
        redirect_url=entry.redirect_url,
    )


def explanation_message(found: Explanation) -> crawl_pb.ExplainUrlResponse:
    """Why a URL is, or is not, crawled."""
    page = found.page
    answer = crawl_pb.ExplainUrlResponse(
        url=found.url,
        run_id=found.run_id,
        verdicts=[_verdict_message(verdict) for verdict in found.verdicts],
        next_time=timestamp(found.next_time_s),
    )
    if found.deciding is not None:
        answer.deciding.CopyFrom(_verdict_message(found.deciding))
    if page is not None:
        answer.http_status, answer.is_searchable = page.http_status, page.is_indexable
        answer.exit_code = page.exit_code  # type: ignore[assignment]
        if (fetched := timestamp(page.fetch_time_s)) is not None:
            answer.fetch_time.CopyFrom(fetched)
    return answer


def _verdict_message(verdict: Verdict) -> crawl_pb.RuleVerdict:
    outcome = f"RULE_OUTCOME_{verdict.outcome.upper()}"
    return crawl_pb.RuleVerdict(rule=verdict.rule, outcome=outcome, reason=verdict.reason, message=verdict.message)


def document_message(url: str, page: Page, last: Generation | None) -> document_pb.Document:
    """A page as a search result shows it; `last` is its newest generation."""
    return document_pb.Document(
        url=url,
        title=page.title or (page.headings[0] if page.headings else ""),
        description=page.description,
        language=page.language,
        last_seen_time=timestamp(last.last_seen_s if last else page.fetch_time_s),
        first_seen_time=timestamp(last.first_seen_s if last else None),
        published_time=timestamp(page.published_s),
        modified_time=timestamp(page.modified_s),
    )


def generation_message(generation: Generation, *, is_latest: bool) -> crawl_pb.Generation:
    """A stretch of time of a page; the latest one's text is the page's own."""
    return crawl_pb.Generation(
        uuid=uuid_text(generation.uuid),
        first_seen_time=timestamp(generation.first_seen_s),
        last_seen_time=timestamp(generation.last_seen_s),
        confirmed_end_time=timestamp(generation.confirmed_end_s),
        text_digest=generation.text_digest.hex(),
        content_digest=generation.content_digest.hex(),
        has_text=generation.has_text or (is_latest and bool(generation.text_digest)),
    )


def uuid_text(raw: bytes) -> str:
    """The text form of a UUID of 16 bytes; empty for none."""
    return str(uuid.UUID(bytes=raw)) if len(raw) == 16 else ""
