"""Pages that are crawled again by themselves (U110, U130, U136, U138, U142)."""

from pathlib import Path

import pytest

from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import RECRAWLS, RunReason, RunState
from testkit.crawling import Crawl, crawling, html, site
from testkit.origin import Origin, Reply

WEEK_S = 604_800


def pages(origin: Origin) -> list[str]:
    """What was asked for since the last call, robots.txt left out."""
    targets = [target for target in origin.log.targets() if target != "/robots.txt"]
    origin.log.clear()
    return sorted(targets)


async def round_ended(crawl: Crawl, run_id: int, number: int) -> None:
    def is_over() -> bool:
        run = crawl.get_run(run_id)
        return run.rounds == number and run.state != RunState.RUNNING and run_id not in crawl.crawler.frontier.runs

    await crawl.until(is_over)


async def test_what_is_due_is_crawled_again_by_itself(origin: Origin, tmp_path: Path) -> None:
    """U110, U130: the same run, with the validators of the last answers, new links, and pages that failed."""
    site(origin, {"/a": ()})
    origin.add("/", Reply.html(html("Home", "/a", "/gone"), ("ETag", '"1"')))
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", recrawl_interval_s=WEEK_S)
        run = await crawl.ended(run_id)
        assert (run.state, run.rounds, pages(origin)) == (RunState.COMPLETED, 1, ["/", "/a", "/gone"])
        crawl.move_ahead(WEEK_S - 60)
        await crawl.crawler.committer.submit(lambda _: None)
        assert crawl.get_run(run_id).state == RunState.COMPLETED
        origin.add("/", Reply.html(html("Home", "/a", "/gone", "/new"), ("ETag", '"2"')))
        site(origin, {"/new": ()})
        crawl.move_ahead(3_600)
        await round_ended(crawl, run_id, 2)
        conditions = [access.headers.get("if-none-match") for access in origin.log.entries(path="/")]
        assert conditions == ['"1"']
        assert pages(origin) == ["/", "/a", "/gone", "/new"]
        run = crawl.get_run(run_id)
        assert (run.state, run.reason) == (RunState.COMPLETED, RunReason.DRAINED)
        assert crawl.exit_codes("/gone") == [ExitCode.FILE_NOT_FOUND] * 2


async def test_the_schedule_survives_a_restart(origin: Origin, tmp_path: Path) -> None:
    """U110: it is in the store; a run that the stop of the daemon interrupted goes on by itself, too."""
    site(origin, {"/": ("/a",), "/a": ()})
    site(origin, {"/other": ()})
    origin.add_host("other.fault.test")
    async with crawling(origin, tmp_path, stop_reason=RunReason.RESTART) as crawl:
        run_id = await crawl.start("/", recrawl_interval_s=WEEK_S)
        await crawl.ended(run_id)
        origin.set_robots("503", host="other.fault.test")  # so that its run is not over when the crawler stops
        other = await crawl.start(origin.url("/other", host="other.fault.test"), recrawl_interval_s=WEEK_S)
    assert "/other" not in pages(origin)
    origin.set_robots("allow", host="other.fault.test")
    async with crawling(origin, tmp_path, ahead_s=WEEK_S + 3_600) as crawl:
        await round_ended(crawl, run_id, 2)
        await crawl.until(lambda: crawl.get_run(other).counts.ingested == 1)
    assert set(pages(origin)) == {"/", "/a", "/other"}


async def test_a_tiny_interval_ends_its_round(origin: Origin, tmp_path: Path) -> None:
    """U142: what falls due while a round runs waits for the next one."""
    site(origin, {"/": ("/a", "/b"), "/a": (), "/b": ()})
    async with crawling(origin, tmp_path, {"hosts": [{"match": "*", "delay_ms": 20}]}) as crawl:
        run_id = await crawl.start("/", recrawl_interval_s=1)
        await crawl.ended(run_id)
        for number in (2, 3):
            crawl.move_ahead(10)
            await crawl.until(lambda number=number: crawl.get_run(run_id).rounds >= number)  # type: ignore[misc]
            await crawl.until(lambda: crawl.get_run(run_id).state == RunState.COMPLETED)
        assert await crawl.crawler.runs.stop(run_id) == (run_id,)
    assert origin.log.targets().count("/a") >= 3


async def test_a_person_stops_it_for_good(origin: Origin, tmp_path: Path) -> None:
    """J166: a run that somebody stopped is never set going again; a new run of its seeds takes its place."""
    site(origin, {"/": ()})
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", recrawl_interval_s=WEEK_S)
        await crawl.ended(run_id)
        assert await crawl.crawler.runs.stop() == (run_id,)
        run = crawl.get_run(run_id)
        assert (run.state, run.reason) == (RunState.PAUSED, RunReason.STOPPED)
        crawl.move_ahead(2 * WEEK_S)
        await crawl.crawler.committer.submit(lambda _: None)
        assert crawl.get_run(run_id).state == RunState.PAUSED
        assert await crawl.start("/", recrawl_interval_s=0) == run_id
        run = await crawl.ended(run_id)
        assert (run.state, run.recrawl_interval_s) == (RunState.COMPLETED, 0)


async def test_a_new_run_of_the_seeds_takes_the_schedule_over(origin: Origin, tmp_path: Path) -> None:
    """J166: the completed one is not crawled by itself any more."""
    site(origin, {"/": ()})
    async with crawling(origin, tmp_path) as crawl:
        first = await crawl.start("/", recrawl_interval_s=WEEK_S)
        await crawl.ended(first)
        second = await crawl.start("/", recrawl_interval_s=WEEK_S, force_recrawl=True)
        await crawl.ended(second)
        assert (crawl.get_run(first).recrawl_interval_s, crawl.get_run(second).recrawl_interval_s) == (0, WEEK_S)


@pytest.mark.parametrize("is_forced", [False, True])
async def test_pages_that_are_not_due_are_passed_over_and_their_links_followed(
    origin: Origin, tmp_path: Path, is_forced: bool
) -> None:
    """U110, U138, J172: without a request, unless --force-recrawl asks for it; redirects too."""
    origin.add("/moved", Reply.redirect("/a"))
    site(origin, {"/": ("/moved",), "/a": ("/b",), "/b": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/", max_depth=1)
        assert pages(origin) == ["/", "/a", "/moved"]
        run = await crawl.run("/", max_depth=2, recrawl_interval_s=WEEK_S, force_recrawl=is_forced)
        found = pages(origin)
        with crawl.store.read() as txn:
            due = [key[2] for key, _ in txn.scan(RECRAWLS)]
    assert found == (["/", "/a", "/b", "/moved"] if is_forced else ["/b"])
    assert (run.state, run.counts.not_due) == (RunState.COMPLETED, 0 if is_forced else 3)
    assert len(due) == len(set(due)) == 4


async def test_each_round_has_the_budget_and_waits_an_interval_when_it_is_spent(origin: Origin, tmp_path: Path) -> None:
    """J56, J151, U109: a spent budget is renewed with the next round, not before."""
    site(origin, {"/": ("/a", "/b", "/c"), "/a": (), "/b": (), "/c": ()})
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", max_pages=2, recrawl_interval_s=WEEK_S)
        run = await crawl.ended(run_id)
        assert (run.state, run.reason, len(pages(origin))) == (RunState.PAUSED, RunReason.BUDGET, 2)
        crawl.move_ahead(WEEK_S + 1)
        await round_ended(crawl, run_id, 2)
        assert len(pages(origin)) == 2
        assert crawl.get_run(run_id).counts.requests == 4


async def test_an_origin_that_was_given_up_is_tried_in_the_next_round(origin: Origin, tmp_path: Path) -> None:
    """U145: patience ends for the round, not for ever."""
    site(origin, {"/": ()})
    origin.set_robots("503")
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", recrawl_interval_s=WEEK_S)
        run = await crawl.ended(run_id)
        assert (run.state, run.counts.failed) == (RunState.COMPLETED, 1)
        origin.set_robots("allow")
        crawl.move_ahead(WEEK_S + 3_600)
        await round_ended(crawl, run_id, 2)
        assert crawl.get_run(run_id).counts.ingested == 1


async def test_no_round_begins_while_content_is_collected(origin: Origin, tmp_path: Path) -> None:
    """J93: a collection does not race a crawl, whoever begins it."""
    site(origin, {"/": ()})
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", recrawl_interval_s=WEEK_S)
        await crawl.ended(run_id)
        crawl.crawler.runs.hold_rounds(True)
        crawl.move_ahead(2 * WEEK_S)
        await crawl.crawler.committer.submit(lambda _: None)
        assert crawl.get_run(run_id).rounds == 1
        crawl.crawler.runs.hold_rounds(False)
        await round_ended(crawl, run_id, 2)
