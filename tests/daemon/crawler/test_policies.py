"""What a crawl file asks of a run: policies, query strings, its name, its daemon (U107, U111-U117, U138, U143)."""

from pathlib import Path

import pytest

from jird_daemon.control import CrawlPolicy, CrawlRules
from jird_daemon.errors import InvalidArgumentError
from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import RUN_RULES
from testkit.crawling import crawling, html, site
from testkit.origin import Origin, Reply


def forbid(prefix: str, reason: str = "because") -> CrawlRules:
    return CrawlRules(do_not_crawl=(CrawlPolicy(reason, {"url": {"path": {"has_prefix": prefix}}}),))


async def test_do_not_crawl_is_logged_and_not_asked_for(origin: Origin, tmp_path: Path) -> None:
    """U113, U117, U138, U143, U52: with the policy's own reason, and nothing was sent."""
    site(origin, {"/": ("/issues/1", "/a"), "/issues/1": (), "/a": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/", rules=forbid("/issues", "the tracker"))
        assert crawl.exit_codes("/issues/1") == [ExitCode.BLOCKED_URL_BY_LOCAL_POLICY]
        assert crawl.log("/issues/1")[0].message == "URL_DO_NOT_CRAWL: do_not_crawl: the tracker"
    assert sorted(origin.log.targets()) == ["/", "/a", "/robots.txt"]
    assert (run.counts.skipped, run.counts.ingested) == (1, 2)


async def test_policies_are_kept_with_the_run(origin: Origin, tmp_path: Path) -> None:
    """U113, J164: a resumed run keeps them, also in another process; another start may replace them."""
    site(origin, {"/": ("/issues/1", "/a"), "/issues/1": (), "/a": ()})
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", max_pages=1, rules=forbid("/issues"))
        await crawl.ended(run_id)
    async with crawling(origin, tmp_path) as crawl:
        assert await crawl.start("/", max_pages=10) == run_id
        await crawl.ended(run_id)
        assert "/issues/1" not in origin.log.targets()
        with crawl.store.read() as txn:
            assert txn.get(RUN_RULES, run_id) == forbid("/issues")


async def test_query_strings_need_a_policy_that_allows_all_their_parameters(origin: Origin, tmp_path: Path) -> None:
    """U114, U115, U116: fewer parameters do, lists are not combined, a seed may have any; kept out and counted."""
    rules = CrawlRules(
        "policy",
        url_query_parameters=(
            CrawlPolicy("pages", {"url": {"path": {"equals": "/list"}}}, ("page", "per page")),
            CrawlPolicy("order", "always", ("sort",)),
        ),
    )
    links = [
        "/list?page=2",
        "/list?page=2&per+page=9",
        "/list?sort=up",
        "/list?page=2&sort=up",
        "/other?page=2",
        "/list?",
        "/list?pag%65=3",
    ]
    origin.add("/", Reply.html(html("Home", *links)))
    site(origin, {"/list": (), "/other": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/?from=here", rules=rules)
    targets = set(origin.log.targets())
    assert targets == {"/robots.txt", "/?from=here", *links} - {
        "/list?page=2&sort=up",
        "/other?page=2",
        "/list?pag%65=3",
    } | {"/list?page=3"}
    assert run.counts.refused == {"query": 2}


async def test_a_run_has_a_name_of_its_own_for_sites(origin: Origin, tmp_path: Path) -> None:
    """U111: in the header, and towards robots.txt and the robots directives of pages."""
    site(origin, {"/": ("/a", "/b"), "/a": ()})
    origin.add("/b", Reply.html(html("B", head='<meta name="special-bot" content="noindex">')))
    origin.set_robots(Reply.text("User-agent: special-bot\nDisallow: /a\n"))
    rules = CrawlRules(user_agent="special-bot (for https://s.example)")
    async with crawling(origin, tmp_path, {"crawl": {"user_agent": "jird-test"}}) as crawl:
        await crawl.run("/", rules=rules)
        assert crawl.exit_codes("/a") == [ExitCode.BLOCKED_BY_ROBOTS_TXT]
        assert crawl.exit_codes("/b") == [ExitCode.BLOCKED_AT_REQUEST_OF_REMOTE]
        agents = {access.headers.get("user-agent") for access in origin.log.entries()}
        assert agents == {"special-bot (for https://s.example)"}
        await crawl.run("/a")
        assert crawl.exit_codes("/a")[-1] is ExitCode.FILE_INGESTED
        assert origin.log.entries()[-1].headers.get("user-agent") == "jird-test"


async def test_a_file_for_another_daemon_is_refused(origin: Origin, tmp_path: Path) -> None:
    """U107: the last parts of the path of its data, whole ones."""
    site(origin, {"/": ()})
    async with crawling(origin, tmp_path) as crawl:
        for path in (f"{tmp_path.name}/state", "state", "", str(tmp_path / "state")):
            await crawl.start("/", state_path=path)
        for path in ("tate", "other/state"):
            with pytest.raises(InvalidArgumentError) as caught:
                await crawl.start("/", state_path=path)
            assert caught.value.reason == "STATE_PATH"


async def test_a_policy_that_means_nothing_is_refused_at_the_start(origin: Origin, tmp_path: Path) -> None:
    """U113: also by the daemon, whoever asks."""
    bad = CrawlRules(do_not_crawl=(CrawlPolicy("", {"url": {"equals": "no url"}}),))
    async with crawling(origin, tmp_path) as crawl:
        with pytest.raises(InvalidArgumentError, match=r"do_not_crawl\[1\]\.if\.url\.equals is 'no url'"):
            await crawl.start("/", rules=bad)


async def test_skip_patterns_of_a_run_are_its_own(origin: Origin, tmp_path: Path) -> None:
    """S9."""
    site(origin, {"/": ("/a.pdf",)})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/", rules=CrawlRules(skip_url_patterns=("*.pdf",)))
        assert crawl.exit_codes("/a.pdf") == [ExitCode.BLOCKED_URL_BY_LOCAL_POLICY]
    assert "/a.pdf" not in origin.log.targets()
