"""Politeness as the servers see it: gaps and peaks from their access logs."""

import asyncio
from pathlib import Path

from jird_daemon.frontier.rules import OriginRules
from jird_daemon.store.tables import ORIGIN_STATES, RUN_ORIGINS, RunState
from jird_settings import Crawl, HostRule
from testkit.crawling import crawling, site
from testkit.delays import judge_delays
from testkit.origin import Exchange, Origin, Reply

# What a clock and a socket may differ by between the crawler's view and the server's.
TOLERANCE_S = 0.02


def wide(origin: Origin, count: int, host: str = "fault.test") -> list[str]:
    """A site whose root links to `count` pages."""
    paths = [f"/p{number}" for number in range(count)]
    site(origin, {"/": tuple(paths), **dict.fromkeys(paths, ())})
    return [origin.url("/", host=host)]


async def test_every_gap_holds_the_minimum_delay(origin: Origin, tmp_path: Path) -> None:
    """J57, J133, S12, U94: from the end of one answer to the start of the next request, robots.txt included."""
    wide(origin, 6)
    async with crawling(origin, tmp_path, {"crawl": {"delay_ms": 120}}, fast=False) as crawl:
        await crawl.run("/")
    gaps = origin.log.gaps_s("fault.test")
    assert len(gaps) == 7
    assert min(gaps) >= 0.12 - TOLERANCE_S


async def test_a_runs_own_delay_replaces_the_configured_one(origin: Origin, tmp_path: Path) -> None:
    """The contract: StartCrawlRequest.delay."""
    wide(origin, 3)
    async with crawling(origin, tmp_path, {"crawl": {"delay_ms": 600_000}}, fast=False) as crawl:
        run = await crawl.run("/", delay_ms=50, timeout_s=10)
    assert run.counts.ingested == 4


async def test_crawl_delay_of_robots_txt_is_kept(origin: Origin, tmp_path: Path) -> None:
    """S12, U95, U141: 0.3 seconds in the file, 0 configured."""
    urls = wide(origin, 3, "robots-delay.test")
    async with crawling(origin, tmp_path, {"crawl": {"delay_ms": 0}}, fast=False) as crawl:
        await crawl.run(*urls)
    assert min(origin.log.gaps_s("robots-delay.test")) >= 0.3 - TOLERANCE_S


async def test_crawl_delay_is_capped_by_the_operator(origin: Origin, tmp_path: Path) -> None:
    """F15: a huge Crawl-delay makes the crawl slow, not an error; the cap is configured."""
    origin.set_robots(Reply.text("User-agent: *\nCrawl-delay: 86400\n"))
    wide(origin, 3)
    settings = {"crawl": {"delay_ms": 0, "max_robots_delay_ms": 100}}
    async with crawling(origin, tmp_path, settings, fast=False) as crawl:
        run = await crawl.run("/", timeout_s=10)
    assert run.counts.ingested == 4
    assert min(origin.log.gaps_s("fault.test")) >= 0.1 - TOLERANCE_S


async def test_runs_over_one_origin_share_its_delay(origin: Origin, tmp_path: Path) -> None:
    """J165, issue numbers: ten runs at once change nothing."""
    site(origin, {f"/s{number}": (f"/t{number}",) for number in range(10)})
    site(origin, {f"/t{number}": () for number in range(10)})
    async with crawling(origin, tmp_path, {"crawl": {"delay_ms": 40}}, fast=False) as crawl:
        run_ids = [await crawl.start(f"/s{number}") for number in range(10)]
        for run_id in run_ids:
            await crawl.ended(run_id)
    assert len(origin.log.entries()) == 21
    assert min(origin.log.gaps_s("fault.test")) >= 0.04 - TOLERANCE_S


async def test_ten_runs_over_many_origins_keep_the_delay_of_each(origin: Origin, tmp_path: Path) -> None:
    """J133, J165, U134: each origin has its own time, whichever run asks and however long the others' answers take."""
    hosts = [origin.add_host(f"h{number}.fault.test") for number in range(20)]

    async def answer(exchange: Exchange) -> None:
        await asyncio.sleep(0.005 * (hosts.index(exchange.access.host) % 8))
        await exchange.send(Reply.html(f"<title>{exchange.access.host}{exchange.access.target}</title>"))

    for number in range(10):
        origin.add(f"/r{number}", answer)
    async with crawling(origin, tmp_path, {"crawl": {"delay_ms": 120, "address_connections": 64}}, fast=False) as crawl:
        run_ids = [await crawl.start(*(origin.url(f"/r{number}", host=host) for host in hosts)) for number in range(10)]
        runs = [await crawl.ended(run_id) for run_id in run_ids]
    assert [run.counts.requests for run in runs] == [len(hosts)] * len(runs)
    kept = judge_delays(origin.log, hosts, 0.12 - TOLERANCE_S, 0.0, 1.0)
    assert kept.broken == 0
    assert all(len(origin.log.entries(host=host)) == 1 + len(runs) for host in hosts)  # robots.txt once


async def test_own_hosts_get_several_connections_without_delay(origin: Origin, tmp_path: Path) -> None:
    """REQUIREMENTS, head: [[hosts]] connections, delay_ms, adaptive; the address limit is the operator's business."""
    wide(origin, 40)

    async def slow(exchange: Exchange) -> None:
        await asyncio.sleep(0.05)
        await exchange.send(Reply.html("<title>slow</title>"))

    for number in range(40):
        origin.add(f"/p{number}", slow)
    rules = {"hosts": [{"match": "fault.test", "delay_ms": 0, "adaptive": False, "connections": 8}]}
    async with crawling(origin, tmp_path, {"crawl": {"address_connections": 1}, **rules}, fast=False) as crawl:
        await crawl.run("/")
    assert origin.log.peak_in_flight(host="fault.test") == 8


async def test_origins_on_one_address_share_its_connections(origin: Origin, tmp_path: Path) -> None:
    """REQUIREMENTS, head: crawl.address_connections; 12 hosts, three at a time, and all are reached."""

    async def slow(exchange: Exchange) -> None:
        await asyncio.sleep(0.03)
        await exchange.send(Reply.html("<title>slow</title>"))

    origin.add("/", slow)
    hosts = [origin.add_host(f"h{number}.fault.test") for number in range(12)]
    rules = {"hosts": [{"match": "*", "delay_ms": 0, "adaptive": False}]}
    async with crawling(origin, tmp_path, {"crawl": {"address_connections": 3}, **rules}, fast=False) as crawl:
        run = await crawl.run(*(origin.url("/", host=host) for host in hosts))
    assert run.counts.ingested == 12
    assert len(origin.log.entries(path="/")) == 12
    assert origin.log.peak_in_flight(address=origin.address) == 3


async def test_retry_after_is_waited_for(origin: Origin, tmp_path: Path) -> None:
    """J154, S20: it may extend the back-off; the origin is left alone all the while."""
    answers = iter([Reply.html("away", ("Retry-After", "1"), status=503), Reply.html("<title>back</title>")])

    async def answer(exchange: Exchange) -> None:
        await exchange.send(next(answers))

    origin.add("/page", answer)
    site(origin, {"/other": ()})
    settings = {"crawl": {"retry_base_ms": 10, "retry_max_ms": 5_000}}
    async with crawling(origin, tmp_path, settings) as crawl:
        await crawl.run("/page", "/other")
    asked = origin.log.entries()
    assert sorted(access.target for access in asked) == ["/other", "/page", "/page", "/robots.txt"]
    assert asked[1].target == "/page"
    end_s = asked[1].end_s
    assert end_s is not None
    assert 1.0 - TOLERANCE_S <= asked[2].start_s - end_s < 2.0


async def test_deadlines_survive_a_restart(origin: Origin, tmp_path: Path) -> None:
    """J149: politeness and the p of a run are kept with the pages they follow from."""
    wide(origin, 2)
    settings = {"crawl": {"delay_ms": 400}}
    async with crawling(origin, tmp_path, settings, fast=False) as crawl:
        run_id = await crawl.start("/")
        await crawl.until(lambda: crawl.get_run(run_id).counts.ingested == 1)
        with crawl.store.read() as txn:
            ((_, state),) = txn.scan(ORIGIN_STATES)
            ((_, pace),) = txn.scan(RUN_ORIGINS)
        assert pace.rate_limit_steps == 0  # robots.txt and one page: 2, 1, 0
        assert state.next_time_s > crawl.get_run(run_id).create_time_s
    async with crawling(origin, tmp_path, settings, fast=False) as crawl:
        await crawl.crawler.runs.resume_running()
        run = await crawl.ended(run_id)
    assert run.state == RunState.COMPLETED
    assert min(origin.log.gaps_s("fault.test")) >= 0.4 - TOLERANCE_S


def test_a_runs_delay_lengthens_a_hosts_own_and_never_shortens_it() -> None:
    """J57: what a person asks for is not lost in [[hosts]], and the operator's least delay holds."""
    rules = OriginRules(Crawl(delay_ms=500), (HostRule(match="own.test", delay_ms=200),))
    found = [rules.delay("own.test", delay_ms).minimum_s for delay_ms in (None, 1_000, 50)]
    assert found == [0.2, 1.0, 0.2]
    assert rules.delay("other.test", 50).minimum_s == 0.05
