"""Redirects are recorded, never followed by the library: the target is a row of its own."""

from pathlib import Path

import pytest

from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import RowState, Scope
from testkit.crawling import crawling, html, site
from testkit.origin import Origin, Reply


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (301, ExitCode.PERMANENT_REDIRECT),
        (308, ExitCode.PERMANENT_REDIRECT),
        (302, ExitCode.REDIRECT),
        (303, ExitCode.REDIRECT),
        (307, ExitCode.REDIRECT),
    ],
)
async def test_a_hop_is_recorded_and_its_target_fetched_at_the_same_depth(
    origin: Origin, tmp_path: Path, status: int, code: ExitCode
) -> None:
    """U35, U50, U137: even at the depth limit, and asked next."""
    path = f"/redirect?status={status}&to=/target"
    site(origin, {"/": (path, "/other"), "/target": (), "/other": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", max_depth=1)
        (entry,) = crawl.log(path)
        page = crawl.page(path)
    assert (entry.exit_code, entry.http_status, entry.redirect_url) == (code, status, origin.url("/target"))
    assert page is not None
    assert (page.final_url, page.is_indexable) == (origin.url("/target"), False)
    assert origin.log.targets() == ["/robots.txt", "/", path, "/target", "/other"]
    assert (run.counts.redirects, run.counts.ingested) == (1, 3)


async def test_links_after_a_redirect_are_resolved_against_the_page_that_answered(
    origin: Origin, tmp_path: Path
) -> None:
    """F53."""
    origin.add("/a", Reply.redirect("/b/"))
    origin.add("/b/", Reply.html(html("B", "c")))
    site(origin, {"/b/c": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/a")
    assert origin.log.targets() == ["/robots.txt", "/a", "/b/", "/b/c"]


async def test_at_most_ten_hops_in_a_row(origin: Origin, tmp_path: Path) -> None:
    """REQUIREMENTS, head: then the chain is given up, and says so."""
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/endless-redirect")
        last = crawl.log()[-1]
    assert len(origin.log.entries(path="/endless-redirect")) == 11
    assert "more than 10 redirects" in last.message
    assert (run.counts.redirects, run.counts.failed) == (10, 1)


async def test_a_loop_ends_by_itself(origin: Origin, tmp_path: Path) -> None:
    """F61: each URL is fetched once a run."""
    origin.add("/self", Reply.redirect("/self"))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/redirect-loop", "/self")
    assert sorted(origin.log.targets()) == ["/redirect-loop", "/redirect-loop?b", "/robots.txt", "/self"]


async def test_many_redirects_to_one_page_fetch_it_once(origin: Origin, tmp_path: Path) -> None:
    """F61."""
    site(origin, {"/": tuple(f"/redirect?n={number}&to=/one" for number in range(5)), "/one": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
    assert len(origin.log.entries(path="/one")) == 1


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://fault.test/", "URL_SCHEME"),
        ("https://127.0.0.1/", "URL_PORT"),
        ("https://127.0.0.1:{port}/", "URL_PRIVATE_ADDRESS"),
        ("https://0x7f.1:{port}/", "URL_PRIVATE_ADDRESS"),
        ("https://[::1]:{port}/", "URL_PRIVATE_ADDRESS"),
        ("https://[::ffff:7f00:1]:{port}/", "URL_PRIVATE_ADDRESS"),
        ("https://localhost:{port}/", "URL_LOCAL_NAME"),
        ("https://fault.test:22/", "URL_PORT"),
        ("file:///etc/passwd", "URL_SCHEME"),
        ("https://user:secret@fault.test:{port}/", "URL_USERINFO"),
        ("//[::1", "URL_MALFORMED"),
        ("/with blank", "URL_CHARACTER"),
    ],
)
async def test_a_redirect_to_what_is_not_allowed_is_refused_by_rule(
    origin: Origin, tmp_path: Path, location: str, reason: str
) -> None:
    """J44, J145, J106: it is not even queued."""
    origin.add("/", Reply.redirect(location.format(port=origin.port)))
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", scope=int(Scope.OPEN))
        (entry,) = crawl.log("/")
        row = crawl.row(1, "/")
    assert entry.exit_code == ExitCode.REDIRECT
    assert reason in entry.message
    assert row is not None
    assert row.state == RowState.FAILED
    assert run.counts.discovered == 1
    assert origin.log.targets() == ["/robots.txt", "/"]


async def test_a_redirect_to_another_origin_is_refused_within_one_origin(origin: Origin, tmp_path: Path) -> None:
    """J108: the final URL must be on the source's origin."""
    other = origin.add_host("other.fault.test")
    origin.add("/", Reply.redirect(origin.url("/elsewhere", host=other)))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        (entry,) = crawl.log("/")
    assert "URL_SCOPE" in entry.message
    assert origin.log.entries(host=other) == []


async def test_headers_of_a_host_rule_do_not_cross_origins(origin: Origin, tmp_path: Path) -> None:
    """F63: a secret for one host is not sent to the one it redirects to."""
    other = origin.add_host("other.fault.test")
    origin.add("/", Reply.redirect(origin.url("/x", host=other)), host="fault.test")
    site(origin, {"/x": ()})
    rules = {"hosts": [{"match": "fault.test", "headers": {"Authorization": "Bearer secret"}}]}
    async with crawling(origin, tmp_path, rules) as crawl:
        await crawl.run("/", scope=int(Scope.OPEN))
    asked = {access.host: access.headers.get("authorization") for access in origin.log.entries()}
    assert asked == {"fault.test": "Bearer secret", other: None}
