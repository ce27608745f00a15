"""`jirdctl status` and `jirdctl debug`: how the daemon is."""

from typing import TYPE_CHECKING

import click

from jird_cli.failure import FailureError
from jird_cli.invocation import Invocation, json_option, pass_invocation

if TYPE_CHECKING:
    from jird.v1.status_service_pb2 import GuardStatus, ProcessStatus, Status


@click.command()
@json_option
@pass_invocation
def status(invocation: Invocation) -> None:
    """Show what the engine holds and does."""
    from jird.v1.status_service_pb2 import GetStatusRequest

    with invocation.daemon(public=True) as client:
        answer = client.call(client.stubs.status.GetStatus, GetStatusRequest())
        invocation.answer_message(answer, _status(answer))


def _status(answer: "Status") -> str:
    from jird_cli.layout import facts, moment, table
    from jird_client.text import size

    index, store, crawler = answer.index, answer.store, answer.crawler
    runs = ", ".join(f"run {run.run_id} ({run.counts.queued_count:,} queued)" for run in crawler.runs)
    segments = "segment" if index.segment_count == 1 else "segments"
    text = facts(
        [
            ("version", f"{answer.version}, up since {moment(answer.start_time)}"),
            ("documents", f"{index.document_count:,} can be found"),
            ("terms", f"{'' if index.term_count_exact else 'at most '}{index.term_count:,}"),
            ("index", f"{index.segment_count} {segments}, {size(index.segment_bytes)}{_index_work(answer)}"),
            ("generation", f"{index.generation}, durable up to {index.checkpoint_generation}"),
            ("crawler", runs or "idle"),
            ("guard", crawler.guard),
            ("held back", _held_back(crawler.guards)),
            ("in flight", str(crawler.in_flight_count or "")),
            ("known", f"{store.url_count:,} URLs, {store.page_count:,} pages, {store.origin_count:,} origins"),
            ("content", f"{store.blob_count:,} blobs, {size(store.blob_bytes)}"),
            ("metadata", size(store.metadata_bytes)),
            ("free on disk", size(store.free_bytes)),
            ("admin over HTTP", answer.admin_mode),
        ]
    )
    head = ("process", "pid", "state", "memory", "restarts")
    return f"{text}\n\n{table(head, [_process(process) for process in answer.processes])}"


def _held_back(guards: "GuardStatus") -> str:
    """How often and how long the guards paused intake; empty when they never did."""
    if not guards.pause_count:
        return ""
    return f"{guards.pause_count:,} times by guards, {guards.paused.ToSeconds():,} s in all"


def _index_work(answer: "Status") -> str:
    named = (
        (answer.index.is_merging, "merging"),
        (answer.index.is_rebuilding, "rebuilding"),
        (answer.index.merge_failed, "the last merge FAILED"),
    )
    return "".join(f", {name}" for is_so, name in named if is_so)


def _process(process: "ProcessStatus") -> tuple[str, ...]:
    from jird_client.text import size

    state = "up" if process.is_up else "down"
    return process.kind, str(process.pid), state, size(process.memory_bytes), str(process.restart_count)


@click.group()
def debug() -> None:
    """Check the running daemon."""


@debug.command("url")
@click.argument("url", metavar="URL")
@click.option("--run", "run_id", type=click.IntRange(min=1), help="For this run.  [default: the newest that knows it]")
@json_option
@pass_invocation
def debug_url(invocation: Invocation, url: str, run_id: int | None) -> None:
    """Say why a URL is, or is not, crawled: each rule in order and what it says.

    \b
    Examples:
      jirdctl debug url 'https://docs.example.org/page?sort=up'
      jirdctl debug url https://docs.example.org/ --run 4 --json
    """
    from jird.v1.crawl_service_pb2 import ExplainUrlRequest
    from jird_cli.explanation import explanation_report

    with invocation.daemon() as client:
        answer = client.call(client.stubs.crawl.ExplainUrl, ExplainUrlRequest(url=url, run_id=run_id or 0))
        invocation.answer_message(answer, explanation_report(answer))


@debug.command("explain")
@click.argument("query", metavar="QUERY")
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="Hits to explain.")
@click.option("--url", default="", help="Explain this page instead, found or not.")
@json_option
@pass_invocation
def debug_explain(invocation: Invocation, query: str, limit: int, url: str) -> None:
    """Say how a query is answered: how it is read, the plan, what is skipped, and what each score is made of.

    \b
    Examples:
      jirdctl debug explain "red fox"
      jirdctl debug explain "red fox site:docs.example.org" --limit 2 --json
      jirdctl debug explain "red fox" --url https://docs.example.org/animals
    """
    from jird.v1.index_service_pb2 import ExplainQueryRequest
    from jird_cli.query_explanation import query_report

    with invocation.daemon() as client:
        request = ExplainQueryRequest(query=query, limit=limit, url=url)
        answer = client.call(client.stubs.index.ExplainQuery, request)
        invocation.answer_message(answer, query_report(answer))


@debug.command()
@json_option
@pass_invocation
def sandbox(invocation: Invocation) -> None:
    """Let a parse worker try what is forbidden to it; exit code 1 unless every attempt is refused."""
    from jird.v1.status_service_pb2 import ProbeParsersRequest
    from jird_cli.layout import table
    from jird_client.channel import WORK_TIMEOUT_S

    with invocation.daemon() as client:
        answer = client.call(client.stubs.status.ProbeParsers, ProbeParsersRequest(), WORK_TIMEOUT_S)
        rows = [(probe.name, "refused" if probe.is_refused else "ALLOWED", probe.detail) for probe in answer.probes]
        invocation.answer_message(answer, table(("attempt", "result", "detail"), rows))
    leaks = [probe.name for probe in answer.probes if not probe.is_refused]
    if leaks or not answer.probes:
        raise FailureError(f"the sandbox let through: {', '.join(leaks) or 'no probe was run'}", "SANDBOX_LEAK")


@debug.command()
@click.argument("url")
@json_option
@pass_invocation
def indexiness(invocation: Invocation, url: str) -> None:
    """Show whether a page counts as a list of other pages (above 0) or as a leaf (below), and why."""
    from jird.v1.crawl_service_pb2 import GetIndexinessRequest
    from jird_cli.layout import table

    with invocation.daemon() as client:
        answer = client.call(client.stubs.crawl.GetIndexiness, GetIndexinessRequest(url=url))
        rows = [
            (part.name.replace("_", " "), str(part.count), str(part.weight), str(part.count * part.weight))
            for part in answer.parts
        ]
        text = f"{table(('counted', 'count', 'weight', 'part'), rows)}\n\nindexiness {answer.score}"
        invocation.answer_message(answer, text)
