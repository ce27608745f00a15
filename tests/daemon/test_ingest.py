"""The ingest process itself: started as serve starts it, told over the control channel, killed, started again."""

import asyncio
import dataclasses
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from jird_daemon.clock import SystemClock
from jird_daemon.config import encode_settings
from jird_daemon.control import (
    Checkpoint,
    CollectGarbage,
    Compact,
    Heartbeat,
    ProbeParsers,
    Rebuild,
    Reload,
    StartCrawl,
    StopCrawl,
    Verify,
    View,
    ViewChanged,
)
from jird_daemon.errors import InvalidUrlError, JirdError, NotFoundError, WrongStateError
from jird_daemon.store import StateLock, Store
from jird_daemon.store.pages import get_page
from jird_daemon.store.tables import RUNS, Run, RunReason, RunState
from jird_daemon.supervise import Supervisor
from jird_settings import Settings
from testkit import toml
from testkit.crawling import FAST, make_settings, site
from testkit.origin import Origin

DEADLINE_S = 15.0
TABLES: toml.Tables = {"crawl": {"workers": 1}, "service": {"restart_base_ms": 1, "restart_max_ms": 10}}


class Ingest:
    """A supervised ingest process, and what it said last."""

    def __init__(self, directory: Path, settings: Settings, lock: StateLock) -> None:
        self.settings = settings
        self.view: View | None = None
        self.heartbeat = Heartbeat()
        self.supervisor = Supervisor(
            (sys.executable, "-m", "jird_daemon.ingest"),
            lock.fileno(),
            lambda: settings,
            SystemClock(),
            dict(os.environ),
            self._take,
        )

    def _take(self, event: ViewChanged | Heartbeat) -> None:
        if isinstance(event, ViewChanged):
            self.view = event.view
        else:
            self.heartbeat = event

    async def start(self, *seeds: str, **options: int) -> int:
        """Begin a run."""
        answer = await self.supervisor.call(StartCrawl(seeds, **options), timeout_s=DEADLINE_S)
        return answer.run_ids[0]

    def run(self, run_id: int) -> Run:
        """A run as it is in the store."""
        with Store.open(self.settings.storage.state_dir, readonly=True) as store, store.read() as txn:
            run = txn.get(RUNS, run_id)
        assert run is not None
        return run

    def is_known(self, url: str) -> bool:
        """Whether a URL is a page of the store."""
        with Store.open(self.settings.storage.state_dir, readonly=True) as store, store.read() as txn:
            return get_page(txn, url) is not None

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for what no event of this process tells of."""
        try:
            async with asyncio.timeout(DEADLINE_S):
                while not condition():  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"not within {DEADLINE_S} s: {what}") from None

    async def over(self, run_id: int) -> Run:
        """Wait for the end of a run."""
        await self.until(lambda: self.run(run_id).state != RunState.RUNNING, "the run ends")
        return self.run(run_id)


@asynccontextmanager
async def ingesting(
    origin: Origin, directory: Path, *layers: toml.Tables, fast: bool = True, wait: bool = True
) -> AsyncIterator[Ingest]:
    """Start one, and wait until it is open unless told otherwise; stop it in order at the end."""
    settings = make_settings(origin, directory, *([FAST] if fast else []), TABLES, *layers)
    lock = StateLock.acquire(settings.storage.state_dir)
    ingest = Ingest(directory, settings, lock)
    await ingest.supervisor.start()
    running = asyncio.create_task(ingest.supervisor.run())
    try:
        if wait:
            await ingest.until(lambda: ingest.view is not None, "the first view")
        yield ingest
        faults = await ingest.supervisor.stop()
        assert faults == ()
    finally:
        await ingest.supervisor.close()
        await running
        lock.close()


async def test_command_given_while_the_process_opens_is_carried_out(origin: Origin, tmp_path: Path) -> None:
    """serve is ready before ingest is, so `systemctl start jird && jirdctl crawl start` meets it opening."""
    site(origin, {"/": ()})
    async with ingesting(origin, tmp_path, wait=False) as ingest:
        run = await ingest.over(await ingest.start(origin.url("/")))
        assert run.state == RunState.COMPLETED


async def test_stop_while_the_process_opens_is_clean(origin: Origin, tmp_path: Path) -> None:
    """J45: the stop waits for what is half open, and then closes it in order."""
    async with ingesting(origin, tmp_path, wait=False):
        pass  # leaving stops it, and asserts that nothing failed


async def test_a_crawl_from_start_to_a_searchable_view(origin: Origin, tmp_path: Path) -> None:
    """J36, J60: crawled, stored, indexed and checkpointed; heartbeats and probes come from the real process."""
    site(origin, {"/": ("/a", "/b"), "/a": (), "/b": ()})
    async with ingesting(origin, tmp_path) as ingest:
        run = await ingest.over(await ingest.start(origin.url("/")))
        assert (run.state, run.counts.ingested) == (RunState.COMPLETED, 3)
        await ingest.until(lambda: ingest.view is not None and ingest.view.generation == 3, "a view of all pages")
        answer = await ingest.supervisor.call(Checkpoint(), timeout_s=DEADLINE_S)
        assert answer.view is not None
        assert answer.view.checkpoint_generation == 3
        assert (await ingest.supervisor.call(Verify(), timeout_s=DEADLINE_S)).faults == ()
        for request in (Compact(), Rebuild()):
            compacted = (await ingest.supervisor.call(request, timeout_s=DEADLINE_S)).view
            assert compacted is not None
            assert len(compacted.segments) == 1
        await ingest.until(lambda: len(ingest.heartbeat.parser_pids) == 1, "a heartbeat that names the parser")
        probes = (await ingest.supervisor.call(ProbeParsers(), timeout_s=DEADLINE_S)).probes
        assert probes
        assert all(probe.is_refused for probe in probes)


async def test_refusals_reach_the_caller_as_themselves(origin: Origin, tmp_path: Path) -> None:
    """J43: with the reason."""
    async with ingesting(origin, tmp_path) as ingest:
        with pytest.raises(InvalidUrlError) as caught:
            await ingest.start("http://fault.test/")
        assert caught.value.reason == "URL_SCHEME"
        with pytest.raises(NotFoundError):
            await ingest.supervisor.call(StopCrawl(7), timeout_s=DEADLINE_S)


async def test_kill_minus_nine_of_ingest_loses_nothing_and_the_crawl_goes_on(origin: Origin, tmp_path: Path) -> None:
    """J149, U10, issue item 2: every page is fetched, and none again that was committed before a kill."""
    pages = {f"/p{number}": (f"/p{2 * number + 1}", f"/p{2 * number + 2}") for number in range(60)}
    site(origin, pages)
    async with ingesting(origin, tmp_path) as ingest:
        run_id = await ingest.start(origin.url("/p0"), max_depth=10)
        kills: list[tuple[set[str], int]] = []  # what was committed, and how much had been asked for
        for count in (10, 30):
            origin.log.wait_for(lambda entries, count=count: len(entries) >= count, timeout_s=DEADLINE_S)
            committed = {path for path in pages if ingest.is_known(origin.url(path))}
            view, ingest.view = ingest.view, None
            assert view is not None
            os.kill(ingest.supervisor.pid, signal.SIGKILL)
            kills.append((committed, len(origin.log.targets())))
            await ingest.until(lambda: ingest.view is not None, "a view of the next process")
        run = await ingest.over(run_id)
    asked = [target for target in origin.log.targets() if target in pages]
    assert (run.state, run.reason) == (RunState.COMPLETED, RunReason.DRAINED)
    assert set(asked) == set(pages)
    for committed, asked_count in kills:
        assert committed
        assert committed.isdisjoint(origin.log.targets()[asked_count:])
    assert run.counts.ingested == len(pages)


async def test_a_restarted_daemon_finds_its_runs_paused(origin: Origin, tmp_path: Path) -> None:
    """F99, J166: after an ordered stop, and after everything was killed."""
    site(origin, {"/": ("/slow-header", "/a"), "/a": ()})
    with suppress(JirdError):
        async with ingesting(origin, tmp_path) as ingest:
            run_id = await ingest.start(origin.url("/"))
            origin.log.wait_for_path("/slow-header")
    async with ingesting(origin, tmp_path) as ingest:
        run = ingest.run(run_id)
        assert (run.state, run.reason) == (RunState.PAUSED, RunReason.RESTART)
        assert run.counts.queued >= 1
        assert await ingest.start(origin.url("/")) == run_id


async def test_stop_pauses_and_collection_refuses_while_a_crawl_runs(origin: Origin, tmp_path: Path) -> None:
    """J93, J94, J166: after the stop nothing is in flight, so that a collection right after is safe."""
    site(origin, {"/": ("/slow-header",)})
    async with ingesting(origin, tmp_path) as ingest:
        run_id = await ingest.start(origin.url("/"))
        origin.log.wait_for_path("/slow-header")
        with pytest.raises(WrongStateError, match="is running"):
            await ingest.supervisor.call(CollectGarbage(), timeout_s=DEADLINE_S)
        answer = await ingest.supervisor.call(StopCrawl(), timeout_s=DEADLINE_S)
        assert answer.run_ids == (run_id,)
        assert ingest.run(run_id).reason == RunReason.STOPPED
        assert (await ingest.supervisor.call(CollectGarbage(), timeout_s=DEADLINE_S)).garbage is not None


async def test_reload_takes_new_settings_and_keeps_runs_going(origin: Origin, tmp_path: Path) -> None:
    """SIGHUP: the crawl goes on under the new rules, with its rows where they were."""
    site(origin, {"/": tuple(f"/p{number}" for number in range(5)), **{f"/p{number}": () for number in range(5)}})
    async with ingesting(origin, tmp_path, {"crawl": {"delay_ms": 600_000}}, fast=False) as ingest:
        run_id = await ingest.start(origin.url("/"))
        origin.log.wait_for_path("/robots.txt")
        fresh = dataclasses.replace(ingest.settings, crawl=dataclasses.replace(ingest.settings.crawl, user_agent="new"))
        await ingest.supervisor.call(Reload(encode_settings(fresh)), timeout_s=DEADLINE_S)
        assert ingest.run(run_id).state == RunState.RUNNING
        await ingest.until(lambda: ingest.heartbeat.active_run_ids == (run_id,), "the run is active again")


async def test_a_full_disk_pauses_intake_and_it_goes_on_by_itself(origin: Origin, tmp_path: Path) -> None:
    """Y22, DESIGN 2: below the floor nothing is started, and the reason is shown."""
    huge = {"storage": {"min_free_bytes": 1 << 40}}
    async with ingesting(origin, tmp_path, huge) as ingest:
        await ingest.until(lambda: ingest.heartbeat.guard == "disk", "a heartbeat that names the guard")
        with pytest.raises(WrongStateError) as caught:
            await ingest.start(origin.url("/ok"))
        assert caught.value.reason == "INTAKE_PAUSED"


async def test_short_memory_is_freed_first_then_pauses_intake_and_runs_stay_as_they_are(
    origin: Origin, tmp_path: Path
) -> None:
    """Y20, Y21, Y22, YP20: what was stopped by hand stays so when the guard lets go, what ran goes on."""
    site(origin, {"/": ("/a", "/b"), "/a": (), "/b": ()})
    async with ingesting(origin, tmp_path, {"crawl": {"delay_ms": 600_000}}, fast=False) as ingest:
        run_id = await ingest.start(origin.url("/"))
        stopped_id = await ingest.start(origin.url("/b"))
        await ingest.supervisor.call(StopCrawl(stopped_id), timeout_s=DEADLINE_S)
        crawl = ingest.settings.crawl
        short = dataclasses.replace(ingest.settings, crawl=dataclasses.replace(crawl, max_memory_bytes=1 << 20))
        await ingest.supervisor.call(Reload(encode_settings(short)), timeout_s=DEADLINE_S)
        await ingest.until(lambda: ingest.heartbeat.guard == "memory", "a heartbeat that names the guard")
        assert (ingest.heartbeat.guards.reliefs, ingest.heartbeat.guards.pauses) == (1, 1)
        assert ingest.run(run_id).state == RunState.RUNNING
        await ingest.supervisor.call(Reload(encode_settings(ingest.settings)), timeout_s=DEADLINE_S)
        await ingest.until(lambda: not ingest.heartbeat.guard, "the guard to let go")
        assert ingest.heartbeat.guards.paused_s > 0
        assert ingest.heartbeat.guards.memory_bytes > 1 << 20
        assert (ingest.run(run_id).state, ingest.run(stopped_id).state) == (RunState.RUNNING, RunState.PAUSED)
