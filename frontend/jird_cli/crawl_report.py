"""Runs in words: one line while they run, a report when they end, and the exit code that follows."""

from collections.abc import Callable, Sequence

import click

from jird.v1.crawl_service_pb2 import (
    CRAWL_RUN_STATE_COMPLETED,
    CRAWL_RUN_STATE_PAUSED,
    CRAWL_RUN_STATE_RUNNING,
    CrawlLogEntry,
    CrawlRun,
    CrawlRunReason,
    CrawlRunState,
    CrawlScope,
    ListCrawlLogEntriesRequest,
    OriginQueue,
    WatchCrawlRunRequest,
    WatchCrawlRunResponse,
)
from jird_cli.failure import EXIT_CRAWL_INCOMPLETE, EXIT_DONE, EXIT_FAILED, FailureError
from jird_cli.invocation import Invocation
from jird_cli.layout import facts, moment, table
from jird_cli.progress import show_progress
from jird_client.channel import Client
from jird_client.errors import DaemonUnreachableError
from jird_client.exit_codes import exit_code_name
from jird_client.plain_data import enum_name
from jird_client.text import plain, readable_url, size
from jird_settings.kinds import words_of

# A daemon that systemd restarts is back in a few seconds, and goes on with its runs.
RESTART_WAIT_S = 30.0

# A run may have a thousand.
SEEDS_SHOWN = 5

# Why an origin is not asked now: the daemon's words, for people.
WAITING_WORDS = {
    "address_busy": "other origins on its address are being asked",
    "rate_limited": "it asked for a slower pace",
    "blamed": "it answered 401 or 403",
    "failing": "it gives no usable answer",
    "robots": "its robots.txt cannot be had",
}

Look = Callable[[WatchCrawlRunResponse], None]


def watch_to_end(invocation: Invocation, client: Client, run: CrawlRun, each_look: Look | None = None) -> int:
    """Follow a run until it ends, then report it.

    Args:
        invocation: How to answer.
        client: The daemon.
        run: The run as it is known now.
        each_look: Called for every message, in place of the report at the end.

    Returns:
        The exit code; EXIT_FAILED when the person stopped watching.

    Raises:
        FailureError: The run reached its end without a single document.
    """
    try:
        run = _follow(invocation, client, run, each_look)
    except KeyboardInterrupt:
        message = f"no longer watching; run {run.run_id} goes on (`jirdctl crawl stop {run.run_id}` stops it)"
        click.echo(message, err=True)
        return EXIT_FAILED
    if each_look is None:
        invocation.answer_message(run, run_report(run))
    if run.state != CRAWL_RUN_STATE_COMPLETED or not run.scope_reached:
        return EXIT_CRAWL_INCOMPLETE
    if not run.counts.ingested_count:
        raise FailureError(_why_nothing(client, run), "NOTHING_STORED")
    return EXIT_DONE


def _why_nothing(client: Client, run: CrawlRun) -> str:
    """What the last action of a run that stored nothing came to; with one seed, that is the reason."""
    request = ListCrawlLogEntriesRequest(run_id=run.run_id, page_size=1)
    last = next(iter(client.call(client.stubs.crawl.ListCrawlLogEntries, request).entries), None)
    ending = f"; the last it met: {_ended(last)}" if last is not None else ""
    return f"run {run.run_id} stored nothing{ending} (`jirdctl log query --run {run.run_id}` lists all)"


def _ended(entry: CrawlLogEntry) -> str:
    status = f" (HTTP {entry.http_status})" if entry.http_status else ""
    message = f": {plain(entry.message)}" if entry.message else ""
    return f"{readable_url(entry.url)}: {exit_code_name(entry.exit_code)}{status}{message}"


def _follow(invocation: Invocation, client: Client, run: CrawlRun, each_look: Look | None) -> CrawlRun:
    with show_progress(invocation.as_json) as update:
        while True:
            try:
                for look in client.stream(client.stubs.crawl.WatchCrawlRun, WatchCrawlRunRequest(run_id=run.run_id)):
                    run = look.run
                    update(progress_line(look), run.counts.request_count, 0)
                    if each_look is not None:
                        each_look(look)
                if run.state != CRAWL_RUN_STATE_RUNNING:
                    return run
            except DaemonUnreachableError:
                if not client.wait_ready(RESTART_WAIT_S):
                    raise


def progress_line(look: WatchCrawlRunResponse) -> str:
    """Return where a run is, on one line."""
    counts = look.run.counts
    parts = [
        f"run {look.run.run_id} {_state(look.run)}:",
        f"{counts.request_count:,} requested,",
        f"{counts.ingested_count:,} stored,",
        f"{counts.queued_count:,} queued,",
        f"{look.requests_per_second:.1f}/s",
    ]
    waiting = next((origin for origin in look.origins if origin.waiting_reason), None)
    if waiting is not None:
        parts.append(f"({_waiting(waiting)})")
    return " ".join(parts)


def _waiting(queue: OriginQueue) -> str:
    reason = WAITING_WORDS.get(queue.waiting_reason, queue.waiting_reason)
    until = f" until {moment(queue.next_time)}" if queue.next_time.seconds else ""
    return f"{plain(queue.origin)} waits{until}: {plain(reason)}"


def run_report(run: CrawlRun) -> str:
    """Return everything that a person asks about a run."""
    counts = run.counts
    seeds = " ".join(readable_url(seed) for seed in run.seeds[:SEEDS_SHOWN])
    seeds += " ..." if len(run.seeds) > SEEDS_SHOWN else ""
    head = facts(
        [
            ("run", f"{run.run_id} {plain(run.name)}".strip()),
            ("state", _state(run) + _ending(run)),
            ("seeds", seeds),
            ("scope", enum_name(CrawlScope.DESCRIPTOR, run.scope).replace("_", "-")),
            ("limits", f"depth {run.max_depth}, {run.max_pages:,} requests, {run.max_frontier:,} queued"),
            ("delay", f"{run.delay.ToMilliseconds():,} ms at least" if run.HasField("delay") else ""),
            ("started", moment(run.create_time)),
            ("ended", moment(run.end_time)),
            ("requests", f"{counts.request_count:,} ({size(counts.received_bytes)} received)"),
            ("stored", f"{counts.ingested_count:,} ({counts.unchanged_count:,} of them unchanged)"),
            ("others", _others(run)),
            ("queued", f"{counts.queued_count:,} ({counts.waiting_count:,} wait for a retry)"),
            ("not followed", _not_followed(run)),
            ("recrawl", _recrawl(run)),
            ("to go on", _resuming(run, seeds)),
        ]
    )
    endings = [(exit_code_name(code), f"{count:,}") for code, count in sorted(counts.exit_code_counts.items())]
    return head + ("\n\n" + table(("ended with", "count"), endings) if endings else "")


def runs_table(runs: Sequence[CrawlRun]) -> str:
    """Return runs, one a line."""
    head = ("run", "state", "requests", "stored", "queued", "started", "next recrawl", "name or first seed")
    rows = [
        (
            str(run.run_id),
            _state(run) + _ending(run),
            f"{run.counts.request_count:,}",
            f"{run.counts.ingested_count:,}",
            f"{run.counts.queued_count:,}",
            moment(run.create_time),
            moment(run.next_recrawl_time),
            plain(run.name) or readable_url(run.seeds[0] if run.seeds else ""),
        )
        for run in runs
    ]
    return table(head, rows)


def _state(run: CrawlRun) -> str:
    return enum_name(CrawlRunState.DESCRIPTOR, run.state)


def _ending(run: CrawlRun) -> str:
    reason = enum_name(CrawlRunReason.DESCRIPTOR, run.reason)
    if not reason:
        return ""
    return f" ({reason})" if run.scope_reached or run.state != CRAWL_RUN_STATE_COMPLETED else f" ({reason}, not all)"


def _resuming(run: CrawlRun, seeds: str) -> str:
    if run.state != CRAWL_RUN_STATE_PAUSED:
        return ""
    if run.next_recrawl_time.seconds:
        return "nothing: it goes on by itself"
    return f"jirdctl crawl start {seeds if len(run.seeds) <= SEEDS_SHOWN else 'with the same seeds'}"


def _recrawl(run: CrawlRun) -> str:
    """When pages are crawled again by themselves, and what the interval spared so far."""
    if not run.recrawl_interval.seconds:
        return ""
    text = f"every {words_of(run.recrawl_interval.seconds)}, round {run.round_count:,}"
    if run.next_recrawl_time.seconds:
        text += f"; the next from {moment(run.next_recrawl_time)}"
    elif run.state != CRAWL_RUN_STATE_RUNNING:
        text += "; stopped"
    not_due = run.counts.not_due_count
    return text + (f"; {not_due:,} not asked for, as they were not due" if not_due else "")


def _others(run: CrawlRun) -> str:
    counts = run.counts
    named = (
        (counts.redirect_count, "redirects"),
        (counts.failed_count, "failed"),
        (counts.skipped_count, "skipped"),
        (counts.retired_count, "gone"),
        (counts.held_count, "kept although gone: the site seems to be out of order"),
        (counts.sitemap_count, "sitemaps"),
    )
    return ", ".join(f"{count:,} {name}" for count, name in named if count)


def _not_followed(run: CrawlRun) -> str:
    counts = run.counts
    named = (
        (counts.beyond_depth_count, "links beyond the depth limit"),
        (counts.dropped_count, "dropped at the frontier's ceiling"),
        (counts.foreign_location_count, "named by sitemaps on other origins"),
    )
    return ", ".join(f"{count:,} {name}" for count, name in named if count)
