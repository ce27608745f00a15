"""Whether a crawl kept the delays of many origins, and how much of what they allow it made use of: from access logs."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from testkit.access_log import AccessLog


@dataclass(frozen=True, slots=True)
class Kept:
    """What the servers saw.

    Attributes:
        requests: Finished requests within the time that was looked at.
        allowed: How many the delays allow in that time, with answers that take as long as they took.
        shortest_gap_s: Shortest time between the end of an answer and the start of the next request of its origin.
        broken: Gaps shorter than the delay.
    """

    requests: int
    allowed: float
    shortest_gap_s: float
    broken: int

    @property
    def share(self) -> float:
        """Part of what was allowed that was made."""
        return self.requests / self.allowed if self.allowed else 0.0


def judge_delays(log: AccessLog, hosts: Sequence[str], delay_s: float, from_s: float, until_s: float) -> Kept:
    """Look at the requests of some hosts.

    Args:
        log: Of all of them.
        hosts: Each is an origin of its own.
        delay_s: From the end of an answer to the start of the next request.
        from_s: Monotonic time from which requests count for the share; gaps count always.
        until_s: And to which.
    """
    entries: dict[str, list[tuple[float, float]]] = {host: [] for host in hosts}
    for access in log.entries():
        if access.host in entries:
            entries[access.host].append((access.start_s, math.inf if access.end_s is None else access.end_s))
    requests, allowed, gaps = 0, 0.0, []
    for found in entries.values():
        gaps += [later[0] - earlier[1] for earlier, later in itertools.pairwise(found)]
        counted = [end - start for start, end in found if start >= from_s and end <= until_s]
        requests += len(counted)
        answer_s = sum(counted) / len(counted) if counted else 0.0
        allowed += (until_s - from_s) / (delay_s + answer_s)
    return Kept(requests, allowed, min(gaps, default=math.inf), sum(gap < delay_s for gap in gaps))
