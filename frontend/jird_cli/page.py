"""`jirdctl page`: what is known of one page, now and earlier."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from jird_cli.invocation import Invocation, json_option, pass_invocation

if TYPE_CHECKING:
    from jird.v1.crawl_service_pb2 import DiffGenerationsResponse, DiffHunk, Generation, Page

# The kinds of DiffLineKind, as diff(1) shows them.
_SIGNS = {1: (" ", None), 2: ("-", "red"), 3: ("+", "green")}


@click.group()
def page() -> None:
    """Look at what is known of one page."""


@page.command()
@click.argument("url")
@click.option("--text", "with_text", is_flag=True, help="Also print the stored text.")
@json_option
@pass_invocation
def show(invocation: Invocation, url: str, with_text: bool) -> None:
    """Show what is known of a URL, and why it can or cannot be found.

    \b
    Example:
      jirdctl page show https://docs.example.org/intro --text
    """
    from jird.v1.crawl_service_pb2 import GetPageRequest

    with invocation.daemon() as client:
        known = client.call(client.stubs.crawl.GetPage, GetPageRequest(url=url, with_text=with_text))
        invocation.answer_message(known, _page(known))


def _page(known: "Page") -> str:
    from jird_cli.layout import facts, moment
    from jird_client.exit_codes import exit_code_name
    from jird_client.text import plain, readable_url, size

    document = known.document
    text = facts(
        [
            ("url", document.url),
            ("title", plain(document.title)),
            ("language", document.language),
            ("found by searches", "yes" if known.is_searchable else f"no: {plain(known.not_searchable_reason)}"),
            ("last asked for", moment(known.fetch_time)),
            ("ended with", f"{exit_code_name(known.exit_code)} (HTTP {known.http_status})" if known.exit_code else ""),
            ("media type", " in ".join(filter(None, (plain(known.media_type), known.charset)))),
            ("canonical", readable_url(known.canonical_url)),
            ("same text as", readable_url(known.duplicate_of_url)),
            ("nearly the same as", readable_url(known.near_duplicate_of_url)),
            ("redirects to", readable_url(known.redirect_url)),
            ("description", plain(document.description)),
            ("published", moment(known.published_time)),
            ("changed", moment(document.modified_time)),
            ("headlines", "; ".join(map(plain, known.headings[:5]))),
            ("called", "; ".join(map(plain, known.anchors[:5]))),
            ("first seen", moment(document.first_seen_time)),
            ("last seen", moment(document.last_seen_time)),
            ("stored", size(known.content_bytes) if known.content_bytes else ""),
            ("content digest", known.content_digest),
            ("generations", str(len(known.generations) or "")),
            ("links", f"{len(known.links)} out, {len(known.inlinks)} in"),
        ]
    )
    history = ""
    if known.log_entries:
        from jird_cli.log import entry_line

        history = "\n".join(map(entry_line, known.log_entries))
    body = "\n".join(plain(line) for line in known.text.splitlines())
    return "\n\n".join(filter(None, (text, history, body)))


@page.command()
@click.argument("url")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Generations wanted.")
@json_option
@pass_invocation
def history(invocation: Invocation, url: str, limit: int) -> None:
    """Show when the text of a page was first seen, last seen, and replaced; newest first.

    \b
    Example:
      jirdctl page history https://docs.example.org/intro
    """
    from jird.v1.crawl_service_pb2 import ListGenerationsRequest, ListGenerationsResponse

    found = ListGenerationsResponse()
    with invocation.daemon() as client:
        while True:
            request = ListGenerationsRequest(
                url=url, page_size=limit - len(found.generations), page_token=found.next_page_token
            )
            answer = client.call(client.stubs.crawl.ListGenerations, request)
            found.url, found.next_page_token = answer.url, answer.next_page_token
            found.generations.extend(answer.generations)
            if not answer.next_page_token or len(found.generations) >= limit:
                break
        invocation.answer_message(found, _history(found.generations))


def _history(generations: "Sequence[Generation]") -> str:
    from jird_cli.layout import moment, table

    if not generations:
        return "it never had content"
    rows = [
        (
            each.uuid,
            moment(each.first_seen_time),
            moment(each.last_seen_time),
            moment(each.confirmed_end_time) or "open",
            each.text_digest[:12] if each.has_text else "not kept",
        )
        for each in generations
    ]
    return table(("generation", "first seen", "last seen", "ended", "text"), rows)


@page.command()
@click.argument("url")
@click.option("--from", "from_uuid", metavar="UUID", default="", help="The older generation; default: the one before.")
@click.option("--to", "to_uuid", metavar="UUID", default="", help="The newer generation; default: the latest.")
@json_option
@pass_invocation
def diff(invocation: Invocation, url: str, from_uuid: str, to_uuid: str) -> None:
    """Show which lines of a page's text changed between two generations.

    \b
    Examples:
      jirdctl page diff https://docs.example.org/intro
      jirdctl page diff https://docs.example.org/intro --from 0193b2c4-...
    """
    from jird.v1.crawl_service_pb2 import DiffGenerationsRequest

    request = DiffGenerationsRequest(url=url, from_uuid=from_uuid, to_uuid=to_uuid)
    with invocation.daemon() as client:
        answer = client.call(client.stubs.crawl.DiffGenerations, request)
        invocation.answer_message(answer, "\n".join(_diff(answer)))


def _diff(answer: "DiffGenerationsResponse") -> Iterator[str]:
    from jird_cli.layout import moment

    old, new = answer.from_generation, answer.to_generation
    yield f"--- {old.uuid}  {moment(old.first_seen_time)}"
    yield f"+++ {new.uuid}  {moment(new.first_seen_time)}"
    if answer.from_language != answer.to_language:
        yield f"language: {answer.from_language or 'not stated'} -> {answer.to_language or 'not stated'}"
    for hunk in answer.hunks:
        yield from _hunk(hunk)
    if not answer.hunks:
        yield "the lines are the same; what the markup says of them is not"
    if answer.is_truncated:
        yield "more lines changed than are shown"
    yield f"{answer.added_count} lines added, {answer.removed_count} removed"


def _hunk(hunk: "DiffHunk") -> Iterator[str]:
    from jird_client.text import clean

    yield click.style(f"@@ line {hunk.from_line} -> line {hunk.to_line} @@", fg="cyan")
    for line in hunk.lines:
        sign, colour = _SIGNS[line.kind]
        yield click.style(f"{sign}{clean(line.text)}", fg=colour)
