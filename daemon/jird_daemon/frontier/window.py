"""Which origins the crawl loop has in mind: a bounded window over all that have rows.

The window is filled from `run_origins` with short scans, and by commits that queue rows for an origin. An origin leaves
it when it has no rows that are not out, when its run's patience with it has ended, or, from a full window, when it
waits for long: it is found again by a later scan, so that blocked origins never hide others (S15, S16).
"""

from collections.abc import Iterable, Mapping

from jird_daemon.clock import Clock
from jird_daemon.frontier.host_queue import Gate, HostQueue
from jird_daemon.frontier.lease import ActiveRun, Source
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.store.env import Store
from jird_daemon.store.tables import ORIGIN_IDS, ORIGIN_STATES, ORIGINS, RUN_ORIGINS, Origin, OriginState, RunOrigin
from jird_daemon.store.txn import Txn
from jird_daemon.url.canonical import DEFAULT_PORTS

# Origins in the window. At half a second's delay this is 16,000 requests a second, past what one machine fetches; each
# takes about two kilobytes.
WINDOW_ORIGINS = 8_192
# Entries of run_origins that one call looks at: about two milliseconds.
SCAN_STEP = 256
# An origin that waits longer than this leaves a full window to others; it is found again by a later scan.
LONG_WAIT_S = 60.0
# Between two looks at a full window for origins to let go: each looks at all of them.
ROOM_INTERVAL_S = 1.0
# Between two scans of all origins of a run.
RESCAN_S = 5.0
# A stored deadline further ahead than any back-off means that the machine's clock was set back.
WAIT_MAX_S = 7_200.0


class Window:
    """Belongs to the event loop's thread."""

    def __init__(
        self,
        store: Store,
        rules: OriginRules,
        clock: Clock,
        hosts: HostQueue[Source],
        runs: Mapping[int, ActiveRun],
    ) -> None:
        """Take the parts it works with; `runs` are the active ones, kept by the frontier."""
        self._store = store
        self._rules = rules
        self._clock = clock
        self._hosts = hosts
        self._runs = runs
        self._sources: dict[tuple[int, int], Source] = {}
        self._known: dict[tuple[int, int], Source] = {}  # the window, and those that left it with leases out
        self._room_s = 0.0  # when a full window is looked at again
        self.set_aside: set[tuple[int, int]] = set()  # (run, origin) without patience that have rows, for the sweep

    def __len__(self) -> int:
        return len(self._sources)

    def of_run(self, active: ActiveRun) -> Iterable[Source]:
        """A run's origins in the window; a copy, so that they may be removed."""
        return [source for source in self._sources.values() if source.run is active]

    def feed(self, key: tuple[int, int], is_urgent: bool) -> None:
        """Rows were queued for an origin of a run; urgent ones go before what was read ahead."""
        active = self._runs.get(key[0])
        if active is None or active.is_draining:
            return
        source = self._sources.get(key)
        if source is not None:
            if is_urgent:
                source.ahead.clear()  # read again, so that the urgent rows come first
            return
        if len(self._sources) >= WINDOW_ORIGINS:
            active.is_scan_due = True
            return
        with self._store.read() as txn:
            self._add(txn, active, key[1])

    def fill(self, now_s: float) -> None:
        """Look for further origins where a scan is due, a few at a time."""
        for active in self._runs.values():
            if active.is_scan_due and not active.is_draining and len(self._sources) < WINDOW_ORIGINS:
                self._scan(active, now_s)
        if len(self._sources) >= WINDOW_ORIGINS and now_s >= self._room_s:
            self._room_s = now_s + ROOM_INTERVAL_S
            self._make_room(now_s)

    def _scan(self, active: ActiveRun, now_s: float) -> None:
        """Look at the next few origins of a run; at the end of a round begin another one only after RESCAN_S."""
        if active.cursor == 0:
            if now_s - active.scanned_s < RESCAN_S:
                return
            active.scanned_s = now_s
            active.is_scan_due = False  # whoever is left out from here on sets it again
        seen = 0
        with self._store.read() as txn:
            found = []
            for (_, origin_id), origin in txn.scan(RUN_ORIGINS, (active.run_id, active.cursor), (active.run_id + 1, 0)):
                seen += 1
                active.cursor = origin_id + 1
                if origin.queued:
                    found.append((origin_id, origin))
                if seen >= SCAN_STEP:
                    break
            for origin_id, origin in found:
                self._consider(txn, active, origin_id, origin)
        if seen < SCAN_STEP:
            active.cursor = 0
        else:
            active.is_scan_due = True

    def _consider(self, txn: Txn, active: ActiveRun, origin_id: int, origin: RunOrigin) -> None:
        key = (active.run_id, origin_id)
        if origin.patience == 0:
            self.set_aside.add(key)
        elif key in self._sources:
            return
        elif len(self._sources) >= WINDOW_ORIGINS or self._waits_long(txn, origin_id):
            active.is_scan_due = True
        else:
            self._add(txn, active, origin_id)

    def _waits_long(self, txn: Txn, origin_id: int) -> bool:
        """Whether an origin would only fill a window that is half full already (S15)."""
        if len(self._sources) < WINDOW_ORIGINS // 2:
            return False
        state = txn.get(ORIGIN_STATES, origin_id)
        return state is not None and state.next_time_s > self._clock.now_s() + LONG_WAIT_S

    def _add(self, txn: Txn, active: ActiveRun, origin_id: int) -> None:
        """Put one origin of a run into the window, behind its gate."""
        origin, pace = txn.get(ORIGINS, origin_id), txn.get(RUN_ORIGINS, (active.run_id, origin_id))
        assert origin is not None
        assert pace is not None
        if pace.patience == 0:
            self.set_aside.add((active.run_id, origin_id))
            return
        known = self._known.get((active.run_id, origin_id))
        if known is None:
            gate = self._open_gate(txn, origin_id, origin)
            known = Source(active, origin_id, origin, gate, pace)
        self.offer(known)

    def _open_gate(self, txn: Txn, origin_id: int, origin: Origin) -> Gate[Source]:
        name = gate_name(origin)
        gate = self._hosts.gate(name)
        if gate is not None:
            return gate
        state = _latest_state(txn, origin_id, origin)
        wait_s = min(max(state.next_time_s - self._clock.now_s(), 0.0), WAIT_MAX_S)
        connections = self._rules.of(origin.host).connections
        gate = self._hosts.open_gate(name, connections, self._clock.monotonic_s() + wait_s)
        gate.state, gate.label = state, origin.name
        return gate

    def offer(self, source: Source) -> None:
        """Let a source wait behind its gate; one that is there already stays."""
        key = (source.run.run_id, source.origin_id)
        if key in self._sources:
            return
        # Its gate may have left memory in the meantime.
        current = self._hosts.gate(source.gate.name)
        if current is None:
            gate = self._hosts.open_gate(source.gate.name, source.gate.connections, source.gate.not_before_s)
            gate.state, gate.label, source.gate = source.gate.state, source.gate.label, gate
        self._sources[key] = self._known[key] = source
        self._hosts.add_source(source.gate, source)

    def remove(self, source: Source) -> None:
        """Take a source out of the window, with what was read ahead."""
        key = (source.run.run_id, source.origin_id)
        self._sources.pop(key, None)
        if not source.leases:
            self._known.pop(key, None)
        self._hosts.remove_source(source.gate, source)
        source.ahead.clear()

    def _make_room(self, now_s: float) -> None:
        """Let origins that wait long, and of which nothing is out, leave a full window."""
        for source in list(self._sources.values()):
            gate = source.gate
            if gate.not_before_s > now_s + LONG_WAIT_S and not (source.leases or gate.in_flight or gate.uncommitted):
                self.remove(source)
                source.run.is_scan_due = True
        if len(self._hosts) > WINDOW_ORIGINS:
            self._hosts.shed()

    def lease_ended(self, source: Source) -> None:
        """A source has one lease less; one that left the window is forgotten with its last."""
        key = (source.run.run_id, source.origin_id)
        if not source.leases and key not in self._sources:
            self._known.pop(key, None)


def gate_name(origin: Origin) -> str:
    """What politeness counts for: the host, with both schemes on their own ports alike (F73), or host and port."""
    return origin.host if origin.port == DEFAULT_PORTS[origin.scheme] else f"{origin.host}:{origin.port}"


def _latest_state(txn: Txn, origin_id: int, origin: Origin) -> OriginState:
    """Stored state of an origin, or of the one with the other scheme behind the same gate if that waits longer."""
    state = txn.get(ORIGIN_STATES, origin_id) or OriginState()
    if origin.port != DEFAULT_PORTS[origin.scheme]:
        return state
    other = txn.get(ORIGIN_IDS, f"{'http' if origin.scheme == 'https' else 'https'}://{origin.host}")
    sibling = None if other is None else txn.get(ORIGIN_STATES, other)
    return sibling if sibling is not None and sibling.next_time_s > state.next_time_s else state
