"""Sitemaps and feeds in a crawl, over sockets (J120-J129, F27, F35, F37)."""

import gzip
from pathlib import Path

import pytest

from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import RowKind, RowState, RunReason, RunState
from testkit.crawling import Crawl, crawling, html, site
from testkit.origin import Origin, Reply


def announce(origin: Origin, *urls: str) -> None:
    origin.set_robots(Reply.text("".join(f"Sitemap: {url}\n" for url in urls) + "User-agent: *\nDisallow: /no\n"))


def urlset(*urls: str) -> Reply:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Reply(body=f"<urlset>{entries}</urlset>".encode(), headers=(("Content-Type", "application/xml"),))


def index(*urls: str) -> Reply:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return Reply(body=f"<sitemapindex>{entries}</sitemapindex>".encode(), headers=(("Content-Type", "text/xml"),))


def message(crawl: Crawl, path: str) -> str:
    return crawl.log(path)[-1].message


async def test_pages_that_only_a_sitemap_names_are_found(origin: Origin, tmp_path: Path) -> None:
    """J120, J122, J126, J84, U9: robots.txt, seed, sitemap and its pages; a request and an entry of the log."""
    site(origin, {"/": ("/a",), "/a": (), "/only": ("/deeper",), "/deeper": ()})
    announce(origin, origin.url("/map.xml?of=pages"))
    origin.add("/map.xml", urlset(origin.url("/only"), origin.url("/a"), origin.url("/no/x")))
    async with crawling(origin, tmp_path, {"crawl": {"query_urls": "policy"}}) as crawl:
        run = await crawl.run("/", max_depth=1)
        assert crawl.exit_codes("/map.xml?of=pages") == [ExitCode.FILE_INGESTED]
        assert message(crawl, "/map.xml?of=pages") == "urlset: 3 locations"
        assert crawl.page("/map.xml?of=pages") is None
        assert crawl.exit_codes("/no/x") == [ExitCode.BLOCKED_BY_ROBOTS_TXT]
    assert origin.log.targets()[:2] == ["/robots.txt", "/"]
    assert sorted(origin.log.targets()[2:]) == ["/a", "/map.xml?of=pages", "/only"]
    assert (run.state, run.counts.sitemaps, run.counts.ingested, run.counts.requests) == (RunState.COMPLETED, 1, 3, 4)


async def test_sitemaps_are_discovered_in_every_run_and_once(origin: Origin, tmp_path: Path) -> None:
    """J120: also when robots.txt is still known from an earlier run; not at depth 0, which fetches the seeds alone."""
    site(origin, {"/": (), "/only": ()})
    announce(origin, origin.url("/map.txt"))
    origin.add("/map.txt", Reply.text(origin.url("/only")))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/", max_depth=0)
        assert origin.log.targets() == ["/robots.txt", "/"]
        for _ in range(2):
            run = await crawl.run("/", max_depth=1)
            assert run.counts.sitemaps == 1
    assert origin.log.targets().count("/robots.txt") == 1
    assert origin.log.targets().count("/map.txt") == 2


async def test_indexes_are_followed_three_levels_and_never_in_a_circle(origin: Origin, tmp_path: Path) -> None:
    """J123, F27."""
    site(origin, {"/": (), "/a": (), "/too-deep": ()})
    announce(origin, origin.url("/0.xml"))
    for level in range(5):
        links = [origin.url(f"/{level}.xml"), origin.url("/0.xml"), origin.url(f"/{level + 1}.xml")]
        origin.add(f"/{level}.xml", index(*links, *([origin.url("/pages.xml")] if level == 2 else [])))
    origin.add("/pages.xml", urlset(origin.url("/a")))
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
    maps = [target for target in origin.log.targets() if target.endswith(".xml")]
    assert sorted(maps) == ["/0.xml", "/1.xml", "/2.xml", "/3.xml", "/pages.xml"]
    assert "/a" in origin.log.targets()
    assert run.state == RunState.COMPLETED


async def test_sitemap_stays_on_its_origin(origin: Origin, tmp_path: Path) -> None:
    """J124, F35: a redirect on it is followed, one off it is not, nor is a location; in an open run too."""
    other = origin.add_host("other.fault.test")
    site(origin, {"/": (), "/a": (), "/b": ()})
    announce(origin, origin.url("/moved.xml"), origin.url("/away.xml"))
    origin.add("/moved.xml", Reply.redirect("/map.xml", status=301))
    origin.add("/away.xml", Reply.redirect(origin.url("/theirs.xml", host=other)))
    origin.add("/theirs.xml", urlset(origin.url("/b", host=other)))
    origin.add("/map.xml", urlset(origin.url("/a"), origin.url("/b", host=other)))
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", scope=3)
        assert "URL_SCOPE" in message(crawl, "/away.xml")
        assert crawl.exit_codes("/moved.xml") == [ExitCode.PERMANENT_REDIRECT]
    assert "/a" in origin.log.targets()
    assert origin.log.entries(host=other) == []
    assert (run.counts.foreign_locations, run.counts.sitemaps, run.counts.failed) == (1, 1, 1)


async def test_locations_share_budget_ceiling_and_order(origin: Origin, tmp_path: Path) -> None:
    """J126, J129, F37: thousands of locations neither jump the queue nor go beyond the run's rows."""
    site(origin, {"/": ("/linked",), "/linked": ()})
    announce(origin, origin.url("/map.txt"))
    origin.add("/map.txt", Reply.text("\n".join(origin.url(f"/p{number}") for number in range(2_500))))
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", max_pages=6)
    assert (run.state, run.reason, run.counts.requests) == (RunState.PAUSED, RunReason.BUDGET, 6)
    assert run.counts.discovered == run.max_frontier == 1_000
    assert run.counts.dropped == 2_500 - (1_000 - 3)
    assert "/linked" in origin.log.targets()


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (Reply.html("<h1>Not here</h1>"), ExitCode.DID_NOT_UNDERSTAND_ANSWER, "not a sitemap"),
        (Reply.text('<!DOCTYPE a [<!ENTITY b "c">]><urlset/>'), ExitCode.DID_NOT_UNDERSTAND_ANSWER, "document type"),
        (Reply.html("gone", status=404), ExitCode.FILE_NOT_FOUND, ""),
    ],
)
async def test_sitemap_that_cannot_be_read_ends_in_its_exit_code(
    origin: Origin, tmp_path: Path, reply: Reply, code: ExitCode, words: str
) -> None:
    """J125, J150, F33: said in the log, and the crawl goes on; no page is noted for it."""
    site(origin, {"/": ()})
    announce(origin, origin.url("/map.xml"))
    origin.add("/map.xml", reply)
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
        assert crawl.exit_codes("/map.xml") == [code]
        assert words in message(crawl, "/map.xml")
        assert crawl.page("/map.xml") is None
        row = crawl.row(1, "/map.xml")
        assert row is not None
        assert (row.kind, row.state) == (RowKind.SITEMAP, RowState.FAILED)
    assert (run.state, run.counts.ingested, run.counts.failed, run.counts.sitemaps) == (RunState.COMPLETED, 1, 1, 0)


async def test_sitemap_that_fails_for_now_is_tried_again(origin: Origin, tmp_path: Path) -> None:
    """J126, J149, J154."""
    site(origin, {"/": (), "/a": ()})
    announce(origin, origin.url("/map.xml.gz"))
    origin.add("/map.xml.gz", Reply.html("later", ("Retry-After", "0"), status=503))
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/")
        await crawl.until(lambda: crawl.get_run(run_id).counts.waiting == 1)
        origin.add("/map.xml.gz", Reply(body=gzip.compress(urlset(origin.url("/a")).body)))
        run = await crawl.ended(run_id)
        assert crawl.exit_codes("/map.xml.gz") == [ExitCode.SERVER_INTERNAL_ERROR, ExitCode.FILE_INGESTED]
    assert run.counts.ingested == 2


async def test_large_sitemap_is_cut_and_a_large_page_is_not(origin: Origin, tmp_path: Path) -> None:
    """J123, F35: its own limit, whatever the limit of pages is."""
    site(origin, {"/": (), "/a": ()})
    announce(origin, origin.url("/map.xml"))
    origin.add(
        "/map.xml", Reply.text(f"<urlset><url><loc>{origin.url('/a')}</loc></url><!--{'x' * 6_000_000}--></urlset>")
    )
    async with crawling(origin, tmp_path, {"crawl": {"max_body_bytes": 10_000}}) as crawl:
        run = await crawl.run("/")
        assert "more that was not read" in message(crawl, "/map.xml")
    assert (run.counts.sitemaps, run.counts.ingested) == (1, 2)


async def test_feed_that_a_page_links_to_is_read_for_links(origin: Origin, tmp_path: Path) -> None:
    """J156: its links count as those of a page do; it is itself skipped, as media that are not indexed."""
    feed = f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='{origin.url('/post')}'/></entry></feed>"
    head = '<link rel="alternate" type="application/atom+xml" href="/feed">'
    origin.add("/", Reply.html(html("Home", head=head)))
    origin.add("/feed", Reply(body=feed.encode(), headers=(("Content-Type", "application/atom+xml; charset=utf-8"),)))
    site(origin, {"/post": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", max_depth=2)
        assert crawl.exit_codes("/feed") == [ExitCode.FILE_OF_UNKNOWN_TYPE]
        assert message(crawl, "/feed") == "read for links: atom: 1 locations"
        row = crawl.row(1, "/post")
        assert row is not None
        assert row.depth == 2
    assert (run.counts.ingested, run.counts.skipped) == (2, 1)
    origin.log.clear()
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run(origin.url("/"), max_depth=1)
    assert run.counts.beyond_depth == 1
