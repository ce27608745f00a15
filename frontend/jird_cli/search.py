"""`jirdctl search` and `jirdctl page`: look into the index as the daemon sees it."""

from typing import TYPE_CHECKING

import click

from jird_cli.invocation import Invocation, json_option, pass_invocation

if TYPE_CHECKING:
    from jird.v1.crawl_service_pb2 import Page
    from jird.v1.search_service_pb2 import SearchHit, SearchResponse, Snippet


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Results wanted.")
@click.option("--offset", type=click.IntRange(0, 1_000), default=0, help="Rank of the first one, from 0.")
@json_option
@pass_invocation
def search(invocation: Invocation, query: tuple[str, ...], limit: int, offset: int) -> None:
    """Search the index.

    \b
    Examples:
      jirdctl search desert rodents
      jirdctl search '"fat-tailed jird" site:example.org'
      jirdctl search --json --limit 50 -- '-"phrase to leave out" gerbil'
    """
    from jird.v1.search_service_pb2 import SearchRequest
    from jird_client.channel import SEARCH_TIMEOUT_S

    request = SearchRequest(query=" ".join(query), limit=limit, offset=offset)
    with invocation.daemon(public=True) as client:
        answer = client.call(client.stubs.search.Search, request, SEARCH_TIMEOUT_S)
        invocation.answer_message(answer, _results(answer))


def _results(answer: "SearchResponse") -> str:
    if not answer.hits:
        return "nothing found"
    blocks = [_result(answer.offset + number, hit) for number, hit in enumerate(answer.hits, 1)]
    count = f"{answer.match_count:,}" if answer.match_count_exact else f"at least {answer.match_count:,}"
    shown = f"{answer.offset + 1} to {answer.offset + len(answer.hits)} of {count}, {answer.took_us / 1_000:.1f} ms"
    return "\n\n".join([*blocks, "\n".join([shown, *answer.notices])])


def _result(rank: int, hit: "SearchHit") -> str:
    from jird_client.text import plain, readable_url

    url = readable_url(hit.document.url)
    title = click.style(plain(hit.document.title) or url, bold=True)
    lines = [f"{rank}. {title}", f"   {click.style(url, fg='green')}"]
    snippet = _highlighted(hit.snippet)
    return "\n".join([*lines, f"   {snippet}"] if snippet else lines)


def _highlighted(snippet: "Snippet") -> str:
    from jird_client.text import clean

    parts, position = [], 0
    for place in snippet.highlights:
        parts.append(clean(snippet.text[position : place.start]))
        parts.append(click.style(clean(snippet.text[place.start : place.end]), bold=True))
        position = place.end
    parts.append(clean(snippet.text[position:]))
    return "".join(parts).strip()


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
            ("media type", plain(known.media_type)),
            ("canonical", readable_url(known.canonical_url)),
            ("first seen", moment(document.first_seen_time)),
            ("last seen", moment(document.last_seen_time)),
            ("stored", size(known.content_bytes) if known.content_bytes else ""),
            ("content digest", known.content_digest),
            ("generations", str(len(known.generations) or "")),
            ("links", f"{len(known.links)} out, {len(known.inlinks)} in"),
        ]
    )
    body = "\n".join(plain(line) for line in known.text.splitlines())
    return f"{text}\n\n{body}" if body else text
