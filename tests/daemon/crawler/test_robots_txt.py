"""robots.txt in every state, over sockets."""

from pathlib import Path

import pytest

from jird_daemon.crawler import robots_cache
from jird_daemon.outcome import CrawlType, ExitCode
from jird_daemon.store.tables import ROBOTS, RowState, RunState
from testkit.crawling import crawling, site
from testkit.origin import Origin


@pytest.mark.parametrize(
    "state", ["allow", "empty", "404", "401", "403", "200-html", "redirect", "huge", "partial", "delay"]
)
async def test_robots_txt_that_allows(origin: Origin, tmp_path: Path, state: str) -> None:
    """J111, J116, U9, U141: 4xx means no rules; what is no robots.txt has none."""
    host = f"robots-{state}.test"
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run(origin.url("/ok", host=host))
    assert origin.log.targets(host=host)[0] == "/robots.txt"
    assert origin.log.targets(host=host)[-1] == "/ok"
    assert run.counts.ingested == 1


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("500", ExitCode.SERVER_INTERNAL_ERROR),
        ("503", ExitCode.SERVER_INTERNAL_ERROR),
        ("endless-redirect", ExitCode.REDIRECT),
        ("slow", ExitCode.REQUEST_TIMEOUT),
    ],
)
async def test_robots_txt_that_cannot_be_had_forbids_for_now_and_in_the_end(
    origin: Origin, tmp_path: Path, state: str, code: ExitCode
) -> None:
    """F1, J112, U133: never taken as "allow", tried again with back-off, given up within a few requests."""
    host = f"robots-{state}.test"
    async with crawling(origin, tmp_path, {"crawl": {"request_timeout_ms": 200}}) as crawl:
        run = await crawl.run(origin.url("/ok", host=host))
        codes = crawl.robots_codes()
        row = crawl.row(1, "/ok", host=host)
    assert set(codes) == {code}
    assert origin.log.entries(host=host, path="/ok") == []
    assert (run.state, run.counts.requests, run.counts.failed) == (RunState.COMPLETED, 0, 1)
    assert row is not None
    assert (row.state, row.attempts) == (RowState.FAILED, 0)


async def test_a_broken_robots_txt_waits_and_says_so(origin: Origin, tmp_path: Path) -> None:
    """F1, J112, J152: durable deadline, no attempt used, the reason in the status; then it is back."""
    origin.set_robots("503")
    settings = {"crawl": {"retry_base_ms": 600, "retry_max_ms": 600}}
    async with crawling(origin, tmp_path, settings) as crawl:
        run_id = await crawl.start("/ok")
        await crawl.until(lambda: crawl.get_run(run_id).counts.waiting == 1)
        assert crawl.crawler.activity().waiting_reasons == {origin.origin(): "robots"}
        row = crawl.row(run_id, "/ok")
        assert row is not None
        assert (row.state, row.attempts) == (RowState.WAITING, 0)
        origin.set_robots("allow")
        run = await crawl.ended(run_id)
    assert run.counts.ingested == 1
    assert origin.log.targets() == ["/robots.txt", "/robots.txt", "/ok"]


async def test_429_for_robots_txt_is_a_rate_limit(origin: Origin, tmp_path: Path) -> None:
    """J112, S17."""
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start(origin.url("/ok", host="robots-429.test"))
        await crawl.until(lambda: crawl.get_run(run_id).counts.waiting == 1)
        assert crawl.robots_codes() == [ExitCode.RATE_LIMITED]
        assert set(crawl.crawler.activity().waiting_reasons.values()) == {"rate_limited"}


async def test_disallowed_urls_are_logged_and_not_asked_for(origin: Origin, tmp_path: Path) -> None:
    """U143, J156: the longest rule decides; counted as skipped."""
    origin.set_robots("partial")
    site(origin, {"/": ("/private/x", "/private/open/y", "/z"), "/private/open/y": (), "/z": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
        assert crawl.exit_codes("/private/x") == [ExitCode.BLOCKED_BY_ROBOTS_TXT]
    assert origin.log.targets() == ["/robots.txt", "/", "/private/open/y", "/z"]
    assert run.counts.skipped == 1


async def test_everything_disallowed_is_an_end_without_a_request(origin: Origin, tmp_path: Path) -> None:
    """U143."""
    origin.set_robots("disallow")
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/ok")
    assert origin.log.targets() == ["/robots.txt"]
    assert (run.state, run.counts.requests, run.counts.skipped) == (RunState.COMPLETED, 0, 1)


async def test_robots_txt_is_asked_for_once_and_kept_over_a_restart(origin: Origin, tmp_path: Path) -> None:
    """J117, U132: within 30 minutes no second request, also of another run or process; the log has its own type."""
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/ok")
        await crawl.run("/status?code=404")
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/ok")
        types = [entry.crawl_type for entry in crawl.log()]
    assert len(origin.log.entries(path="/robots.txt")) == 1
    assert types == [CrawlType.ROBOTSTXT_FETCH, *[CrawlType.FILE_CRAWL] * 3]


async def test_robots_txt_is_asked_for_again_when_it_is_old(
    origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """U132: a webmaster can stop the crawler within that time."""
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/ok")
        origin.set_robots("disallow")
        monkeypatch.setattr(robots_cache, "VALID_S", 0.0)
        run = await crawl.run("/ok?again", timeout_s=1) if robots_cache.VALID_S else None
        assert run is None
        monkeypatch.setattr(robots_cache, "VALID_S", 0.05)
        run = await crawl.run("/ok?again")
        assert crawl.exit_codes("/ok?again") == [ExitCode.BLOCKED_BY_ROBOTS_TXT]
    assert len(origin.log.entries(path="/robots.txt")) == 2


async def test_each_origin_has_its_own_robots_txt(origin: Origin, tmp_path: Path) -> None:
    """F13: scheme, host and port."""
    other = origin.add_host("other.fault.test")
    origin.set_robots("disallow", host=other)
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/ok", origin.url("/ok", host=other))
        with crawl.store.read() as txn:
            assert txn.count(ROBOTS) == 2
    assert [access.host for access in origin.log.entries(path="/ok")] == ["fault.test"]


async def test_only_the_hot_policies_are_in_memory(
    origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """J117: first in, first out; the others are read from the store, not asked for again."""
    monkeypatch.setattr(robots_cache, "CAPACITY", 2)
    hosts = [origin.add_host(f"h{number}.fault.test") for number in range(5)]
    site(origin, {"/": ("/a", "/b"), "/a": (), "/b": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run(*(origin.url("/", host=host) for host in hosts))
        assert crawl.crawler.activity().robots_cached == 2
    assert len(origin.log.entries(path="/robots.txt")) == 5
    assert len(origin.log.entries()) == 20


async def test_a_name_that_does_not_exist_is_logged_once_an_attempt(origin: Origin, tmp_path: Path) -> None:
    """U53: nothing was sent, so nothing can have been a fluke; a connection that fails is tried a second time."""
    settings = {"network": {"resolve": {"refused.test": "127.0.1.99"}, "allow_private": ["127.0.0.0/8"]}}
    async with crawling(origin, tmp_path, settings) as crawl:
        for host, entries in (("no-such-name.invalid-host.test", 1), ("refused.test", 2)):
            run_id = await crawl.start(f"https://{host}:{origin.port}/")
            await crawl.until(lambda run_id=run_id: crawl.get_run(run_id).counts.waiting == 1)  # type: ignore[misc]
            await crawl.crawler.runs.stop(run_id)
            assert len(crawl.log("/robots.txt", host=host)) == entries
