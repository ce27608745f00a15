"""URLs that are not asked for after all: robots.txt or a local policy forbids them (U143, S36).

A site may name thousands of them, and nothing is sent for any, so they are taken from the frontier as fast as they come
and recorded many at a time.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from jird_daemon.clock import Clock
from jird_daemon.crawler.admission import NOT_DUE, Admission, Robots, due_s, question_of_row
from jird_daemon.crawler.commits import Committer
from jird_daemon.crawler.recorder import Recorder
from jird_daemon.crawler.robots_cache import RobotsCache
from jird_daemon.crawler.visit import Target, target_of
from jird_daemon.frontier.batch import FrontierBatch
from jird_daemon.frontier.frontier import Frontier
from jird_daemon.frontier.lease import Lease
from jird_daemon.log import get_logger
from jird_daemon.outcome import ExitCode

# Recorded together: some ten milliseconds of a transaction.
SKIPS_PER_JOB = 128
# Taken and not on disk yet.
SKIPS_MAX = 512

_log = get_logger("crawler")


@dataclass(frozen=True, slots=True)
class Skip:
    """One URL and why it is not asked for."""

    lease: Lease
    target: Target
    exit_code: ExitCode | None  # None: it is not due, which is no action
    message: str


class SkipStep:
    """Belongs to the event loop's thread."""

    def __init__(
        self,
        frontier: Frontier,
        admission: Admission,
        robots: RobotsCache,
        committer: Committer,
        recorder: Recorder,
        clock: Clock,
        token_of: Callable[[Lease], str],
        on_failure: Callable[[list[Lease], Exception], None],
    ) -> None:
        """Take the parts it works with.

        `token_of` names us to robots.txt; `on_failure` decides what becomes of leases that could not be recorded.
        """
        self._frontier = frontier
        self._admission = admission
        self._robots = robots
        self._committer = committer
        self._recorder = recorder
        self._clock = clock
        self._token_of = token_of
        self._on_failure = on_failure
        self._waiting: deque[Skip] = deque()
        self._recording: asyncio.Task[None] | None = None

    @property
    def has_room(self) -> bool:
        """Whether more may be taken."""
        return len(self._waiting) < SKIPS_MAX

    def take(self, lease: Lease) -> bool:
        """Take a lease if its URL is not to be asked for; False: it is, or robots.txt has to be asked for first."""
        reason = self._reason(lease)
        if reason is None:
            return False
        lease.can_break_off = False
        self._frontier.release_gate(lease)
        self._waiting.append(Skip(lease, target_of(lease), *reason))
        if self._recording is None:
            self._recording = asyncio.get_running_loop().create_task(self._record_all())
        return True

    async def join(self) -> None:
        """Wait until everything taken is recorded."""
        if self._recording is not None:
            await asyncio.wait([self._recording])

    def _reason(self, lease: Lease) -> tuple[ExitCode | None, str] | None:
        robots = self._robots.get(lease.source.origin_id)
        asked = question_of_row(
            lease.url,
            lease.source.origin.name,
            lease.row,
            None if robots is None else Robots(robots.policy, self._token_of(lease)),
            self._due_s(lease),
            self._clock.now_s(),
        )
        found = self._admission.of(lease.run.run_id).refuse(asked)
        if found is None:
            return None
        rule, refusal = found
        return None if refusal.reason == NOT_DUE else rule.exit_code, f"{refusal.reason}: {refusal.message}"

    def _due_s(self, lease: Lease) -> float | None:
        run = lease.run.run
        if not run.recrawl_interval_s or run.is_forced or lease.row.attempts:
            return None
        self._frontier.load_validators(lease)
        return due_s(run, lease.fetch_time_s)

    async def _record_all(self) -> None:
        try:
            while self._waiting:
                count = min(SKIPS_PER_JOB, len(self._waiting))
                await self._record([self._waiting.popleft() for _ in range(count)])
        finally:
            self._recording = None

    async def _record(self, skips: list[Skip]) -> None:
        now_s = self._clock.now_s()

        def record(batch: FrontierBatch) -> None:
            for skip in skips:
                if skip.exit_code is None:
                    self._recorder.pass_over(batch, skip.target)
                else:
                    self._recorder.skip(batch, skip.target, skip.exit_code, skip.message, now_s)

        def end() -> None:
            for skip in skips:
                self._frontier.end_lease(skip.lease)

        try:
            await self._committer.submit(record, end)
        except Exception as error:
            self._on_failure([skip.lease for skip in skips], error)
            return
        for skip in skips:
            if skip.exit_code is None:
                continue
            _log.info(
                "fetch.skipped", url=skip.target.url, origin=skip.target.origin, run=skip.target.run_id,
                exit_code=skip.exit_code.name.lower(), reason=skip.message,
            )  # fmt: skip
