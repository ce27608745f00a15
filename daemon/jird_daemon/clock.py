"""The clock, passed in wherever time decides something, so that tests move it instead of sleeping."""

import time
from typing import Protocol


class Clock(Protocol):
    """Two readings of time, both in seconds."""

    def now_s(self) -> float:
        """Seconds since 1970 UTC; may jump when the machine's clock is set. For records and for people."""
        ...

    def monotonic_s(self) -> float:
        """Seconds since an arbitrary start; never goes back. For delays and deadlines."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_s(self) -> float:
        """Seconds since 1970 UTC."""
        return time.time()

    def monotonic_s(self) -> float:
        """Seconds since the machine started."""
        return time.monotonic()


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now_s: float = 1_700_000_000.0, monotonic_s: float = 1_000.0) -> None:
        self._now_s = now_s
        self._monotonic_s = monotonic_s

    def now_s(self) -> float:
        """Seconds since 1970 UTC, as set."""
        return self._now_s

    def monotonic_s(self) -> float:
        """Seconds since the arbitrary start, as moved."""
        return self._monotonic_s

    def advance(self, seconds: float) -> None:
        """Move both readings forward by `seconds`, at least 0."""
        assert seconds >= 0
        self._now_s += seconds
        self._monotonic_s += seconds
