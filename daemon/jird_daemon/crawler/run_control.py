"""Runs from the crawl loop's point of view: started, stopped, looked after, ended.

What a run is and may do stands in frontier/runs.py; here it is set going, its waiting rows are woken when they fall
due, rows of origins that were set aside are cleared away, and it is ended when its budget is spent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from pathlib import PurePath

from jird_daemon.clock import Clock
from jird_daemon.control import StartCrawl
from jird_daemon.crawler.admission import NO_RULES, Admission
from jird_daemon.crawler.commits import Committer
from jird_daemon.crawler.seeds import SeedChecker
from jird_daemon.errors import InvalidArgumentError
from jird_daemon.frontier.batch import FrontierBatch
from jird_daemon.frontier.frontier import Frontier
from jird_daemon.frontier.lease import ActiveRun
from jird_daemon.frontier.runs import (
    RunPlan,
    RunScope,
    Started,
    default_scope,
    get_run,
    next_round_ms,
    running_runs,
    scheduled_runs,
    start_run,
)
from jird_daemon.log import get_logger
from jird_daemon.outcome import ExitCode
from jird_daemon.store.env import Store
from jird_daemon.store.tables import RUN_RULES, RunReason, RunState, Scope
from jird_settings import Settings

# J55, J56, J57 and the contract: caps on what a start may ask for.
DEPTH_MAX = 32
PAGES_MAX = 10_000_000
DELAY_MS_MAX = 600_000
NAME_CHARS_MAX = 200
INTERVAL_S_MAX = 3_650 * 86_400
# After work on the store that failed, before it is tried again.
RETRY_S = 1.0

_log = get_logger("runs")


class RunControl:
    """Belongs to the event loop's thread."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        frontier: Frontier,
        committer: Committer,
        admission: Admission,
        seeds: SeedChecker,
        join: Callable[[int], Awaitable[None]],
        wake: Callable[[], None],
    ) -> None:
        """Take the parts it works with.

        Args:
            store: For reading.
            settings: Defaults.
            clock: Time.
            frontier: Where runs are activated.
            committer: Where they are changed.
            admission: Where their rules are at hand.
            seeds: Checks the seeds of a start.
            join: Waits until nothing of a run is in flight.
            wake: Lets the crawl loop look again.
        """
        self._store = store
        self._crawl = settings.crawl
        self._state_dir = settings.storage.state_dir
        self._clock = clock
        self._frontier = frontier
        self._committer = committer
        self._admission = admission
        self._seeds = seeds
        self._join = join
        self._wake = wake
        self._tasks: dict[tuple[int, ...], asyncio.Task[object]] = {}
        self._schedule: dict[int, int] = {}  # run to the time of its next round, unix milliseconds
        self._is_held = False

    async def start(self, request: StartCrawl) -> int:
        """Make or resume a run; returns its number.

        Raises:
            InvalidUrlError: A seed is refused; the reason names the rule.
            InvalidArgumentError: An option is out of range.
            OverloadedError: Too many runs are active.
            StoreFullError: There is no room for it.
        """
        self._check_state_path(request.state_path)
        plan = self._plan(request, await self._seeds.check(request.seeds))
        self._admission.make(RunScope.open(), plan.rules or NO_RULES, plan.max_depth)  # refuses a bad policy
        now_s = self._clock.now_s()

        def begin(batch: FrontierBatch) -> Started:
            started = start_run(batch.txn, plan, now_s, self._crawl.max_active_runs)
            if started.is_new:
                batch.discover(started.run_id, plan.seeds, 0)
            return started

        started = await self._committer.submit(begin)
        _log.info("run.started", run=started.run_id, seeds=len(plan.seeds), resumed=not started.is_new)
        self._activate(started.run_id)
        return started.run_id

    async def stop(self, run_id: int = 0) -> tuple[int, ...]:
        """Pause a run, or all; returns those that were running, when nothing of theirs is in flight any more (J94).

        Raises:
            NotFoundError: There is no such run.
        """
        if run_id:
            with self._store.read() as txn:
                get_run(txn, run_id)
        run_ids = [run_id] if run_id in self._frontier.runs else [] if run_id else list(self._frontier.runs)
        waiting = [number for number in self._schedule if run_id in (0, number) and number not in run_ids]
        for number in run_ids:
            self._frontier.drain(number)
        await asyncio.gather(*(self._join(number) for number in run_ids))
        stopped = await self._end(run_ids, RunReason.STOPPED)
        return (*stopped, *await self._stop_schedule(waiting))

    async def resume_running(self) -> tuple[int, ...]:
        """Go on with the runs that the store calls running; returns them."""
        run_ids = self._running()
        for run_id in run_ids:
            self._activate(run_id)
        return tuple(run_ids)

    async def pause_running(self, reason: RunReason) -> tuple[int, ...]:
        """Pause what the store calls running; returns the runs paused (F99)."""
        return tuple(await self._end(self._running(), reason))

    def take_over(self, ended: Iterable[ActiveRun]) -> None:
        """Take note of runs that a commit has ended."""
        for active in ended:
            run = active.run
            _log.info(
                "run.ended", run=active.run_id, state=RunState(run.state).name.lower(),
                reason=RunReason(run.reason).name.lower(), requests=run.counts.requests, ingested=run.counts.ingested,
                failed=run.counts.failed, dropped=run.counts.dropped,
            )  # fmt: skip

    def load_schedule(self) -> None:
        """Learn from the store which runs crawl again by themselves."""
        with self._store.read() as txn:
            self.note_rounds({run_id: next_round_ms(txn, run_id, run) for run_id, run in scheduled_runs(txn)})

    def note_rounds(self, next_round_ms: Mapping[int, int | None]) -> None:
        """Take note of when runs are to be set going again; None: not at all, or not now."""
        for run_id, time_ms in next_round_ms.items():
            if time_ms is None:
                self._schedule.pop(run_id, None)
            else:
                self._schedule[run_id] = time_ms

    def hold_rounds(self, is_held: bool) -> None:
        """Begin no rounds while something must not race a crawl."""
        self._is_held = is_held
        self._wake()

    def look_after(self) -> None:
        """Do what is due for every active run; work on the store is begun, not waited for."""
        now_ms = round(self._clock.now_s() * 1000)
        for run_id, active in list(self._frontier.runs.items()):
            if active.run.state != RunState.RUNNING:
                if not active.leases:
                    self._forget(run_id)
            elif active.is_draining:
                continue
            elif active.next_due_ms is not None and active.next_due_ms <= now_ms:
                self._begin((run_id,), partial(_bring_due, run_id=run_id, now_ms=now_ms))
            elif active.budget_left <= 0 and not active.leases:
                end = partial(FrontierBatch.end, run_id=run_id, state=RunState.PAUSED, reason=RunReason.BUDGET)
                self._begin((run_id,), end)
        for run_id, time_ms in list(self._schedule.items()):
            if time_ms <= now_ms and self._has_place(run_id):
                self._begin_round(run_id, now_ms)
        for key in [key for key in self._frontier.window.set_aside if key not in self._tasks]:
            self._frontier.window.set_aside.discard(key)
            code = int(ExitCode.CONNECTION_FAILED)
            self._begin(key, partial(FrontierBatch.sweep, run_id=key[0], origin_id=key[1], exit_code=code))

    def next_due_s(self) -> float | None:
        """Seconds until a waiting row of an active run falls due; None when none waits."""
        now_s = self._clock.now_s()
        due = [
            max(active.next_due_ms / 1000 - now_s, 0.0)
            for run_id, active in self._frontier.runs.items()
            if active.next_due_ms is not None and not active.is_draining and (run_id,) not in self._tasks
        ]
        due += [
            max(time_ms / 1000 - now_s, 0.0) for run_id, time_ms in self._schedule.items() if self._has_place(run_id)
        ]
        return min(due, default=None)

    async def close(self) -> None:
        """Wait for what was begun."""
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    def _plan(self, request: StartCrawl, seeds: tuple[str, ...]) -> RunPlan:
        crawl = self._crawl
        depth = _in_range("max_depth", request.max_depth, crawl.max_depth, DEPTH_MAX)
        pages = _in_range("max_pages", request.max_pages, crawl.max_pages, PAGES_MAX)
        if request.delay_ms is not None:
            _in_range("delay_ms", request.delay_ms, 0, DELAY_MS_MAX)
        if len(request.name) > NAME_CHARS_MAX:
            raise InvalidArgumentError(f"name has {len(request.name)} characters; at most {NAME_CHARS_MAX}")
        scope = Scope(request.scope) if request.scope else default_scope(len(seeds), crawl.same_origin_only)
        interval_s = _in_range("recrawl_interval", request.recrawl_interval_s, crawl.recrawl_interval, INTERVAL_S_MAX)
        return RunPlan(
            seeds, depth, pages, scope, crawl.frontier_cap, request.delay_ms, request.name, request.rules, interval_s,
            request.force_recrawl,
        )  # fmt: skip

    def _check_state_path(self, path: str) -> None:
        """U107: a crawl file may say which daemon it is for, by the last parts of the path of its data."""
        wanted, have = PurePath(path).parts, self._state_dir.parts
        wanted = wanted[1:] if wanted[:1] == ("/",) else wanted
        if wanted and have[-len(wanted) :] != wanted:
            raise InvalidArgumentError(
                f"the crawl is for a daemon whose state_dir ends in {path}, and this one's does not", "STATE_PATH"
            )

    def _has_place(self, run_id: int) -> bool:
        """Whether a round of a scheduled run could begin now."""
        is_full = len(self._frontier.runs) >= self._crawl.max_active_runs
        return not (self._is_held or is_full or run_id in self._frontier.runs or (run_id,) in self._tasks)

    def _begin_round(self, run_id: int, now_ms: int) -> None:
        """Set a run going again whose pages are due."""
        self._begin((run_id,), partial(FrontierBatch.begin_round, run_id=run_id, now_ms=now_ms))
        task = self._tasks[(run_id,)]
        task.add_done_callback(lambda task: None if task.cancelled() or task.exception() else self._round_began(run_id))

    def _round_began(self, run_id: int) -> None:
        self._activate(run_id)
        _log.info("run.recrawl", run=run_id, then="what is due is crawled again")

    async def _stop_schedule(self, run_ids: list[int]) -> list[int]:
        """Set runs aside that wait to be set going again."""

        def stop(batch: FrontierBatch) -> list[int]:
            return [run_id for run_id in run_ids if batch.stop_schedule(run_id)]

        return await self._committer.submit(stop) if run_ids else []

    def _activate(self, run_id: int) -> None:
        with self._store.read() as txn:
            run = get_run(txn, run_id)
            rules = txn.get(RUN_RULES, run_id) or NO_RULES
        if run.state != RunState.RUNNING:
            return  # nothing was left to do
        self._admission.add_run(run_id, RunScope.of(run), rules, run.max_depth)
        active = self._frontier.activate(run_id, run)
        active.user_agent = rules.user_agent
        active.next_due_ms = 0  # the first look finds what is due
        self._wake()

    def _running(self) -> list[int]:
        with self._store.read() as txn:
            return [run_id for run_id, _ in running_runs(txn)]

    async def _end(self, run_ids: list[int], reason: RunReason) -> list[int]:
        def pause(batch: FrontierBatch) -> list[int]:
            running = [run_id for run_id in run_ids if batch.run(run_id).state == RunState.RUNNING]
            for run_id in running:
                batch.end(run_id, RunState.PAUSED, reason)
            return running

        if not run_ids:
            return []
        paused = await self._committer.submit(pause)
        for run_id in run_ids:
            self._forget(run_id)
        return paused

    def _forget(self, run_id: int) -> None:
        self._frontier.forget(run_id)
        self._admission.forget(run_id)

    def _begin(self, key: tuple[int, ...], work: Callable[[FrontierBatch], object]) -> None:
        """Submit work for a run or an origin, once at a time."""
        if key in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._committer.submit(work))
        self._tasks[key] = task
        task.add_done_callback(lambda task: self._ended(key, task))

    def _ended(self, key: tuple[int, ...], task: asyncio.Task[object]) -> None:
        if task.cancelled() or task.exception() is None:
            self._release(key)
            return
        _log.error("run.upkeep_failed", run=key[0], error=repr(task.exception()), then="trying again in a second")
        if len(key) == 2:
            self._frontier.window.set_aside.add((key[0], key[1]))
        asyncio.get_running_loop().call_later(RETRY_S, self._release, key)

    def _release(self, key: tuple[int, ...]) -> None:
        del self._tasks[key]
        self._wake()


def _bring_due(batch: FrontierBatch, run_id: int, now_ms: int) -> None:
    """Queue rows whose retry is due, and those whose recrawl was due when the round began."""
    batch.wake_due(run_id, now_ms)
    batch.requeue_due(run_id, now_ms)


def _in_range(name: str, value: int | None, default: int, most: int) -> int:
    if value is None:
        return default
    if not 0 <= value <= most:
        raise InvalidArgumentError(f"{name} is {value}; it must be 0 to {most}", "OPTION_RANGE")
    return value
