"""`jirdctl log`: ask the crawl log."""

from datetime import datetime
from typing import TYPE_CHECKING

import click

from jird_cli.invocation import Invocation, json_option, pass_invocation
from jird_cli.values import ExitCode, Since

if TYPE_CHECKING:
    from jird.v1.crawl_service_pb2 import CrawlLogEntry, ListCrawlLogEntriesRequest
    from jird_client.channel import Client

# The daemon gives at most so many entries in one answer; more are asked for page by page.
PAGE_SIZE_MAX = 1_000


@click.group()
def log() -> None:
    """Ask the crawl log what was done, and how it ended."""


@log.command()
@click.option("--url", default="", help="Only this URL.")
@click.option("--host", default="", help="Only this host.")
@click.option("--uuid", default="", help="Only the entry with this UUID.")
@click.option("--exit-code", type=ExitCode(), default=None, help="Only this ending, e.g. file_not_found or 44.")
@click.option("--run", "run_id", type=click.IntRange(min=1), help="Only entries of this run.")
@click.option("--since", type=Since(), help="Only entries from then on: 2h, 7d, 2026-11-30.")
@click.option("--until", type=Since(), help="Only entries before then.")
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=50, show_default=True, help="How many entries.")
@json_option
@pass_invocation
def query(invocation: Invocation, /, limit: int, **filters: object) -> None:
    """List entries, newest first.

    \b
    Examples:
      jirdctl log query --host docs.example.org --since 2h
      jirdctl log query --exit-code file_not_found --limit 500 --json | jq -r '.entries[].url'
    """
    from jird_client.plain_data import to_plain

    request = _request(**filters)
    with invocation.daemon() as client:
        entries = _entries(client, request, limit)
    plain = [to_plain(entry) for entry in entries] if invocation.as_json else []
    invocation.answer({"entries": plain}, "\n".join(map(entry_line, entries)) or "no entry matches")


@log.command()
@click.option(
    "--keep-latest", type=click.IntRange(1, 100_000), required=True, help="Entries of each URL that stay.", metavar="N"
)
@click.option("--apply", is_flag=True, help="Forget the others; without it they are only counted.")
@json_option
@pass_invocation
def prune(invocation: Invocation, keep_latest: int, apply: bool) -> None:
    """Forget old entries: all but the latest N of each URL. A simulation, unless --apply is given.

    What is known of pages, and when they were last crawled, stays.

    \b
    Examples:
      jirdctl log prune --keep-latest 5
      jirdctl log prune --keep-latest 5 --apply
    """
    from jird.v1.crawl_service_pb2 import PruneCrawlLogRequest, PruneCrawlLogResponse
    from jird_cli.progress import show_progress

    last = PruneCrawlLogResponse()
    request = PruneCrawlLogRequest(keep_latest=keep_latest, apply=apply)
    with invocation.daemon() as client, show_progress(invocation.as_json) as update:
        for last in client.stream(client.stubs.crawl.PruneCrawlLog, request):
            update(f"{last.entry_count:,} entries looked at", last.entry_count, 0)
    words = "forgotten" if last.applied else "would be forgotten; --apply forgets them"
    text = f"{last.forgotten_count:,} of {last.entry_count:,} entries of {last.url_count:,} URLs {words}"
    invocation.answer_message(last, text)


def _request(**filters: object) -> "ListCrawlLogEntriesRequest":
    from jird.v1.crawl_service_pb2 import ListCrawlLogEntriesRequest

    request = ListCrawlLogEntriesRequest(url=str(filters["url"]), host=str(filters["host"]), uuid=str(filters["uuid"]))
    if isinstance(filters["exit_code"], int):
        request.exit_code = filters["exit_code"]  # type: ignore[assignment]
    if isinstance(filters["run_id"], int):
        request.run_id = filters["run_id"]
    if isinstance(filters["since"], datetime):
        request.start_time.FromDatetime(filters["since"])
    if isinstance(filters["until"], datetime):
        request.end_time.FromDatetime(filters["until"])
    return request


def _entries(client: "Client", request: "ListCrawlLogEntriesRequest", limit: int) -> "list[CrawlLogEntry]":
    entries: list[CrawlLogEntry] = []
    while True:
        request.page_size = min(limit - len(entries), PAGE_SIZE_MAX)
        answer = client.call(client.stubs.crawl.ListCrawlLogEntries, request)
        entries.extend(answer.entries)
        if len(entries) >= limit or not answer.next_page_token:
            return entries[:limit]
        request.page_token = answer.next_page_token


def entry_line(entry: "CrawlLogEntry") -> str:
    """Return one entry on one line."""
    from jird_cli.layout import moment
    from jird_client.exit_codes import exit_code_name
    from jird_client.text import plain, readable_url

    status = str(entry.http_status) if entry.http_status else "---"
    line = f"{moment(entry.start_time)} {status} {exit_code_name(entry.exit_code)} {readable_url(entry.url)}"
    return f"{line}  {plain(entry.message)}" if entry.message else line
