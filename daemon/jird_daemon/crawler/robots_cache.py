"""robots.txt by origin: the answers that hold, compiled, for the origins in use.

An answer is kept in the store and holds for 30 minutes (U132), so that a webmaster can stop the crawler within that
time, and a restart asks nobody again. The compiled rules of 128 origins are in memory, first in, first out (J117); for
others they are read from the store. The key is the origin: scheme, host and port (F13).
"""

from collections import OrderedDict
from dataclasses import dataclass

from jird_daemon.clock import Clock
from jird_daemon.store.env import Store
from jird_daemon.store.tables import ROBOTS, Robots
from jird_daemon.url.robots import RobotsPolicy

# U132.
VALID_S = 1_800.0
# J117.
CAPACITY = 128


@dataclass(frozen=True, slots=True)
class OriginRobots:
    """The compiled answer of one origin."""

    fetch_time_s: float
    policy: RobotsPolicy


class RobotsCache:
    """Belongs to the event loop's thread."""

    def __init__(self, store: Store, clock: Clock) -> None:
        """Take where answers are kept, and the clock that they age by."""
        self._store = store
        self._clock = clock
        self._ring: OrderedDict[int, OriginRobots] = OrderedDict()

    def __len__(self) -> int:
        return len(self._ring)

    def clear(self) -> None:
        """Give the memory back; what is needed again is read from the store."""
        self._ring.clear()

    def get(self, origin_id: int) -> OriginRobots | None:
        """The rules that hold for an origin; None: robots.txt has to be asked for first."""
        robots = self._ring.get(origin_id)
        if robots is None:
            with self._store.read() as txn:
                stored = txn.get(ROBOTS, origin_id)
            if stored is None or not stored.is_available or not holds(stored.fetch_time_s, self._clock.now_s()):
                return None
            robots = self.put(origin_id, stored)
        return robots if holds(robots.fetch_time_s, self._clock.now_s()) else None

    def put(self, origin_id: int, answer: Robots) -> OriginRobots:
        """Compile an answer that allows to go on, and remember it."""
        assert answer.is_available
        robots = OriginRobots(answer.fetch_time_s, RobotsPolicy.parse(answer.body))
        self._ring.pop(origin_id, None)
        self._ring[origin_id] = robots
        while len(self._ring) > CAPACITY:
            self._ring.popitem(last=False)
        return robots


def holds(fetch_time_s: float, now_s: float) -> bool:
    """Whether an answer of that time still counts."""
    # A time ahead of ours means a clock that was set back: do not trust it for longer than it could be true.
    return abs(now_s - fetch_time_s) < VALID_S
