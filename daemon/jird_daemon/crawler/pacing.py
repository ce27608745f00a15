"""From an answer to the origin's next time: politeness.py with the configured rules and the moment's clock."""

from collections.abc import Callable

from jird_daemon.clock import Clock
from jird_daemon.crawler.response import Response
from jird_daemon.frontier.lease import Lease
from jird_daemon.frontier.politeness import Pace, Trouble, after_answer, after_trouble, backoff_s, politeness_delay_s
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.url.retry_after import parse_retry_after


class Pacing:
    """Immutable; belongs to the event loop's thread."""

    def __init__(self, rules: OriginRules, clock: Clock, random: Callable[[], float]) -> None:
        """Take the rules, the clock, and a source of numbers in [0, 1) for jitter."""
        self._rules = rules
        self._clock = clock
        self._random = random

    def after(self, lease: Lease, response: Response, trouble: Trouble | None, robots_delay_s: float | None) -> Pace:
        """State of the origin after a request that has just ended."""
        source = lease.source
        rule = self._rules.delay(source.origin.host, lease.run.run.delay_ms)
        now_s = self._clock.now_s()
        if trouble is None:
            return after_answer(source.pace, now_s, response.duration_s, rule, robots_delay_s)
        return after_trouble(
            source.gate.state,
            source.pace,
            now_s,
            trouble,
            rule=self._rules.backoff,
            delay_s=politeness_delay_s(rule, robots_delay_s, response.duration_s, source.pace.rate_limit_steps),
            jitter=self._random(),
            retry_after_s=parse_retry_after(response.header("retry-after"), now_s),
        )

    def retry_time_s(self, attempts: int) -> float:
        """When a URL may be tried again after so many attempts that failed on our side; in unix seconds."""
        wait_s = backoff_s(Trouble.FAILING, attempts - 1, self._rules.backoff, self._random(), None)
        return self._clock.now_s() + wait_s

    def least_delay_s(self, lease: Lease) -> float:
        """Delay after a request that was broken off."""
        return self._rules.delay(lease.source.origin.host, lease.run.run.delay_ms).minimum_s
