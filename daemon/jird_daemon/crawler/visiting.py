"""One URL from lease to disk: robots.txt, fetch, parse, record; and what becomes of it when something fails."""

import asyncio
from collections.abc import Callable

from jird_daemon.crawler.commits import Committer
from jird_daemon.crawler.pacing import Pacing
from jird_daemon.crawler.recorder import Recorder
from jird_daemon.crawler.response import Response
from jird_daemon.crawler.robots_cache import OriginRobots, RobotsCache
from jird_daemon.crawler.robots_step import RobotsStep
from jird_daemon.crawler.sitemap_step import SitemapStep
from jird_daemon.crawler.verdict import Verdict, judge
from jird_daemon.crawler.visit import Visit, target_of
from jird_daemon.crawler.visitor import Reading, Visitor
from jird_daemon.errors import StoreFullError
from jird_daemon.extract.challenge import challenge_of_error, may_be_challenge
from jird_daemon.extract.document import ParsedDocument, ParseKind
from jird_daemon.frontier.batch import FrontierBatch
from jird_daemon.frontier.frontier import Frontier
from jird_daemon.frontier.lease import Lease
from jird_daemon.frontier.politeness import Trouble
from jird_daemon.log import get_logger
from jird_daemon.outcome import FLUKES, ExitCode
from jird_daemon.store.tables import RowState
from jird_daemon.url.canonical import split

_log = get_logger("crawler")


class Visiting:
    """Belongs to the event loop's thread."""

    def __init__(
        self,
        frontier: Frontier,
        visitor: Visitor,
        robots: RobotsCache,
        robots_step: RobotsStep,
        pacing: Pacing,
        committer: Committer,
        recorder: Recorder,
        sitemaps: SitemapStep,
        *,
        max_attempts: int,
        pause: Callable[[str], None],
        on_place: Callable[[], None],
    ) -> None:
        """Take the parts it works with.

        Args:
            frontier: Whose leases they are.
            visitor: Network and parser.
            robots: Rules in force.
            robots_step: Gets them.
            pacing: Politeness.
            committer: Writes results.
            recorder: What a result is.
            sitemaps: Queues what sitemaps name.
            max_attempts: Attempts for a URL in all (J63).
            pause: Called with a reason when nothing can be written any more.
            on_place: Called when another request may be sent.
        """
        self._frontier = frontier
        self._visitor = visitor
        self._robots = robots
        self._robots_step = robots_step
        self._pacing = pacing
        self._committer = committer
        self._recorder = recorder
        self._sitemaps = sitemaps
        self._max_attempts = max_attempts
        self._pause = pause
        self._on_place = on_place
        self.requests = 0

    async def visit(self, lease: Lease) -> None:
        """Work on a lease to its end; whatever happens, it is given back or ended. Never raises."""
        try:
            await self._work(lease)
        except asyncio.CancelledError:
            self._frontier.break_off(lease, self._pacing.least_delay_s(lease))
        except Exception as error:
            await self.fail(lease, error)

    async def fail(self, lease: Lease, error: Exception) -> None:
        """End a lease whose result cannot be stored.

        Without room the row is kept for later and intake is paused. Any other failure ends the URL as failed, so that
        it is not repeated without end (S8).
        """
        if isinstance(error, StoreFullError):
            self._pause(error.reason.lower())
            self._frontier.break_off(lease, 0.0)
            return
        _log.error("visit.failed", url=lease.url, run=lease.run.run_id, error=repr(error), exc_info=True)
        if lease.has_token:
            self._frontier.release_gate(lease)
        try:
            await self._committer.submit(lambda batch: _fail(batch, lease), lambda: self._frontier.end_lease(lease))
        except Exception:
            # Not even that can be written: stop before every URL meets the same fate.
            _log.error("visit.unwritable", url=lease.url, exc_info=True, then="intake is paused")
            self._pause("store")
            self._frontier.return_row(lease)

    async def _work(self, lease: Lease) -> None:
        robots = self._robots.get(lease.source.origin_id)
        if robots is None:
            await self._robots_step.run(lease)
            return
        origin = lease.source.origin
        resolved = await self._visitor.resolve(origin.host, origin.port)
        if resolved.addresses and not self._frontier.acquire_address(lease, resolved.addresses[0]):
            return
        self._frontier.load_validators(lease)
        tries = [await self._visitor.fetch_page(lease, resolved)]
        # U53: a fluke is tried again at once, one time; it counts as an attempt.
        is_fluke = tries[0].failure in FLUKES and tries[0].was_sent and lease.row.attempts + 1 < self._max_attempts
        if is_fluke and self._frontier.reserve(lease):
            tries.append(await self._visitor.fetch_page(lease, resolved))
        self.requests += len(tries)
        lease.can_break_off = False
        await self._conclude(lease, tuple(tries), robots)

    async def _conclude(self, lease: Lease, tries: tuple[Response, ...], robots: OriginRobots) -> None:
        response, agent = tries[-1], self._visitor.agent_of(lease)
        verdict = judge(response, was_conditional=bool(lease.etag or lease.last_modified))
        has_content, reading = verdict.exit_code is ExitCode.FILE_INGESTED, Reading(None)
        product = challenge_of_error(response.status, response.headers, response.head)
        if product:
            verdict = Verdict(ExitCode.BLOCKED_BY_CHALLENGE, Trouble.CHALLENGED)
            reading = Reading(None, f"challenge page of {product}")
        trouble = verdict.trouble
        is_suspect = has_content and may_be_challenge(response.body)
        if is_suspect:  # the origin waits until it is known whether it is to be left alone
            reading = await self._visitor.parse(lease, response)
            is_challenge = reading.document is not None and reading.document.kind is ParseKind.CHALLENGE
            trouble = Trouble.CHALLENGED if is_challenge else None
        pace = self._pacing.after(lease, response, trouble, robots.policy.crawl_delay(agent.token))
        # A redirect's target is the origin's next request, so that has to wait until the target is queued.
        is_redirect = verdict.exit_code in (ExitCode.REDIRECT, ExitCode.PERMANENT_REDIRECT)
        if not is_redirect:
            self._frontier.end_request(lease, pace.run, pace.origin)
            self._on_place()
        not_before_s = pace.origin.next_time_s
        if has_content:
            if not is_suspect:
                reading = await self._visitor.parse(lease, response)
            if reading.is_transient:  # the page is asked for again: its bytes are not kept
                verdict = Verdict(ExitCode.UNKNOWN_ERROR, is_transient=True)
                not_before_s = max(not_before_s, self._pacing.retry_time_s(lease.row.attempts + len(tries)))
        is_last = not verdict.is_transient or lease.row.attempts + len(tries) >= self._max_attempts
        visit = Visit(
            target_of(lease),
            tries,
            verdict,
            pace.run,
            pace.origin,
            None if is_last else round(not_before_s * 1000),
            reading.document,
            reading.failure,
            _canonical_is_allowed(robots, agent.token, reading.document),
        )

        await self._sitemaps.queue_locations(visit)

        def end() -> None:
            if is_redirect:
                self._frontier.end_request(lease, pace.run, pace.origin)
            self._frontier.end_lease(lease)

        code = await self._committer.submit(lambda batch: self._recorder.record(batch, visit), end)
        _log.info(
            "fetch.done", url=lease.url, origin=visit.target.origin, run=visit.target.run_id,
            exit_code=code.name.lower(), status=response.status, bytes=len(response.body),
            ms=round(response.duration_s * 1000), reason=response.message or None,
        )  # fmt: skip


def _canonical_is_allowed(robots: OriginRobots, token: str, document: ParsedDocument | None) -> bool:
    if document is None or not document.canonical_url:
        return True
    return robots.policy.is_allowed(token, split(document.canonical_url).path_query)


def _fail(batch: FrontierBatch, lease: Lease) -> None:
    run_id, code = lease.run.run_id, int(ExitCode.DATABASE_ERROR)
    batch.finish(run_id, lease.url_id, RowState.FAILED, code, lease.row.attempts + 1)
    batch.count(run_id, "failed")
    batch.count(run_id, "requests")
    batch.count_exit(run_id, code)
