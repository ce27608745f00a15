"""Whole crawls over sockets and TLS: what is asked, stored and counted."""

from pathlib import Path

import pytest

from jird_daemon.errors import InvalidArgumentError, InvalidUrlError
from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import RunReason, RunState, Scope
from testkit.crawling import crawling, html, site
from testkit.origin import Origin, Reply


async def test_every_page_within_depth_is_fetched_once(origin: Origin, tmp_path: Path) -> None:
    """J55, J164, U9, U136: robots.txt first, then each page once; links beyond the depth are counted, not fetched."""
    site(origin, {"/": ("/a", "/b"), "/a": ("/b", "/c"), "/b": ("/", "/a"), "/c": ("/d",), "/d": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", max_depth=2)
    assert origin.log.targets() == ["/robots.txt", "/", "/a", "/b", "/c"]
    assert (run.state, run.reason) == (RunState.COMPLETED, RunReason.DRAINED)
    assert run.counts.ingested == run.counts.requests == run.counts.discovered == 4
    assert run.counts.beyond_depth == 1


async def test_depth_zero_fetches_only_the_seed(origin: Origin, tmp_path: Path) -> None:
    """J55."""
    site(origin, {"/": ("/a",), "/a": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/", max_depth=0)
    assert origin.log.targets() == ["/robots.txt", "/"]


async def test_a_spent_budget_pauses_the_run_and_more_budget_resumes_it(origin: Origin, tmp_path: Path) -> None:
    """J56, J151, J166, Y26: attempts are counted, and the run goes on where it was."""
    site(origin, {"/": ("/a", "/b", "/c"), "/a": (), "/b": (), "/c": ()})
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", max_pages=2)
        run = await crawl.ended(run_id)
        assert (run.state, run.reason, run.counts.requests) == (RunState.PAUSED, RunReason.BUDGET, 2)
        assert await crawl.start("/", max_pages=10) == run_id
        run = await crawl.ended(run_id)
    assert (run.state, run.counts.requests) == (RunState.COMPLETED, 4)
    assert sorted(origin.log.targets()) == ["/", "/a", "/b", "/c", "/robots.txt"]


async def test_a_budget_of_zero_fetches_nothing(origin: Origin, tmp_path: Path) -> None:
    """J56."""
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/ok", max_pages=0)
    assert (run.state, run.reason) == (RunState.PAUSED, RunReason.BUDGET)
    assert origin.log.targets() == []


async def test_other_seeds_make_another_run_and_a_completed_one_is_not_resumed(origin: Origin, tmp_path: Path) -> None:
    """J165, J166."""
    site(origin, {"/": (), "/a": ()})
    async with crawling(origin, tmp_path) as crawl:
        first, second = await crawl.start("/"), await crawl.start("/a")
        await crawl.ended(first)
        await crawl.ended(second)
        third = await crawl.start("/")
        await crawl.ended(third)
    assert (first, second, third) == (1, 2, 3)


async def test_links_to_other_origins_are_left_alone(origin: Origin, tmp_path: Path) -> None:
    """J59, U135: same origin by default."""
    other = origin.add_host("other.fault.test")
    origin.add("/", Reply.html(html("Home", origin.url("/there", host=other), "/here")))
    site(origin, {"/here": (), "/there": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
    assert {access.host for access in origin.log.entries()} == {"fault.test"}


async def test_several_seeds_crawl_their_origins_and_no_other(origin: Origin, tmp_path: Path) -> None:
    """U135: a link to another seed's origin is used."""
    second, third = origin.add_host("second.fault.test"), origin.add_host("third.fault.test")
    links = [origin.url("/x", host=host) for host in (second, third)]
    origin.add("/", Reply.html(html("Home", *links)))
    site(origin, {"/x": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/", origin.url("/", host=second))
    assert {access.host for access in origin.log.entries(path="/x")} == {second}


async def test_an_open_run_leaves_its_origin_and_asks_robots_txt_there_too(origin: Origin, tmp_path: Path) -> None:
    """J106, J107, F13."""
    other = origin.add_host("other.fault.test")
    origin.set_robots("disallow", host=other)
    third = origin.add_host("third.fault.test")
    origin.add("/", Reply.html(html("Home", *(origin.url("/x", host=host) for host in (other, third)))))
    site(origin, {"/x": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", scope=int(Scope.OPEN), max_pages=50)
        assert crawl.exit_codes("/x", host=other) == [ExitCode.BLOCKED_BY_ROBOTS_TXT]
    assert {access.host for access in origin.log.entries(path="/x")} == {third}
    assert run.counts.requests == 2


async def test_the_frontier_ceiling_drops_and_counts(origin: Origin, tmp_path: Path) -> None:
    """J128, J129, J130, J131: 1,000 rows for a small budget; what is above is counted, each attempt."""
    origin.add("/", Reply.html(html("Many", *(f"/p{number}" for number in range(1_200)))))
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", max_pages=1)
    assert run.max_frontier == 1_000
    assert (run.counts.discovered, run.counts.dropped) == (1_000, 201)


@pytest.mark.parametrize(
    ("seed", "reason"),
    [
        ("http://fault.test/", "URL_SCHEME"),
        ("ftp://fault.test/", "URL_SCHEME"),
        ("https://127.0.0.1/", "URL_PRIVATE_ADDRESS"),
        ("https://0x7f.1/", "URL_PRIVATE_ADDRESS"),
        ("https://017700000001/", "URL_PRIVATE_ADDRESS"),
        ("https://2130706433/", "URL_PRIVATE_ADDRESS"),
        ("https://[::1]/", "URL_PRIVATE_ADDRESS"),
        ("https://[::ffff:127.0.0.1]/", "URL_PRIVATE_ADDRESS"),
        ("https://[64:ff9b::7f00:1]/", "URL_PRIVATE_ADDRESS"),
        ("https://10.1.2.3/", "URL_PRIVATE_ADDRESS"),
        ("https://1.1.1.1/", "URL_IP_LITERAL"),
        ("https://fault.test:22/", "URL_PORT"),
        ("https://localhost/", "URL_LOCAL_NAME"),
        ("https://private.test/", "URL_PRIVATE_ADDRESS"),
        ("https://user@fault.test/", "URL_USERINFO"),
        ("https://fault.test/a b", "URL_CHARACTER"),
        ("https://fault.test/" + "x" * 4_096, "URL_TOO_LONG"),
    ],
)
async def test_a_seed_that_is_not_allowed_is_refused_by_rule(
    origin: Origin, tmp_path: Path, seed: str, reason: str
) -> None:
    """J43, J44, J104, S37: the refusal names its rule, and nothing is asked."""
    network = {"ports": [443], "resolve": {"private.test": "192.168.1.1"}}
    async with crawling(origin, tmp_path, {"network": network}) as crawl:
        with pytest.raises(InvalidUrlError) as caught:
            await crawl.start(seed)
        assert caught.value.reason == reason
        assert origin.log.targets() == []


async def test_options_out_of_range_are_refused(origin: Origin, tmp_path: Path) -> None:
    """J55, J56, J57."""
    async with crawling(origin, tmp_path) as crawl:
        for options in ({"max_depth": 33}, {"max_pages": 10_000_001}, {"delay_ms": 600_001}, {"max_depth": -1}):
            with pytest.raises(InvalidArgumentError):
                await crawl.start("/ok", **options)


async def test_noindex_page_is_kept_but_not_found_and_its_links_are_followed(origin: Origin, tmp_path: Path) -> None:
    """J137, U139."""
    head = "<meta name=robots content=noindex>"
    origin.add("/", Reply.html(html("Hidden", "/next", head=head)))
    site(origin, {"/next": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
        page = crawl.page("/")
        assert page is not None
        assert (page.http_status, page.title, page.is_indexable) == (200, "Hidden", False)
        assert page.text_digest
        assert crawl.exit_codes("/") == [ExitCode.BLOCKED_AT_REQUEST_OF_REMOTE]
        assert list(crawl.indexed()) == [origin.url("/next")]
    assert run.counts.skipped == 1


async def test_keep_noindex_off_keeps_no_body(origin: Origin, tmp_path: Path) -> None:
    """REQUIREMENTS, head: the body of a noindex page is kept only if content.keep_noindex."""
    async with crawling(origin, tmp_path, {"content": {"keep_noindex": False}}) as crawl:
        await crawl.run("/noindex")
        page = crawl.page("/noindex")
    assert page is not None
    assert (page.text_digest, page.content_digest) == (b"", b"")


async def test_nofollow_pages_and_links_add_nothing_to_the_frontier(origin: Origin, tmp_path: Path) -> None:
    """J138, J139."""
    origin.add("/", Reply.html(html("Home", "/page", body='<a rel="nofollow" href="/link">x</a>')))
    origin.add("/page", Reply.html(html("Page", "/below", head="<meta name=robots content=nofollow>")))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
    assert origin.log.targets() == ["/robots.txt", "/", "/page"]


async def test_media_that_are_not_read_are_skipped_and_counted(origin: Origin, tmp_path: Path) -> None:
    """J155, J156, F87."""
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/wrong-type", "/no-type", "/ok")
        assert crawl.exit_codes("/wrong-type") == [ExitCode.FILE_OF_UNKNOWN_TYPE]
        assert crawl.exit_codes("/no-type") == [ExitCode.FILE_OF_UNKNOWN_TYPE]
        assert list(crawl.indexed()) == [origin.url("/ok")]
    assert (run.counts.skipped, run.counts.ingested) == (2, 1)


async def test_skip_patterns_are_done_without_a_request(origin: Origin, tmp_path: Path) -> None:
    """S9, S36, S61, U143."""
    site(origin, {"/": ("/private/a", "/b"), "/b": ()})
    async with crawling(origin, tmp_path, {"crawl": {"skip_url_patterns": ["*/private/*"]}}) as crawl:
        run = await crawl.run("/")
        assert crawl.exit_codes("/private/a") == [ExitCode.BLOCKED_URL_BY_LOCAL_POLICY]
    assert origin.log.targets() == ["/robots.txt", "/", "/b"]
    assert (run.counts.skipped, run.state) == (1, RunState.COMPLETED)


async def test_every_action_is_in_the_crawl_log(origin: Origin, tmp_path: Path) -> None:
    """U26, U28, U30, U31, U41, U54, U146: what was asked, how it ended, when, and who answered."""
    site(origin, {"/": ("/gone",)})
    origin.set_gone("/gone", 410)
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
        robots, home, gone = crawl.log()
    assert [entry.exit_code for entry in (robots, home, gone)] == [20, 20, 41]
    assert [entry.http_status for entry in (robots, home, gone)] == [200, 200, 410]
    assert [entry.attempt for entry in (robots, home, gone)] == [0, 1, 1]
    assert {entry.remote_address for entry in (robots, home, gone)} == {origin.address}
    assert len({entry.agent_uuid for entry in (robots, home, gone)}) == 1
    assert len(home.agent_uuid) == 16
    assert home.body_bytes > 0
    assert run.counts.exit_codes == {20: 2, 41: 1}


async def test_the_user_agent_and_no_cookies_are_sent(origin: Origin, tmp_path: Path) -> None:
    """U131: the configured name, and its product token is what robots.txt may address."""
    origin.set_robots(Reply.text("User-agent: example-crawler\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n"))
    site(origin, {"/": ("/a", "/duplicate-header", "/b"), "/a": (), "/b": ()})
    agent = "example-crawler (for https://example.org)"
    async with crawling(origin, tmp_path, {"crawl": {"user_agent": agent}}) as crawl:
        await crawl.run("/")
    assert origin.log.targets() == ["/robots.txt", "/", "/duplicate-header", "/b"]
    assert {access.headers["user-agent"] for access in origin.log.entries()} == {agent}
    assert not any("cookie" in access.headers for access in origin.log.entries())
