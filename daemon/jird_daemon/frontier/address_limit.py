"""How many requests may be in flight to one address, whatever the names that lead to it. Pure, in memory."""

from collections import deque
from typing import Generic, TypeVar

G = TypeVar("G")


class AddressLimit(Generic[G]):
    """Counts requests by address, and keeps those who found it busy, in order of arrival."""

    def __init__(self, limit: int) -> None:
        """Set the most requests to one address at a time, at least 1."""
        self._limit = limit
        self._in_use: dict[str, int] = {}
        self._waiting: dict[str, deque[G]] = {}

    def try_acquire(self, address: str, waiter: G) -> bool:
        """Take a place at an address; when there is none, `waiter` is remembered for `release`."""
        used = self._in_use.get(address, 0)
        if used >= self._limit:
            self._waiting.setdefault(address, deque()).append(waiter)
            return False
        self._in_use[address] = used + 1
        return True

    def release(self, address: str) -> list[G]:
        """Give a place back.

        Returns:
            Waiters that should try again: as many as the address takes at once, because some may have nothing left to
            ask for. They are forgotten here; one that finds the address busy again waits again, at the end.
        """
        used = self._in_use[address] - 1
        if used:
            self._in_use[address] = used
        else:
            del self._in_use[address]
        waiting = self._waiting.get(address)
        if not waiting:
            return []
        woken = [waiting.popleft() for _ in range(min(self._limit, len(waiting)))]
        if not waiting:
            del self._waiting[address]
        return woken
