"""Origins with work, by the time they may next be asked. Pure: in memory, no I/O, time is an argument.

A *gate* is what politeness counts for: a host, with http and https on their default ports behind the same one (F73),
or a host with another port. It has as many *tokens* as it may have requests in flight, usually one. A token is either
out with a request or in a heap under the time at which it may be used again, so taking the next request costs the
logarithm of the number of gates, whatever lies in their queues, and a gate that must wait hides nobody (S11, F75).

Behind a gate stand *sources*: one for each run that has rows for it, served in turn. A gate without sources stays until
its tokens are ready, since a deadline must hold for a run that comes later, and then leaves (J134).
"""

import heapq
import itertools
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from jird_daemon.store.tables import OriginState

S = TypeVar("S")

_NO_STATE = OriginState()


@dataclass(slots=True, eq=False)
class Gate(Generic[S]):
    """One politeness key and who waits behind it. Times are monotonic seconds.

    Attributes:
        name: "host" or "host:port".
        connections: Requests that may be in flight at once.
        not_before_s: No token is used before this, whatever its own time.
        state: What politeness knows of it and the store keeps.
        label: Origin that it was opened for, for people.
        address: Where its last connection went; empty while unknown.
        uncommitted: Requests that ended and whose result is not on disk yet.
    """

    name: str
    connections: int
    not_before_s: float
    state: OriginState = _NO_STATE
    label: str = ""
    address: str = ""
    in_flight: int = 0
    idle_tokens: int = 0
    uncommitted: int = 0
    sources: deque[S] = field(default_factory=deque)
    is_parked: bool = False


class HostQueue(Generic[S]):
    """The gates that are known at the moment. Not thread-safe: it belongs to the crawl loop."""

    def __init__(self) -> None:
        self._gates: dict[str, Gate[S]] = {}
        self._tokens: list[tuple[float, int, Gate[S]]] = []
        self._order = itertools.count()
        self.expired = 0

    def __len__(self) -> int:
        return len(self._gates)

    def gate(self, name: str) -> Gate[S] | None:
        """The gate of that name, if it is in memory."""
        return self._gates.get(name)

    def gates(self) -> Iterable[Gate[S]]:
        """All gates, in no order; for use at once."""
        return self._gates.values()

    def open_gate(self, name: str, connections: int, not_before_s: float) -> Gate[S]:
        """The gate of that name, made when it is not there.

        Args:
            name: Politeness key.
            connections: Requests at once, at least 1; counts only for a new gate.
            not_before_s: May only move an existing gate's time forward.
        """
        gate = self._gates.get(name)
        if gate is None:
            gate = self._gates[name] = Gate(name, connections, not_before_s)
            for _ in range(connections):
                self._push(gate, not_before_s)
        else:
            gate.not_before_s = max(gate.not_before_s, not_before_s)
        return gate

    def add_source(self, gate: Gate[S], source: S) -> None:
        """Let a source wait behind a gate."""
        gate.sources.append(source)
        self._wake(gate)

    def remove_source(self, gate: Gate[S], source: S) -> None:
        """Take a source away; harmless when it is not there."""
        if source in gate.sources:
            gate.sources.remove(source)

    def take(self, now_s: float) -> tuple[Gate[S], S] | None:
        """Take the token that has been ready longest, and the source whose turn it is.

        The caller gives the token back with `release`. Gates without a source, and parked ones, keep theirs idle.

        Returns:
            None when no gate with work is ready.
        """
        tokens = self._tokens
        while tokens and tokens[0][0] <= now_s:
            _, _, gate = heapq.heappop(tokens)
            if gate.not_before_s > now_s:
                self._push(gate, gate.not_before_s)
            elif not gate.sources or gate.is_parked:
                gate.idle_tokens += 1
                self._expire(gate)
            else:
                gate.in_flight += 1
                source = gate.sources[0]
                gate.sources.rotate(-1)
                return gate, source
        return None

    def release(self, gate: Gate[S], ready_s: float) -> None:
        """Give a token back; it may be used again at `ready_s`."""
        assert gate.in_flight > 0
        gate.in_flight -= 1
        self._push(gate, ready_s)

    def hold(self, gate: Gate[S], not_before_s: float) -> None:
        """Let the whole gate wait, all its tokens; can only lengthen."""
        gate.not_before_s = max(gate.not_before_s, not_before_s)

    def park(self, gate: Gate[S]) -> None:
        """Keep a gate out of the way until `unpark`, whatever the time: its address is busy."""
        gate.is_parked = True

    def unpark(self, gate: Gate[S]) -> None:
        """Let a parked gate take part again."""
        gate.is_parked = False
        self._wake(gate)

    def next_time_s(self) -> float | None:
        """When it is worth calling `take` again; None when only a new source can change anything."""
        return self._tokens[0][0] if self._tokens else None

    def shed(self) -> int:
        """Forget gates that nobody stands behind and nothing is out of; returns how many.

        Whoever opens such a gate again must find its deadline in the store.
        """
        idle = {
            name: gate for name, gate in self._gates.items() if not (gate.sources or gate.in_flight or gate.uncommitted)
        }
        for name in idle:
            del self._gates[name]
        gone = set(map(id, idle.values()))
        self._tokens = [token for token in self._tokens if id(token[2]) not in gone]
        heapq.heapify(self._tokens)
        return len(idle)

    def _wake(self, gate: Gate[S]) -> None:
        while gate.idle_tokens:
            gate.idle_tokens -= 1
            self._push(gate, gate.not_before_s)

    def _push(self, gate: Gate[S], ready_s: float) -> None:
        heapq.heappush(self._tokens, (ready_s, next(self._order), gate))

    def _expire(self, gate: Gate[S]) -> None:
        """A gate whose tokens are all ready and that nobody needs leaves; a new one of its name is not touched."""
        is_idle = gate.idle_tokens == gate.connections and not gate.uncommitted
        if is_idle and not gate.sources and self._gates.get(gate.name) is gate:
            del self._gates[gate.name]
            self.expired += 1
