"""Pages that name another page as canonical."""

from pathlib import Path

import pytest

from jird_daemon.outcome import ExitCode
from testkit.crawling import crawling, html, site
from testkit.origin import Origin, Reply


def variant(origin: Origin, path: str, canonical: str, *links: str) -> None:
    """A page that names another one."""
    head = f'<link rel="canonical" href="{canonical}">'
    origin.add(path, Reply.html(html(f"Page {path}", *links, head=head, body=f"text of {path}")))


async def test_a_variant_gives_way_to_the_page_it_names(origin: Origin, tmp_path: Path) -> None:
    """J147: the target is admitted and found; the variant is kept in history and its links are followed."""
    variant(origin, "/v", "/main", "/next")
    site(origin, {"/main": (), "/next": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/v")
        assert crawl.exit_codes("/v") == [ExitCode.NOT_CANONICAL]
        page = crawl.page("/v")
        assert sorted(crawl.indexed()) == [origin.url("/main"), origin.url("/next")]
    assert page is not None
    assert page.text_digest
    assert (run.counts.skipped, run.counts.ingested) == (1, 2)


@pytest.mark.parametrize(
    ("canonical", "depth"),
    [("/v", 3), ("https://elsewhere.test/", 3), ("https://[bad", 3), ("/main", 0)],
)
async def test_hints_that_do_not_suppress(origin: Origin, tmp_path: Path, canonical: str, depth: int) -> None:
    """J148, F23: itself, another origin, malformed, beyond the depth."""
    variant(origin, "/v", canonical)
    site(origin, {"/main": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/v", max_depth=depth)
        assert list(crawl.indexed()) == [origin.url("/v")]


async def test_a_hint_on_a_nofollow_page_does_not_suppress(origin: Origin, tmp_path: Path) -> None:
    """J148."""
    head = '<meta name=robots content=nofollow><link rel="canonical" href="/main">'
    origin.add("/v", Reply.html(html("V", head=head)))
    site(origin, {"/main": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/v")
        assert list(crawl.indexed()) == [origin.url("/v")]


async def test_a_hint_to_what_robots_txt_forbids_does_not_suppress(origin: Origin, tmp_path: Path) -> None:
    """F25: never neither."""
    origin.set_robots("partial")
    variant(origin, "/v", "/private/main")
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/v")
        assert list(crawl.indexed()) == [origin.url("/v")]


@pytest.mark.parametrize(
    "target",
    [
        Reply.redirect("/v", 301),
        Reply.html("gone", status=404),
        Reply.html("forbidden", status=403),
        Reply.html("broken", status=500),
        Reply.html(html("B", head="<meta name=robots content=noindex>")),
        Reply(200, b"%PDF", (("Content-Type", "application/pdf"),)),
    ],
)
async def test_a_variant_comes_forward_when_the_page_it_names_is_none(
    origin: Origin, tmp_path: Path, target: Reply
) -> None:
    """F25: A names B, and B redirects to A, is gone, forbidden, broken, noindex, or no page; one of both is found."""
    variant(origin, "/v", "/main")
    origin.add("/main", target)
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/v")
        assert crawl.exit_codes("/v") == [ExitCode.NOT_CANONICAL]
        assert list(crawl.indexed()) == [origin.url("/v")]


async def test_two_pages_that_name_each_other_leave_one(origin: Origin, tmp_path: Path) -> None:
    """F25: bounded."""
    variant(origin, "/a", "/b")
    variant(origin, "/b", "/a")
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/a")
        assert list(crawl.indexed()) == [origin.url("/b")]
    assert sorted(origin.log.targets()) == ["/a", "/b", "/robots.txt"]
