"""What a test server was asked, by whom and when: the evidence for politeness and for who was never contacted."""

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Access:
    """One request. Times are `time.monotonic()` seconds; `end_s` is None while the answer is being sent."""

    host: str
    """Host header without port, lower case."""
    address: str
    """Address of ours that was connected to."""
    peer_port: int
    """Source port: equal ports mean a reused connection."""
    method: str
    target: str
    """Path and query as sent."""
    headers: Mapping[str, str]
    """Request headers, names in lower case; of a repeated one the last."""
    start_s: float
    end_s: float | None = None
    status: int = 0
    """Status sent; 0 when none was."""


@dataclass(slots=True)
class AccessLog:
    """Every request in order of arrival. Safe to read from any thread."""

    _entries: list[Access] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def begin(self, access: Access) -> None:
        """Record the start of a request."""
        with self._changed:
            self._entries.append(access)
            self._changed.notify_all()

    def end(self, access: Access) -> None:
        """Record that the answer was sent, or that the connection was given up."""
        with self._changed:
            access.end_s = time.monotonic()
            self._changed.notify_all()

    def entries(self, *, host: str | None = None, path: str | None = None) -> list[Access]:
        """Requests so far, filtered by host and by path (`target` without its query)."""
        with self._changed:
            found = list(self._entries)
        return [
            access
            for access in found
            if (host is None or access.host == host) and (path is None or access.target.partition("?")[0] == path)
        ]

    def targets(self, *, host: str | None = None) -> list[str]:
        """Targets of the requests so far, in order."""
        return [access.target for access in self.entries(host=host)]

    def clear(self) -> None:
        """Forget everything."""
        with self._changed:
            self._entries.clear()

    def wait_for(self, condition: Callable[[list[Access]], bool], *, timeout_s: float = 20.0) -> list[Access]:
        """Wait until `condition(entries)` holds; returns the entries.

        Raises:
            TimeoutError: It did not hold within `timeout_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: condition(list(self._entries)), timeout_s):
                raise TimeoutError(f"condition not met in {timeout_s} s by {len(self._entries)} requests")
            return list(self._entries)

    def wait_for_path(self, path: str, *, count: int = 1, timeout_s: float = 20.0) -> list[Access]:
        """Wait until `path` was asked for `count` times; returns those requests."""
        self.wait_for(
            lambda entries: sum(access.target.partition("?")[0] == path for access in entries) >= count,
            timeout_s=timeout_s,
        )
        return self.entries(path=path)

    def gaps_s(self, host: str) -> list[float]:
        """Seconds from the end of each answer of `host` to the start of its next request; negative if they overlap."""
        found = self.entries(host=host)
        return [
            later.start_s - (earlier.end_s if earlier.end_s is not None else float("inf"))
            for earlier, later in itertools.pairwise(found)
        ]

    def peak_in_flight(self, *, host: str | None = None, address: str | None = None) -> int:
        """Most requests that were being answered at one time."""
        steps: list[tuple[float, int]] = []
        for access in self.entries(host=host):
            if address is None or access.address == address:
                steps.append((access.start_s, 1))
                steps.append((access.end_s if access.end_s is not None else float("inf"), -1))
        peak = now = 0
        for _, step in sorted(steps):  # at equal times an end (-1) comes before a start (+1)
            now += step
            peak = max(peak, now)
        return peak
