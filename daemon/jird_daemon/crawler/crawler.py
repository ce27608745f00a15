"""The crawl loop: lease, fetch, parse, record; as much at once as the limits allow, and never more.

    frontier.lease -> visit -> [robots.txt] -> fetch -> parse -> committer (one transaction for many) -> on_commit
       ^                                                              |
       +------------------------- effects ----------------------------+

One task for each lease; `connections` of them may be in the network part, `connections + UNCOMMITTED_MAX` in all, so
that a slow disk or parser holds back the fetching. It acts on events and on the next deadline; nothing polls,
so a stop is noticed at once (J58, J168).
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from jird_daemon.clock import Clock
from jird_daemon.crawler.admission import Admission, make_url_policy
from jird_daemon.crawler.commits import Committer
from jird_daemon.crawler.crawl_log import CrawlLog
from jird_daemon.crawler.pacing import Pacing
from jird_daemon.crawler.recorder import Recorder
from jird_daemon.crawler.robots_cache import RobotsCache
from jird_daemon.crawler.robots_step import RobotsStep
from jird_daemon.crawler.run_control import RunControl
from jird_daemon.crawler.seeds import SeedChecker
from jird_daemon.crawler.sitemap_step import SitemapStep
from jird_daemon.crawler.skipping import SkipStep
from jird_daemon.crawler.visiting import Visiting
from jird_daemon.crawler.visitor import Parser, Visitor
from jird_daemon.frontier.batch import BatchEffects, FrontierBatch
from jird_daemon.frontier.frontier import Frontier
from jird_daemon.frontier.lease import Lease
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.log import get_logger
from jird_daemon.store.env import Store
from jird_daemon.store.tables import RunReason
from jird_daemon.store.uuid7 import make_uuid7
from jird_settings import Settings

# Pages that were fetched and are not on disk yet, beside those in the network: 256 of 4 MiB at the worst.
UNCOMMITTED_MAX = 128
# What a stop waits for requests in flight before it breaks them off; most end by themselves in this time.
STOP_GRACE_S = 2.0

_log = get_logger("crawler")


@dataclass(frozen=True, slots=True)
class Activity:
    """What the crawl is doing at this moment, for heartbeats and status."""

    active_run_ids: tuple[int, ...]
    in_flight: int
    in_flight_by_run: dict[int, int]
    guard: str
    robots_cached: int
    origin_deadlines: int
    requests: int  # since the start
    waiting_reasons: dict[str, str]


class Crawler:
    """All crawl runs of the process. Belongs to one event loop."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        parser: Parser,
        clock: Clock,
        *,
        on_commit: Callable[[], None] = lambda: None,
    ) -> None:
        """Build the parts; `start` sets them going.

        Args:
            store: Opened for writing.
            settings: All of them.
            parser: Turns bodies into documents.
            clock: Time.
            on_commit: Called in the event loop after each commit, for the index.

        Raises:
            OSError: A configured file of authorities cannot be read.
        """
        crawl = settings.crawl
        self._clock = clock
        self._connections = crawl.connections
        self._on_commit = on_commit
        rules = OriginRules(crawl, settings.hosts)
        self.admission = Admission(make_url_policy(settings), crawl)
        self.frontier = Frontier(store, rules, clock, address_connections=crawl.address_connections)
        self.committer = Committer(store, clock, self._committed, on_batch=self._add_active_time)
        self._visitor = Visitor(settings, rules, self.admission, parser, clock)
        pacing = Pacing(rules, clock, random.random)
        log = CrawlLog(make_uuid7(clock.now_s()))
        recorder = Recorder(self.admission, settings.content, log)
        self._robots = RobotsCache(store, clock)
        robots_step = RobotsStep(self.frontier, self._robots, self._visitor, pacing, self.committer, log)
        self._sitemaps = SitemapStep(self.admission, self._robots, self.committer)
        self._visiting = Visiting(
            self.frontier, self._visitor, self._robots, robots_step, pacing, self.committer, recorder, self._sitemaps,
            max_attempts=crawl.max_attempts, pause=self.set_guard, on_place=lambda: self.wake(is_care_due=False),
        )  # fmt: skip
        self._skips = SkipStep(
            self.frontier, self.admission, self._robots, self.committer, recorder, clock,
            lambda lease: self._visitor.agent_of(lease).token, self._skips_failed,
        )  # fmt: skip
        self.runs = RunControl(
            store, settings, clock, self.frontier, self.committer, self.admission,
            SeedChecker(self.admission, self._visitor.resolve), self._join_run, self.wake,
        )  # fmt: skip
        self._visits: dict[asyncio.Task[None], Lease] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_care_due = True
        self._is_stopping = False
        self._active_since: dict[int, float] = {}
        self.guard = ""

    # -- life -----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin; runs are set going through `runs`."""
        self._loop = asyncio.get_running_loop()
        self.committer.start()
        self.runs.load_schedule()
        self.wake()

    async def stop(self, reason: RunReason | None = None) -> None:
        """Lease nothing more, join every visit, write what they found, close every connection (J94).

        Args:
            reason: Why the runs are paused; None leaves them running in the store, for the next crawler.
        """
        self._is_stopping = True
        self._cancel_timer()
        try:
            await self._join(list(self._visits))
            await self._skips.join()
            await self._sitemaps.join()
            await self.runs.close()
            if reason is not None:
                await self.runs.pause_running(reason)
        finally:
            await self.committer.close()
            await self._visitor.close()

    def wake(self, *, is_care_due: bool = True) -> None:
        """Have the loop take a turn soon; many wakes before it are one.

        Args:
            is_care_due: Whether runs have to be looked after, too; not needed when only a place has become free.
        """
        self._is_care_due |= is_care_due
        if self._turn is None and self._loop is not None:
            self._turn = self._loop.call_soon(self._take_turn)

    def set_guard(self, reason: str) -> None:
        """Pause intake for a reason, or go on with an empty one. Runs stay as they are."""
        if reason != self.guard:
            _log.warning("intake.paused", reason=reason) if reason else _log.info("intake.resumed", after=self.guard)
            self.guard = reason
            self._active_since.clear()  # the time of a pause is nobody's active time (Y22)
            self.wake()

    def forget_what_is_stored(self) -> None:
        """Give back memory that only saves reading from the store."""
        self._robots.clear()

    async def _join_run(self, run_id: int) -> None:
        await self._join([task for task, lease in self._visits.items() if lease.run.run_id == run_id])
        await self._skips.join()
        await self._sitemaps.join()

    async def _join(self, tasks: "list[asyncio.Task[None]]") -> None:
        """Wait until these visits have ended; requests that take longer than the grace are broken off."""
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_GRACE_S)
        for task in tasks:
            lease = self._visits.get(task)
            if lease is not None and lease.can_break_off:
                task.cancel()
        remaining = [task for task in tasks if not task.done()]
        if remaining:
            await asyncio.wait(remaining)

    def activity(self) -> Activity:
        """What is being done now."""
        by_run: dict[int, int] = {}
        for lease in self._visits.values():
            if lease.has_token:
                by_run[lease.run.run_id] = by_run.get(lease.run.run_id, 0) + 1
        return Activity(
            tuple(self.frontier.runs),
            self.frontier.in_flight,
            by_run,
            self.guard,
            len(self._robots),
            self.frontier.deadlines,
            self._visiting.requests,
            self.frontier.waiting_reasons(100),
        )

    # -- the loop -------------------------------------------------------------------------------------------------

    def _take_turn(self) -> None:
        self._turn = None
        self._cancel_timer()
        if self._is_stopping:
            return
        try:
            if not self.guard:
                self._start_visits()
                if self._is_care_due:
                    self._is_care_due = False
                    self.runs.look_after()
            delay_s = self._sleep_s()
        except Exception:  # whatever it was, the other runs go on
            _log.error("loop.failed", exc_info=True, then="going on in a second")
            delay_s = 1.0
        if delay_s is not None:
            assert self._loop is not None
            self._timer = self._loop.call_later(delay_s, self.wake)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_visits(self) -> None:
        assert self._loop is not None
        while self._has_room():
            lease = self.frontier.lease()
            if lease is None:
                return
            self._sitemaps.look(lease)
            if self._skips.take(lease):
                continue
            task = self._loop.create_task(self._visiting.visit(lease))
            self._visits[task] = lease
            task.add_done_callback(self._visit_ended)

    def _has_room(self) -> bool:
        return self.frontier.in_flight < self._connections and len(self._visits) < self._connections + UNCOMMITTED_MAX

    def _sleep_s(self) -> float | None:
        """Until something happens by itself: an origin's delay ends, a row falls due. None: only an event helps."""
        if self.guard:
            return None  # whoever lets go of intake wakes the loop
        times = [self.runs.next_due_s()]
        if self._has_room():
            next_s = self.frontier.next_time_s()
            times.append(None if next_s is None else max(next_s - self._clock.monotonic_s(), 0.0))
        known = [time_s for time_s in times if time_s is not None]
        return min(known, default=None)

    def _skips_failed(self, leases: list[Lease], error: Exception) -> None:
        """Each is tried as a visit that failed, so that the one at fault is found."""
        assert self._loop is not None
        for lease in leases:
            task = self._loop.create_task(self._visiting.fail(lease, error))
            self._visits[task] = lease
            task.add_done_callback(self._visit_ended)

    def _visit_ended(self, task: asyncio.Task[None]) -> None:
        del self._visits[task]
        if not task.cancelled() and task.exception() is not None:
            _log.error("visit.lost", error=repr(task.exception()))
        self.wake()

    # -- commits --------------------------------------------------------------------------------------------------

    def _committed(self, effects: BatchEffects) -> None:
        self.runs.take_over(self.frontier.after_commit(effects))
        self.runs.note_rounds(effects.next_round_ms)
        self._on_commit()
        self.wake()

    def _add_active_time(self, batch: FrontierBatch) -> None:
        """Count the time since the last batch for every run that it touches; in the writer's thread."""
        now_s = self._clock.monotonic_s()
        for run_id in batch.touched_runs():
            since_s = self._active_since.get(run_id)
            if since_s is not None:
                batch.add_active(run_id, now_s - since_s)
            self._active_since[run_id] = now_s
