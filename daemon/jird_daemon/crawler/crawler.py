"""The crawl loop: lease, fetch, parse, record; as much at once as the limits allow, and never more.

    frontier.lease -> visit -> [robots.txt] -> fetch -> parse -> committer (one transaction for many) -> on_commit
       ^                                                              |
       +------------------------- effects ----------------------------+

One task for each lease; `connections` of them may be in the network part, `connections + UNCOMMITTED_MAX` in all, so
that a slow disk or parser holds back the fetching. The loop sleeps until an event or the next deadline; nothing polls,
so a stop is noticed at once (J58, J168).
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from jird_daemon.clock import Clock
from jird_daemon.crawler.admission import Admission
from jird_daemon.crawler.commits import Committer
from jird_daemon.crawler.crawl_log import CrawlLog
from jird_daemon.crawler.pacing import Pacing
from jird_daemon.crawler.recorder import Recorder
from jird_daemon.crawler.response import Response
from jird_daemon.crawler.robots_cache import RobotsCache
from jird_daemon.crawler.robots_step import RobotsStep
from jird_daemon.crawler.run_control import RunControl
from jird_daemon.crawler.seeds import SeedChecker
from jird_daemon.crawler.verdict import judge
from jird_daemon.crawler.visit import Target, Visit
from jird_daemon.crawler.visitor import Parser, Visitor
from jird_daemon.errors import StoreFullError
from jird_daemon.extract.document import ParsedDocument
from jird_daemon.frontier.batch import BatchEffects, FrontierBatch
from jird_daemon.frontier.frontier import Frontier, Lease
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.log import get_logger
from jird_daemon.outcome import FLUKES, ExitCode
from jird_daemon.store.env import Store
from jird_daemon.store.tables import RowState, RunReason
from jird_daemon.store.uuid7 import make_uuid7
from jird_daemon.url.canonical import split
from jird_daemon.url.policy import UrlPolicy
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
        self._max_attempts = crawl.max_attempts
        self._on_commit = on_commit
        rules = OriginRules(crawl, settings.hosts)
        self.admission = Admission(make_url_policy(settings), crawl)
        self.frontier = Frontier(store, rules, clock, address_connections=crawl.address_connections)
        self.committer = Committer(store, clock, self._committed, on_batch=self._add_active_time)
        self._visitor = Visitor(settings, rules, self.admission, parser, clock)
        self._pacing = Pacing(rules, clock, random.random)
        log = CrawlLog(make_uuid7(clock.now_s()))
        self._recorder = Recorder(self.admission, settings.content, log)
        self._robots = RobotsCache(store, clock, self._visitor.product_token)
        self._robots_step = RobotsStep(self.frontier, self._robots, self._visitor, self._pacing, self.committer, log)
        self.runs = RunControl(
            store, crawl, clock, self.frontier, self.committer, SeedChecker(self.admission, self._visitor.resolve),
            self._join_run, self.wake,
        )  # fmt: skip
        self._visits: dict[asyncio.Task[None], Lease] = {}
        self._wake = asyncio.Event()
        self._loop_task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._active_since: dict[int, float] = {}
        self.guard = ""
        self.requests = 0

    # -- life -----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin; runs are set going through `runs`."""
        self.committer.start()
        self._loop_task = asyncio.get_running_loop().create_task(self._loop(), name="crawl loop")

    async def stop(self, reason: RunReason | None = None) -> None:
        """Lease nothing more, join every visit, write what they found, close every connection (J94).

        Args:
            reason: Why the runs are paused; None leaves them running in the store, for the next crawler.
        """
        self._is_stopping = True
        self.wake()
        try:
            if self._loop_task is not None:
                await self._loop_task
            await self._join(list(self._visits))
            await self.runs.close()
            if reason is not None:
                await self.runs.pause_running(reason)
        finally:
            await self.committer.close()
            await self._visitor.close()

    def wake(self) -> None:
        """Let the loop look again."""
        self._wake.set()

    def set_guard(self, reason: str) -> None:
        """Pause intake for a reason, or go on with an empty one. Runs stay as they are."""
        if reason != self.guard:
            _log.warning("intake.paused", reason=reason) if reason else _log.info("intake.resumed", after=self.guard)
            self.guard = reason
            self.wake()

    async def _join_run(self, run_id: int) -> None:
        await self._join([task for task, lease in self._visits.items() if lease.run.run_id == run_id])

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
            self.requests,
            self.frontier.waiting_reasons(100),
        )

    # -- the loop -------------------------------------------------------------------------------------------------

    async def _loop(self) -> None:
        while not self._is_stopping:
            self._wake.clear()
            try:
                if not self.guard:
                    self._start_visits()
                    self.runs.look_after()
                delay_s = self._sleep_s()
            except Exception:  # whatever it was, the other runs go on
                _log.error("loop.failed", exc_info=True)
                delay_s = 1.0
            await self._sleep(delay_s)

    async def _sleep(self, delay_s: float | None) -> None:
        if delay_s == 0:
            await asyncio.sleep(0)
            return
        try:
            async with asyncio.timeout(delay_s):
                await self._wake.wait()
        except TimeoutError:
            return

    def _start_visits(self) -> None:
        loop = asyncio.get_running_loop()
        while self.frontier.in_flight < self._connections and len(self._visits) < self._connections + UNCOMMITTED_MAX:
            lease = self.frontier.lease()
            if lease is None:
                return
            task = loop.create_task(self._visit(lease))
            self._visits[task] = lease
            task.add_done_callback(self._visit_ended)

    def _sleep_s(self) -> float | None:
        """Until something happens by itself: an origin's delay ends, a row falls due. None: only an event helps."""
        times = [self.runs.next_due_s()]
        if not self.guard and self.frontier.in_flight < self._connections:
            next_s = self.frontier.next_time_s()
            times.append(None if next_s is None else max(next_s - self._clock.monotonic_s(), 0.0))
        known = [time_s for time_s in times if time_s is not None]
        return min(known, default=None)

    def _visit_ended(self, task: asyncio.Task[None]) -> None:
        del self._visits[task]
        if not task.cancelled() and task.exception() is not None:
            _log.error("visit.lost", error=repr(task.exception()))
        self.wake()

    # -- a visit --------------------------------------------------------------------------------------------------

    async def _visit(self, lease: Lease) -> None:
        try:
            await self._work(lease)
        except asyncio.CancelledError:
            self.frontier.break_off(lease, self._pacing.least_delay_s(lease))
        except StoreFullError as error:
            self.set_guard(error.reason.lower())
            self.frontier.break_off(lease, 0.0)
        except Exception:
            _log.error("visit.failed", url=lease.url, run=lease.run.run_id, exc_info=True)
            await self._give_up(lease)

    async def _work(self, lease: Lease) -> None:
        refusal = self.admission.refusal(lease.url, is_seed=not lease.row.depth)
        if refusal is not None:
            await self._skip(lease, ExitCode.BLOCKED_URL_BY_LOCAL_POLICY, f"{refusal.reason}: {refusal.message}")
            return
        origin = lease.source.origin
        robots = self._robots.get(lease.source.origin_id)
        if robots is None:
            await self._robots_step.run(lease)
            return
        if not self._robots.is_allowed(robots, split(lease.url).path_query):
            await self._skip(lease, ExitCode.BLOCKED_BY_ROBOTS_TXT, "robots.txt does not allow it")
            return
        resolved = await self._visitor.resolve(origin.host, origin.port)
        if resolved.addresses and not self.frontier.acquire_address(lease, resolved.addresses[0]):
            return
        tries = [await self._visitor.fetch_page(lease, resolved)]
        # U53: a fluke is tried again at once, one time; it counts as an attempt.
        is_fluke = tries[0].failure in FLUKES and lease.row.attempts + 1 < self._max_attempts
        if is_fluke and self.frontier.reserve(lease):
            tries.append(await self._visitor.fetch_page(lease, resolved))
        self.requests += len(tries)
        await self._conclude(lease, tuple(tries), robots.delay_s)

    async def _conclude(self, lease: Lease, tries: tuple[Response, ...], robots_delay_s: float | None) -> None:
        response = tries[-1]
        verdict = judge(response, was_conditional=bool(lease.etag or lease.last_modified))
        pace = self._pacing.after(lease, response, verdict.trouble, robots_delay_s)
        lease.can_break_off = False
        # A redirect's target is the origin's next request, so that has to wait until the target is queued.
        is_redirect = verdict.exit_code in (ExitCode.REDIRECT, ExitCode.PERMANENT_REDIRECT)
        if not is_redirect:
            self.frontier.end_request(lease, pace.run, pace.origin)
            self.wake()
        document, failure = None, ""
        if verdict.exit_code is ExitCode.FILE_INGESTED:
            document, failure = await self._visitor.parse(response)
        is_last = not verdict.is_transient or lease.row.attempts + len(tries) >= self._max_attempts
        visit = Visit(
            _target(lease),
            tries,
            verdict,
            pace.run,
            pace.origin,
            None if is_last else round(pace.origin.next_time_s * 1000),
            document,
            failure,
            self._canonical_is_allowed(lease, document),
        )

        def end() -> None:
            if is_redirect:
                self.frontier.end_request(lease, pace.run, pace.origin)
            self.frontier.end_lease(lease)

        code = await self.committer.submit(lambda batch: self._recorder.record(batch, visit), end)
        _log_visit(visit, code)

    def _canonical_is_allowed(self, lease: Lease, document: ParsedDocument | None) -> bool:
        if document is None or not document.canonical_url:
            return True
        robots = self._robots.get(lease.source.origin_id)
        return robots is None or self._robots.is_allowed(robots, split(document.canonical_url).path_query)

    async def _skip(self, lease: Lease, code: ExitCode, message: str) -> None:
        lease.can_break_off = False
        self.frontier.release_gate(lease)
        self.wake()
        target, now_s = _target(lease), self._clock.now_s()
        await self.committer.submit(
            lambda batch: self._recorder.skip(batch, target, code, message, now_s),
            lambda: self.frontier.end_lease(lease),
        )
        _log.info(
            "fetch.skipped", url=lease.url, origin=target.origin, run=target.run_id, exit_code=code.name.lower(),
            reason=message,
        )  # fmt: skip

    async def _give_up(self, lease: Lease) -> None:
        """A visit whose result cannot be stored ends as failed, so that it is not repeated without end (S8)."""
        target = _target(lease)
        if lease.has_token:
            self.frontier.release_gate(lease)

        def fail(batch: FrontierBatch) -> None:
            batch.finish(
                target.run_id, target.url_id, RowState.FAILED, int(ExitCode.DATABASE_ERROR), target.row.attempts + 1
            )
            batch.count(target.run_id, "failed")
            batch.count(target.run_id, "requests")
            batch.count_exit(target.run_id, int(ExitCode.DATABASE_ERROR))

        try:
            await self.committer.submit(fail, lambda: self.frontier.end_lease(lease))
        except Exception:
            # Not even that can be written: stop before every URL meets the same fate.
            _log.error("visit.unwritable", url=target.url, exc_info=True, then="intake is paused")
            self.set_guard("store")
            self.frontier.return_row(lease)

    # -- commits --------------------------------------------------------------------------------------------------

    def _committed(self, effects: BatchEffects) -> None:
        self.runs.take_over(self.frontier.after_commit(effects))
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


def make_url_policy(settings: Settings) -> UrlPolicy:
    """The rules of `[crawl]`, `[network]` and `[[hosts]]` for URLs."""
    named = [*settings.network.resolve, *(rule.match for rule in settings.hosts if rule.resolve)]
    return UrlPolicy(settings.crawl.schemes, settings.network.ports, settings.network.allow_private, named)


def _target(lease: Lease) -> Target:
    source, run = lease.source, lease.run
    return Target(
        run.run_id, lease.url_id, lease.url, source.origin_id, source.origin.name, lease.row, run.scope,
        run.run.max_depth, lease.was_indexable,
    )  # fmt: skip


def _log_visit(visit: Visit, code: ExitCode) -> None:
    target, response = visit.target, visit.response
    _log.info(
        "fetch.done", url=target.url, origin=target.origin, run=target.run_id, exit_code=code.name.lower(),
        status=response.status, bytes=len(response.body), ms=round(response.duration_s * 1000),
        reason=response.message or None,
    )  # fmt: skip
