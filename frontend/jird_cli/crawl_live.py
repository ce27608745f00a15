"""A run that is at work, in words: one line for a log, a view that renews itself for a terminal."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from jird.v1.crawl_service_pb2 import CrawlRun, OriginQueue, WatchCrawlRunResponse
from jird_cli.crawl_report import ending_counts, endings_table, left_out, others, run_state, used_budget
from jird_cli.layout import facts, moment, table
from jird_cli.progress import PlainProgress, terminal_text
from jird_client.text import plain, size, span
from jird_client.waiting import waiting_words

# Beside the lines above them both tables fit into a terminal of 24 lines.
ENDINGS_SHOWN = 6
ORIGINS_SHOWN = 6

Show = Callable[[WatchCrawlRunResponse], None]


@contextmanager
def show_run(as_json: bool) -> Iterator[Show]:
    """Give a function that shows a look at a run on stderr: a view on a terminal, else a line now and then."""
    if as_json:
        yield lambda _: None
    elif sys.stderr.isatty():
        with terminal_text() as write:
            yield lambda look: write(live_view(look))
    else:
        write_line = PlainProgress(time.monotonic)
        yield lambda look: write_line(progress_line(look), 0, 0)


def progress_line(look: WatchCrawlRunResponse) -> str:
    """Return where a run is, on one line."""
    counts = look.run.counts
    parts = [
        f"run {look.run.run_id} {run_state(look.run)}:",
        f"{counts.request_count:,} requested,",
        f"{counts.ingested_count:,} stored,",
        f"{counts.queued_count:,} queued,",
        f"{look.requests_per_second:.1f}/s",
    ]
    waiting = next((origin for origin in look.origins if origin.waiting_reason), None)
    if look.guard:
        parts.append(f"(held back: {plain(look.guard)})")
    elif waiting is not None:
        until = f" until {moment(waiting.next_time)}" if waiting.next_time.seconds else ""
        parts.append(f"({plain(waiting.origin)} waits{until}: {_reason(waiting)})")
    return " ".join(parts)


def live_view(look: WatchCrawlRunResponse) -> str:
    """Return where a run is, in a few lines and two tables: how requests ended, and what waits at which origin."""
    run, counts = look.run, look.run.counts
    head = facts(
        [
            ("run", f"{run.run_id} {plain(run.name)}".strip() + f", {run_state(run)} for {_active(run)}"),
            ("held back", plain(look.guard)),
            ("pace", f"{look.requests_per_second:.1f} requests a second, {counts.in_flight_count:,} in flight"),
            ("budget", used_budget(run)),
            ("stored", f"{counts.ingested_count:,} ({counts.unchanged_count:,} of them unchanged)"),
            ("others", others(run)),
            ("queued", f"{counts.queued_count:,} ({counts.waiting_count:,} wait for a retry)"),
            ("received", size(counts.received_bytes)),
            ("left out", left_out(run)),
        ]
    )
    tables = [endings_table(ending_counts(run), ENDINGS_SHOWN), _queues_table(look.origins)]
    return "\n\n".join([head, *filter(None, tables)])


def _active(run: CrawlRun) -> str:
    return span(run.active_time.seconds)


def _queues_table(queues: Sequence[OriginQueue]) -> str:
    rows = [
        (plain(queue.origin), f"{queue.queued_count:,}", _reason(queue), moment(queue.next_time))
        for queue in queues[:ORIGINS_SHOWN]
    ]
    return table(("origin", "queued", "waits because", "until"), rows) if rows else ""


def _reason(queue: OriginQueue) -> str:
    return plain(waiting_words(queue.waiting_reason))
