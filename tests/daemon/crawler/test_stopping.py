"""Stop and resume."""

import asyncio
import time
from pathlib import Path

import pytest

from jird_daemon.crawler import recorder
from jird_daemon.errors import NotFoundError
from jird_daemon.outcome import ExitCode
from jird_daemon.store import Txn
from jird_daemon.store.pages import FetchedPage, PageChange
from jird_daemon.store.tables import RowState, RunReason, RunState
from testkit import toml
from testkit.crawling import crawling, site
from testkit.origin import Origin


async def test_stop_during_a_long_delay_returns_at_once(origin: Origin, tmp_path: Path) -> None:
    """J58, J168, U10: nothing polls; a ten-minute delay is no reason to wait."""
    site(origin, {"/": ("/a",), "/a": ()})
    async with crawling(origin, tmp_path, {"crawl": {"delay_ms": 600_000}}, fast=False) as crawl:
        run_id = await crawl.start("/")
        await crawl.until(lambda: bool(crawl.robots_codes()))
        started_s = time.monotonic()
        assert await crawl.crawler.runs.stop(run_id) == (run_id,)
        # One slice of 25 ms, and the commit of the pause.
        assert time.monotonic() - started_s < 0.5
        run = crawl.get_run(run_id)
    assert (run.state, run.reason, run.counts.requests, run.counts.queued) == (
        RunState.PAUSED, RunReason.STOPPED, 0, 1,
    )  # fmt: skip


async def test_a_stopped_run_resumes_where_it_was(origin: Origin, tmp_path: Path) -> None:
    """J164, J166, U10: the same number, no page twice."""
    site(origin, {"/": tuple(f"/p{number}" for number in range(30)), **{f"/p{number}": () for number in range(30)}})
    # Slow enough that the stop comes in the middle, on a busy machine too.
    slow: toml.Tables = {"crawl": {"delay_ms": 80}, "hosts": [{"match": "*", "adaptive": False}]}
    async with crawling(origin, tmp_path, slow, fast=False) as crawl:
        run_id = await crawl.start("/")
        await crawl.until(lambda: crawl.get_run(run_id).counts.ingested >= 5)
        await crawl.crawler.runs.stop(run_id)
        asked = len(origin.log.entries())
        await asyncio.sleep(0)
        assert len(origin.log.entries()) == asked
        assert await crawl.start("/") == run_id
        run = await crawl.ended(run_id)
    targets = origin.log.targets()
    assert len(targets) == len(set(targets)) == 32
    assert (run.state, run.counts.ingested) == (RunState.COMPLETED, 31)


async def test_stop_breaks_off_what_hangs_and_gives_it_back(origin: Origin, tmp_path: Path) -> None:
    """J94, J168: joined before it returns; the row is queued as before, without an attempt."""
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/slow-header")
        await crawl.until(lambda: bool(origin.log.entries(path="/slow-header")))
        await crawl.crawler.runs.stop(run_id)
        assert crawl.crawler.activity().in_flight == 0
        row = crawl.row(run_id, "/slow-header")
        run = crawl.get_run(run_id)
    assert row is not None
    assert (row.state, row.attempts) == (RowState.QUEUED, 0)
    assert (run.state, run.counts.requests) == (RunState.PAUSED, 0)


async def test_stop_of_all_stops_all_and_again_nothing(origin: Origin, tmp_path: Path) -> None:
    """The contract: idempotent; NOT_FOUND for a run that never was."""
    async with crawling(origin, tmp_path, {"crawl": {"delay_ms": 600_000}}, fast=False) as crawl:
        run_ids = [await crawl.start(path) for path in ("/ok", "/etag")]
        assert sorted(await crawl.crawler.runs.stop()) == run_ids
        assert await crawl.crawler.runs.stop() == ()
        assert await crawl.crawler.runs.stop(run_ids[0]) == ()
        with pytest.raises(NotFoundError):
            await crawl.crawler.runs.stop(99)


async def test_a_guard_pauses_intake_and_lets_go(origin: Origin, tmp_path: Path) -> None:
    """Y22: nothing new is asked for while it holds."""
    site(origin, {"/": ("/a",), "/a": ()})
    async with crawling(origin, tmp_path) as crawl:
        crawl.crawler.set_guard("disk")
        run_id = await crawl.start("/")
        assert crawl.crawler.activity().guard == "disk"
        assert origin.log.entries() == []
        crawl.crawler.set_guard("")
        run = await crawl.ended(run_id)
    assert run.counts.ingested == 2


async def test_a_full_store_pauses_intake_and_loses_nothing(origin: Origin, tmp_path: Path) -> None:
    """S8, DESIGN 2: what does not fit is kept for later; with more room the crawl goes on to its end."""
    paths = tuple(f"/p{number}" for number in range(40))
    site(origin, {"/": paths, **{path: tuple(f"{path}/{n}?{'x' * 200}" for n in range(60)) for path in paths}})
    async with crawling(origin, tmp_path, map_bytes=1 << 20) as crawl:
        run_id = await crawl.start("/", max_depth=1)
        await crawl.until(lambda: crawl.crawler.guard == "map_full")
        stored = crawl.get_run(run_id).counts.ingested
        assert stored < 41
    async with crawling(origin, tmp_path) as crawl:
        assert crawl.get_run(run_id).counts.ingested == stored
        await crawl.crawler.runs.resume_running()
        run = await crawl.ended(run_id)
        assert len(crawl.indexed()) == run.counts.ingested == 41


async def test_a_result_that_cannot_be_stored_ends_its_url_and_no_other(
    origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S8: failed with database_error, not repeated without end."""
    site(origin, {"/": ("/bad", "/good"), "/bad": (), "/good": ()})

    def store_page(txn: Txn, page: FetchedPage) -> PageChange:
        if page.url.endswith("/bad"):
            raise ValueError("cannot be stored")
        return real(txn, page)

    real = recorder.store_page
    monkeypatch.setattr(recorder, "store_page", store_page)
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
        row = crawl.row(1, "/bad")
    assert row is not None
    assert (row.state, row.exit_code) == (RowState.FAILED, ExitCode.DATABASE_ERROR)
    assert (run.state, run.counts.ingested, run.counts.failed) == (RunState.COMPLETED, 2, 1)
    assert len(origin.log.entries(path="/bad")) == 1
