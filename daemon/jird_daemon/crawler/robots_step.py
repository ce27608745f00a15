"""Asking for robots.txt: the first request to every origin, and again when the answer no longer holds (U9, U132).

It takes the place of a page's request: it uses the lease's turn, its delay runs, and the row is the origin's next.
While there is no usable answer nothing of the origin is fetched; the row gets a durable deadline, without an attempt,
and the run's patience with the origin falls, so that an origin whose robots.txt stays broken is given up in the end
(F1, J112).
"""

import asyncio

from jird_daemon.crawler.commits import Committer
from jird_daemon.crawler.crawl_log import CrawlLog
from jird_daemon.crawler.pacing import Pacing
from jird_daemon.crawler.response import Response
from jird_daemon.crawler.robots_cache import RobotsCache
from jird_daemon.crawler.verdict import RobotsVerdict, judge, judge_robots
from jird_daemon.crawler.visitor import Visitor
from jird_daemon.frontier.batch import FrontierBatch
from jird_daemon.frontier.frontier import Frontier
from jird_daemon.frontier.lease import Lease
from jird_daemon.frontier.politeness import Pace
from jird_daemon.log import get_logger
from jird_daemon.outcome import FLUKES, CrawlType, ExitCode
from jird_daemon.store.tables import ROBOTS, Robots
from jird_daemon.store.urls import intern_url

_log = get_logger("robots")


class RobotsStep:
    """Belongs to the event loop's thread."""

    def __init__(
        self,
        frontier: Frontier,
        cache: RobotsCache,
        visitor: Visitor,
        pacing: Pacing,
        committer: Committer,
        log: CrawlLog,
    ) -> None:
        """Take the parts it works with."""
        self._frontier = frontier
        self._cache = cache
        self._visitor = visitor
        self._pacing = pacing
        self._committer = committer
        self._crawl_log = log
        self._asked: dict[int, asyncio.Future[None]] = {}

    async def run(self, lease: Lease) -> None:
        """Get robots.txt of a lease's origin, and end the lease; its row comes again when there is an answer."""
        origin_id = lease.source.origin_id
        asked = self._asked.get(origin_id)
        if asked is not None:  # several connections to one origin: one of them asks
            await asyncio.wait([asked])
            self._frontier.give_back(lease)
            return
        done = self._asked[origin_id] = asyncio.get_running_loop().create_future()
        try:
            await self._ask(lease)
        finally:
            del self._asked[origin_id]
            done.set_result(None)

    async def _ask(self, lease: Lease) -> None:
        origin = lease.source.origin
        resolved = await self._visitor.resolve(origin.host, origin.port)
        if resolved.addresses and not self._frontier.acquire_address(lease, resolved.addresses[0]):
            return
        _log.info("robots.fetch", origin=origin.name, run=lease.run.run_id)
        answers = await self._visitor.fetch_robots(lease)
        if answers[-1].failure in FLUKES and answers[-1].was_sent:
            answers += await self._visitor.fetch_robots(lease)
        verdict = judge_robots(answers[-1])
        robots = Robots(
            answers[-1].end_s,
            answers[-1].status,
            verdict.is_available,
            answers[-1].body if verdict.has_rules else b"",
        )
        delay_s = None
        if verdict.is_available:
            policy = self._cache.put(lease.source.origin_id, robots).policy
            delay_s = policy.crawl_delay(self._visitor.agent_of(lease).token)
        pace = self._pacing.after(lease, answers[-1], verdict.trouble, delay_s)
        lease.can_break_off = False

        def end() -> None:
            # The rules are on disk when the next request of the origin looks for them.
            self._frontier.end_request(lease, pace.run, pace.origin)
            if verdict.is_available:
                self._frontier.return_row(lease)
            else:
                self._frontier.end_lease(lease)

        await self._committer.submit(lambda batch: self._record(batch, lease, answers, verdict, robots, pace), end)
        self._report(lease, answers[-1], verdict)

    def _record(
        self,
        batch: FrontierBatch,
        lease: Lease,
        answers: list[Response],
        verdict: RobotsVerdict,
        robots: Robots,
        pace: Pace,
    ) -> None:
        """In the writer's thread."""
        run_id, origin_id = lease.run.run_id, lease.source.origin_id
        batch.txn.put(ROBOTS, origin_id, robots)
        for answer in answers:
            code = verdict.exit_code if answer is answers[-1] else judge(answer, was_conditional=False).exit_code
            self._crawl_log.append(
                batch, run_id, intern_url(batch.txn, answer.url), origin_id, answer, code,
                crawl_type=CrawlType.ROBOTSTXT_FETCH, redirect_url=answer.header("location"),
            )  # fmt: skip
        batch.set_pace(run_id, origin_id, pace.run, pace.origin)
        if not verdict.is_available and pace.run.patience > 0:
            not_before_ms = round(pace.origin.next_time_s * 1000)
            row = lease.row
            batch.put_off(run_id, lease.url_id, not_before_ms, int(ExitCode.BLOCKED_BY_ROBOTS_TXT), row.attempts)

    def _report(self, lease: Lease, answer: Response, verdict: RobotsVerdict) -> None:
        fields: dict[str, str | int] = {
            "origin": lease.source.origin.name,
            "run": lease.run.run_id,
            "status": answer.status,
            "exit_code": verdict.exit_code.name.lower(),
        }
        if not verdict.is_available:
            fields |= {"reason": answer.message, "then": "nothing is fetched there for now"}
            _log.warning("robots.unavailable", exc_info=False, **fields)
        elif answer.status in (401, 403):
            fields |= {"then": "taken as no rules (RFC 9309 section 2.3.1.3)"}
            _log.warning("robots.refused", exc_info=False, **fields)
        else:
            _log.info("robots.done", **fields)
