"""Following a run until it ends: what it shows meanwhile, what it reports then, and the exit code that follows."""

from collections.abc import Callable

import click

from jird.v1.crawl_service_pb2 import (
    CRAWL_RUN_STATE_COMPLETED,
    CRAWL_RUN_STATE_RUNNING,
    CrawlLogEntry,
    CrawlRun,
    ListCrawlLogEntriesRequest,
    WatchCrawlRunRequest,
    WatchCrawlRunResponse,
)
from jird_cli.crawl_live import show_run
from jird_cli.crawl_report import run_report
from jird_cli.failure import EXIT_CRAWL_INCOMPLETE, EXIT_DONE, EXIT_FAILED, FailureError
from jird_cli.invocation import Invocation
from jird_client.channel import Client
from jird_client.errors import DaemonUnreachableError
from jird_client.exit_codes import exit_code_name
from jird_client.text import plain, readable_url

# A daemon that systemd restarts is back in a few seconds, and goes on with its runs.
RESTART_WAIT_S = 30.0

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
    with show_run(invocation.as_json) as show:
        while True:
            try:
                for look in client.stream(client.stubs.crawl.WatchCrawlRun, WatchCrawlRunRequest(run_id=run.run_id)):
                    run = look.run
                    if run.state == CRAWL_RUN_STATE_RUNNING:
                        show(look)
                    if each_look is not None:
                        each_look(look)
                if run.state != CRAWL_RUN_STATE_RUNNING:
                    return run
            except DaemonUnreachableError:
                if not client.wait_ready(RESTART_WAIT_S):
                    raise
