"""What configuration says of an origin: `[crawl]`, with `[[hosts]]` on top."""

from dataclasses import dataclass
from functools import lru_cache

from jird_daemon.frontier.politeness import BackoffRule, DelayRule
from jird_settings import Crawl, HostRule, rule_for

# Rules are folded once for each host that is met lately; the next 4,096 hosts push them out.
HOSTS_REMEMBERED = 4_096


@dataclass(frozen=True, slots=True)
class OriginRule:
    """How one host is treated.

    Attributes:
        host: The folded `[[hosts]]` rules.
        connections: Requests at once.
        shares_address: Whether it counts for crawl.address_connections; not where the operator set connections.
    """

    host: HostRule
    connections: int
    shares_address: bool


class OriginRules:
    """Looks rules up by host. Immutable but for its memory."""

    def __init__(self, crawl: Crawl, hosts: tuple[HostRule, ...]) -> None:
        self._crawl = crawl
        self._hosts = hosts
        self.backoff = BackoffRule(crawl.retry_base_ms / 1000, crawl.retry_max_ms / 1000)
        self.of = lru_cache(maxsize=HOSTS_REMEMBERED)(self._of)

    def _of(self, host: str) -> OriginRule:
        rule = rule_for(self._hosts, host)
        return OriginRule(rule, rule.connections or 1, rule.connections is None)

    def delay(self, host: str, run_delay_ms: int | None) -> DelayRule:
        """The pace for a host within a run.

        A host's own delay_ms holds against robots.txt: the operator answers for that host. A run may only lengthen it.
        """
        rule = self.of(host).host
        is_adaptive = rule.adaptive is not False
        if rule.delay_ms is not None:
            return DelayRule(max(rule.delay_ms, run_delay_ms or 0) / 1000, 0.0, is_adaptive)
        delay_ms = self._crawl.delay_ms if run_delay_ms is None else run_delay_ms
        return DelayRule(delay_ms / 1000, self._crawl.max_robots_delay_ms / 1000, is_adaptive)
