"""Runs in words: a list of them, and the report of one: what it did, and whether it did what was planned (Y26)."""

from collections.abc import Sequence

from jird.v1.crawl_service_pb2 import (
    CRAWL_RUN_REASON_BUDGET,
    CRAWL_RUN_STATE_COMPLETED,
    CRAWL_RUN_STATE_PAUSED,
    CRAWL_RUN_STATE_RUNNING,
    CrawlRun,
    CrawlRunReason,
    CrawlRunState,
    CrawlScope,
)
from jird_cli.layout import facts, moment, table
from jird_client.exit_codes import exit_code_name
from jird_client.plain_data import enum_name, seconds
from jird_client.text import plain, readable_url, size, span
from jird_settings.kinds import words_of

# A run may have a thousand.
SEEDS_SHOWN = 5


def run_report(run: CrawlRun) -> str:
    """Return everything that a person asks about a run."""
    counts = run.counts
    seeds = " ".join(readable_url(seed) for seed in run.seeds[:SEEDS_SHOWN])
    seeds += " ..." if len(run.seeds) > SEEDS_SHOWN else ""
    head = facts(
        [
            ("run", f"{run.run_id} {plain(run.name)}".strip()),
            ("state", run_state(run) + _ending(run)),
            ("seeds", seeds),
            ("scope", enum_name(CrawlScope.DESCRIPTOR, run.scope).replace("_", "-")),
            ("limits", f"depth {run.max_depth}, {run.max_pages:,} requests, {run.max_frontier:,} queued"),
            ("delay", f"{run.delay.ToMilliseconds():,} ms at least" if run.HasField("delay") else ""),
            ("started", moment(run.create_time)),
            ("ended", moment(run.end_time)),
            ("active", _pace(run)),
            ("planned scope", _reached(run)),
            ("budget", used_budget(run)),
            ("received", size(counts.received_bytes)),
            ("stored", f"{counts.ingested_count:,} ({counts.unchanged_count:,} of them unchanged)"),
            ("others", others(run)),
            ("queued", f"{counts.queued_count:,} ({counts.waiting_count:,} wait for a retry)"),
            ("left out", left_out(run)),
            ("recrawl", _recrawl(run)),
            ("to go on", _resuming(run, seeds)),
        ]
    )
    tables = [endings_table(ending_counts(run)), _refused_table(run)]
    return "\n\n".join([head, *filter(None, tables)])


def runs_table(runs: Sequence[CrawlRun]) -> str:
    """Return runs, one a line."""
    head = ("run", "state", "requests", "stored", "queued", "started", "next recrawl", "name or first seed")
    rows = [
        (
            str(run.run_id),
            run_state(run) + _ending(run),
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


def run_state(run: CrawlRun) -> str:
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


def others(run: CrawlRun) -> str:
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


def left_out(run: CrawlRun) -> str:
    counts = run.counts
    named = (
        (counts.beyond_depth_count, "links beyond the depth limit"),
        (counts.dropped_count, "dropped at the frontier's ceiling"),
        (counts.foreign_location_count, "named by sitemaps on other origins"),
    )
    return ", ".join(f"{count:,} {name}" for count, name in named if count)


def ending_counts(run: CrawlRun) -> list[tuple[str, int]]:
    """Return how many requests ended in which way, the most frequent first."""
    counted = sorted(run.counts.exit_code_counts.items(), key=lambda item: (-item[1], item[0]))
    return [(exit_code_name(code), count) for code, count in counted]


def endings_table(endings: Sequence[tuple[str, int]], most: int | None = None) -> str:
    """Return the first endings as a table, and the rest as one line of it; empty when there are none."""
    shown, rest = endings[:most], endings[len(endings[:most]) :]
    rows = [(name, f"{count:,}") for name, count in shown]
    if rest:
        rows.append((f"{len(rest)} other ways", f"{sum(count for _, count in rest):,}"))
    return table(("ended with", "count"), rows) if rows else ""


def used_budget(run: CrawlRun) -> str:
    """Return how many requests a run made, and how many it may still make."""
    made = f"{run.counts.request_count:,} requests made"
    return f"{made}, {run.budget_left_count:,} of {run.max_pages:,} left"


def _pace(run: CrawlRun) -> str:
    active_s = seconds(run.active_time)
    if not active_s:
        return ""
    length = span(int(active_s)) if active_s >= 1 else f"{active_s:.1f} s"
    return f"{length}, {run.counts.request_count / active_s:.1f} requests a second"


def _reached(run: CrawlRun) -> str:
    """Whether the run did what was planned, and if not, what kept it from that."""
    counts = run.counts
    if run.state == CRAWL_RUN_STATE_RUNNING:
        return ""
    if run.scope_reached and not counts.ingested_count:
        return "NOT reached: nothing could be stored; how each request ended is below"
    if run.scope_reached and counts.beyond_depth_count:
        return f"reached up to depth {run.max_depth}; {counts.beyond_depth_count:,} links lie beyond it"
    if run.scope_reached:
        return "reached"
    reasons = []
    if counts.dropped_count:
        reasons.append(f"{counts.dropped_count:,} URLs found no room in the queue (at most {run.max_frontier:,})")
    if counts.queued_count:
        spent = "the budget is spent and " if run.reason == CRAWL_RUN_REASON_BUDGET else ""
        reasons.append(f"{spent}{counts.queued_count:,} URLs were not asked for")
    return "NOT reached" + (f": {'; '.join(reasons)}" if reasons else "")


def _refused_table(run: CrawlRun) -> str:
    refused = sorted(run.counts.refused_link_counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [(plain(name).replace("_", " "), f"{count:,}") for name, count in refused]
    return table(("links refused by", "count"), rows) if rows else ""
