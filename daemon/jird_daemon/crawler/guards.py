"""When intake is paused for want of something, and when it goes on. Pure: what is measured comes from resources.py.

A guard holds intake back; it never changes the state of a run, so that what a person has stopped stays stopped when the
guard lets go, and what was running goes on where it was.
"""

from collections.abc import Callable
from dataclasses import dataclass

# Checks in a row that must be good before intake goes on, so that it does not flutter at the limit (YP20).
HEALTHY_CHECKS = 2
# What must be free beyond a limit, or stay below it, likewise.
HEALTHY_MARGIN = 1.1

DISK = "disk"
MEMORY = "memory"
LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class Limits:
    """Where each guard acts; 0 switches it off."""

    min_free_bytes: int  # of the file system
    max_memory_bytes: int  # of ingest and its parse workers
    min_available_bytes: int  # of the machine, or of the service's control group
    max_commit_s: float


@dataclass(frozen=True, slots=True)
class Readings:
    """What was measured just now."""

    free_bytes: int
    memory_bytes: int
    available_bytes: int
    commit_s: float  # median of the last commits


class Guards:
    """Decides, counts the pauses, and adds up how long they lasted (Y22)."""

    def __init__(self, limits: Limits, relieve: Callable[[], None] = lambda: None) -> None:
        """Take the limits.

        Args:
            limits: Where the guards act.
            relieve: Frees what can be done without; called when memory is short, and intake is paused only if it is
                still short at the next check (Y21).
        """
        self.limits = limits
        self.pauses = 0
        self.paused_s = 0.0
        self.reliefs = 0
        self._relieve = relieve
        self._is_relieved = False
        self._healthy = 0
        self._checked_s: float | None = None

    def check(self, guard: str, readings: Readings, now_s: float) -> str:
        """Decide.

        Args:
            guard: The reason for which intake is paused now; empty when it is not. One that a failed write has set
                ends by the same rule.
            readings: What was measured.
            now_s: Monotonic time; the time since the last check counts as paused if `guard` is set.

        Returns:
            The reason for which it is to be paused from now on; empty for none.
        """
        if guard and self._checked_s is not None:
            self.paused_s += now_s - self._checked_s
        self._checked_s = now_s
        decided = self._decide(guard, readings)
        self.pauses += bool(decided and not guard)
        return decided

    def _decide(self, guard: str, readings: Readings) -> str:
        short = self._shortage(readings, 1.0)
        if short == MEMORY and not guard and not self._is_relieved:
            self._is_relieved = True
            self.reliefs += 1
            self._relieve()
            return ""
        self._is_relieved = bool(short == MEMORY)
        if short:
            self._healthy = 0
            return guard or short
        if not guard:
            return ""
        self._healthy = 0 if self._shortage(readings, HEALTHY_MARGIN) else self._healthy + 1
        if self._healthy < HEALTHY_CHECKS:
            return guard
        self._healthy = 0
        return ""

    def _shortage(self, readings: Readings, margin: float) -> str:
        limits = self.limits
        if readings.free_bytes < limits.min_free_bytes * margin:
            return DISK
        if limits.max_memory_bytes and readings.memory_bytes * margin > limits.max_memory_bytes:
            return MEMORY
        if readings.available_bytes < limits.min_available_bytes * margin:
            return MEMORY
        if limits.max_commit_s and readings.commit_s * margin > limits.max_commit_s:
            return LATENCY
        return ""
