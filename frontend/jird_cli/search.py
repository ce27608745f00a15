"""`jirdctl search`: look into the index as the daemon sees it."""

from typing import TYPE_CHECKING

import click

from jird_cli.invocation import Invocation, json_option, pass_invocation

if TYPE_CHECKING:
    from jird.v1.search_service_pb2 import SearchHit, SearchResponse, Snippet


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Results wanted.")
@click.option("--offset", type=click.IntRange(0, 1_000), default=0, help="Rank of the first one, from 0.")
@click.option("--duplicates", is_flag=True, help="Also show pages that say the same, or nearly the same, as another.")
@json_option
@pass_invocation
def search(invocation: Invocation, query: tuple[str, ...], limit: int, offset: int, duplicates: bool) -> None:
    """Search the index.

    \b
    Examples:
      jirdctl search desert rodents
      jirdctl search '"fat-tailed jird" site:example.org'
      jirdctl search --json --limit 50 -- '-"phrase to leave out" gerbil'
    """
    from jird.v1.search_service_pb2 import SearchRequest
    from jird_client.channel import SEARCH_TIMEOUT_S

    request = SearchRequest(query=" ".join(query), limit=limit, offset=offset, show_duplicates=duplicates)
    with invocation.daemon(public=True) as client:
        answer = client.call(client.stubs.search.Search, request, SEARCH_TIMEOUT_S)
        invocation.answer_message(answer, _results(answer))


def _results(answer: "SearchResponse") -> str:
    if not answer.hits:
        return "\n".join([_none_shown(answer), *answer.notices])
    blocks = [_result(answer.offset + number, hit) for number, hit in enumerate(answer.hits, 1)]
    last = answer.offset + len(answer.hits)
    shown = f"{answer.offset + 1} to {last} of {_count(answer)}, {answer.took_us / 1_000:.1f} ms"
    return "\n\n".join([*blocks, "\n".join([shown, *answer.notices])])


def _count(answer: "SearchResponse") -> str:
    return f"{answer.match_count:,}" if answer.match_count_exact else f"at least {answer.match_count:,}"


def _none_shown(answer: "SearchResponse") -> str:
    if not answer.match_count:
        return "nothing found"
    return f"nothing from rank {answer.offset:,} on, of {_count(answer)}; take a smaller --offset"


def _result(rank: int, hit: "SearchHit") -> str:
    from jird_client.text import plain, readable_url

    url = readable_url(hit.document.url)
    title = click.style(plain(hit.document.title) or url, bold=True)
    lines = [f"{rank}. {title}", f"   {click.style(url, fg='green')}"]
    snippet = _highlighted(hit.snippet)
    if snippet:
        lines.append(f"   {snippet}")
    if hit.is_duplicate:
        lines.append("   (another page has the same text)")
    if hit.similar_urls:
        lines.append(f"   (and {len(hit.similar_urls)} that say nearly the same; --duplicates shows them)")
    return "\n".join(lines)


def _highlighted(snippet: "Snippet") -> str:
    from jird_client.text import clean

    parts, position = [], 0
    for place in snippet.highlights:
        parts.append(clean(snippet.text[position : place.start]))
        parts.append(click.style(clean(snippet.text[place.start : place.end]), bold=True))
        position = place.end
    parts.append(clean(snippet.text[position:]))
    return "".join(parts).strip()
