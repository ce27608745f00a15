"""What a run remembers of the shapes of URLs that it let in: counts by digest, on disk, for guards against traps.

A trail is asked about one URL. What it is told to add is kept by the one who lets the URL in, or dropped with it.
"""

from collections.abc import Callable

from jird_daemon.store.tables import TRAILS
from jird_daemon.store.txn import Txn


class Trail:
    """The counts of a run, and those that one URL would add."""

    __slots__ = ("_read", "added")

    def __init__(self, read: Callable[[bytes], int]) -> None:
        """Take the way to a count."""
        self._read = read
        self.added: list[bytes] = []

    def count(self, key: bytes) -> int:
        """How many URLs of a shape were let in before this one."""
        return self._read(key)

    def add(self, key: bytes) -> None:
        """Count this one too, if it is let in."""
        self.added.append(key)


class Trails:
    """All counts of one run within a transaction."""

    def __init__(self, txn: Txn, run_id: int) -> None:
        """Take a transaction; `keep` needs one that writes."""
        self._txn = txn
        self._run_id = run_id

    def trail(self) -> Trail:
        """For one URL."""
        return Trail(self._count)

    def keep(self, trail: Trail) -> None:
        """Count the URL that a trail was for."""
        for key in trail.added:
            self._txn.put(TRAILS, (self._run_id, key), self._count(key) + 1)

    def _count(self, key: bytes) -> int:
        return self._txn.get(TRAILS, (self._run_id, key)) or 0
