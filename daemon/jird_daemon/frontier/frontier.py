"""The crawl loop's side of the frontier: which URL is asked for next.

Rows lie on disk, in order, per run and origin (store/tables.py: queue). In memory stand only the origins of a window,
each with a few rows read ahead; the window is filled again from `run_origins` with short scans. So memory and the time
for a lease do not depend on how many rows or origins there are.

A lease is in memory only: the row stays in its queue until the result is committed, so a killed crawler loses nothing
and gives back everything, without a write (J132, U10). Rows that are leased are skipped when reading ahead.

Belongs to the event loop's thread. Writes happen in FrontierBatch, in the writer's thread; `after_commit` brings the
news.
"""

from collections import deque
from dataclasses import dataclass, field

from jird_daemon.clock import Clock
from jird_daemon.frontier.address_limit import AddressLimit
from jird_daemon.frontier.batch import BatchEffects
from jird_daemon.frontier.host_queue import Gate, HostQueue
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.frontier.runs import RunScope
from jird_daemon.store.env import Store
from jird_daemon.store.tables import (
    ORIGIN_IDS,
    ORIGIN_STATES,
    ORIGINS,
    PAGES,
    QUEUE,
    ROWS,
    RUN_ORIGINS,
    URLS,
    Origin,
    OriginState,
    Row,
    Run,
    RunOrigin,
    RunState,
)
from jird_daemon.store.txn import Txn
from jird_daemon.url.canonical import DEFAULT_PORTS

# Origins in the window. At half a second's delay this is 16,000 requests a second, past what one machine fetches; each
# takes about two kilobytes.
WINDOW_ORIGINS = 8_192
# Entries of run_origins that one call looks at: about two milliseconds.
SCAN_STEP = 256
# Rows read ahead of an origin, for each request that it may have in flight.
READ_AHEAD = 4
# An origin that waits longer than this leaves a full window to others; it is found again by a later scan.
LONG_WAIT_S = 60.0
# Between two looks at a full window for origins to let go: each looks at all of them.
ROOM_INTERVAL_S = 1.0
# Between two scans of all origins of a run.
RESCAN_S = 5.0
# A stored deadline further ahead than any back-off means that the machine's clock was set back.
WAIT_MAX_S = 7_200.0


@dataclass(slots=True, eq=False)
class ActiveRun:
    """A run that is worked on.

    Attributes:
        run_id: Its number.
        run: As last committed.
        scope: What belongs to it.
        uncommitted_requests: Attempts begun that `run.counts.requests` does not hold yet.
        leases: Rows that are out.
        next_due_ms: Earliest deadline among its waiting rows; None: no row waits.
    """

    run_id: int
    run: Run
    scope: RunScope
    uncommitted_requests: int = 0
    leases: int = 0
    next_due_ms: int | None = None
    is_draining: bool = False  # nothing new is leased
    cursor: int = 0  # first origin that the scan has not seen
    is_scan_due: bool = True
    scanned_s: float = -RESCAN_S

    @property
    def budget_left(self) -> int:
        """Request attempts that may still be begun (J151)."""
        return self.run.max_pages - self.run.counts.requests - self.uncommitted_requests


@dataclass(slots=True, eq=False)
class Source:
    """One run's rows of one origin, as they stand behind a gate."""

    run: ActiveRun
    origin_id: int
    origin: Origin
    gate: "Gate[Source]"
    pace: RunOrigin
    ahead: deque["Candidate"] = field(default_factory=deque)
    leases: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that was read ahead."""

    url_id: int
    url: str
    row: Row


@dataclass(slots=True, eq=False)
class Lease:
    """A URL that is being worked on.

    Attributes:
        source: Whose row it is.
        url_id: Number of the URL.
        url: The URL.
        row: Its row.
        etag: Validator of the last answer; empty for none.
        last_modified: Likewise.
        was_indexable: Whether the URL's page can be found now.
        address: Address that is counted for it; empty when none is.
        attempts: Request attempts that are set aside for it in the run's budget.
        has_token: Whether its origin's next request waits for this one's end.
        can_break_off: Whether nothing is lost when its task is cancelled.
    """

    source: Source
    url_id: int
    url: str
    row: Row
    etag: str = ""
    last_modified: str = ""
    was_indexable: bool = False
    address: str = ""
    attempts: int = 0
    has_token: bool = True
    can_break_off: bool = True

    @property
    def run(self) -> ActiveRun:
        """The run it belongs to."""
        return self.source.run


class Frontier:
    """See the module."""

    def __init__(self, store: Store, rules: OriginRules, clock: Clock, *, address_connections: int) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock
        self._hosts: HostQueue[Source] = HostQueue()
        self._addresses: AddressLimit[Gate[Source]] = AddressLimit(address_connections)
        self._sources: dict[tuple[int, int], Source] = {}  # the window
        self._known: dict[tuple[int, int], Source] = {}  # the window, and those that left it with leases out
        self._leased: set[tuple[int, int]] = set()
        self.runs: dict[int, ActiveRun] = {}
        self.set_aside: set[tuple[int, int]] = set()  # for the sweep
        self._room_s = 0.0  # when a full window is looked at again
        self.in_flight = 0  # leases whose request has not ended

    # -- runs -----------------------------------------------------------------------------------------------------

    def activate(self, run_id: int, run: Run) -> ActiveRun:
        """Begin to lease rows of a run; a run that is active is left alone."""
        active = self.runs.get(run_id)
        if active is None:
            active = self.runs[run_id] = ActiveRun(run_id, run, RunScope.of(run))
        return active

    def drain(self, run_id: int) -> None:
        """Lease nothing more of a run; its leases stay out."""
        active = self.runs.get(run_id)
        if active is not None and not active.is_draining:
            active.is_draining = True
            for source in [source for source in self._sources.values() if source.run is active]:
                self._remove(source)

    def forget(self, run_id: int) -> None:
        """Drop a run of which nothing is out any more."""
        self.drain(run_id)
        active = self.runs.pop(run_id, None)
        assert active is None or not active.leases
        self.set_aside = {key for key in self.set_aside if key[0] != run_id}

    # -- leases ---------------------------------------------------------------------------------------------------

    def lease(self) -> Lease | None:
        """Take the next URL whose origin may be asked now; None when there is none.

        The caller ends its request with `end_request` or `give_back`, and then, when the result is on disk, the lease
        with `end_lease`.
        """
        now_s = self._clock.monotonic_s()
        self._fill(now_s)
        while (taken := self._hosts.take(now_s)) is not None:
            gate, source = taken
            candidate = None if source.run.budget_left <= 0 else self._next_candidate(source)
            if candidate is not None:
                return self._lease(source, candidate)
            self._remove(source)
            self._hosts.release(gate, now_s)
        return None

    def give_back(self, lease: Lease) -> None:
        """Undo a lease whose request was not sent: no attempt is counted, and the row is the origin's next (J168)."""
        self._end_token(lease, self._clock.monotonic_s())
        self.return_row(lease)

    def break_off(self, lease: Lease, delay_s: float) -> None:
        """Undo a lease whose request was sent and not waited for: as give_back, and the origin's delay runs."""
        if lease.has_token:
            self._end_token(lease, self._clock.monotonic_s() + delay_s)
        self.return_row(lease)

    def return_row(self, lease: Lease) -> None:
        """End a lease without a result: the row is its origin's next, unless its run is being stopped."""
        assert not lease.has_token
        source = lease.source
        self._end(lease)
        if not source.run.is_draining and source.pace.patience > 0:
            source.ahead.appendleft(Candidate(lease.url_id, lease.url, lease.row))
            self._offer(source)

    def end_request(self, lease: Lease, pace: RunOrigin, state: OriginState) -> None:
        """Let the origin's next request wait for its time; the row stays leased until `end_lease`."""
        source, gate = lease.source, lease.source.gate
        source.pace = pace
        gate.state = state
        now_s = self._clock.monotonic_s()
        ready_s = now_s + min(max(state.next_time_s - self._clock.now_s(), 0.0), WAIT_MAX_S)
        if state.backoff_kind:
            self._hosts.hold(gate, ready_s)
        self._end_token(lease, ready_s)
        if pace.patience == 0:
            self._remove(source)

    def load_validators(self, lease: Lease) -> None:
        """Fill in what is known of the URL's page, for a conditional request."""
        with self._store.read() as txn:
            page = txn.get(PAGES, lease.url_id)
        if page is not None:
            lease.etag, lease.last_modified = page.etag, page.last_modified
            lease.was_indexable = page.is_indexable

    def reserve(self, lease: Lease) -> bool:
        """Set one more attempt aside in the run's budget; False when it is spent."""
        if lease.run.budget_left <= 0:
            return False
        lease.run.uncommitted_requests += 1
        lease.attempts += 1
        return True

    def release_gate(self, lease: Lease) -> None:
        """End the part of a lease that concerns the origin when no request was needed: it may be asked at once."""
        self._end_token(lease, self._clock.monotonic_s())

    def end_lease(self, lease: Lease) -> None:
        """The result is on disk: the row is no longer ours."""
        assert not lease.has_token
        self._end(lease)

    def acquire_address(self, lease: Lease, address: str) -> bool:
        """Take a place at an address for a lease; False: it is busy, and the lease has been given back."""
        gate = lease.source.gate
        gate.address = address
        if not self._rules.of(lease.source.origin.host).shares_address:
            return True
        if self._addresses.try_acquire(address, gate):
            lease.address = address
            return True
        self._hosts.park(gate)
        self.give_back(lease)
        return False

    # -- news -----------------------------------------------------------------------------------------------------

    def after_commit(self, effects: BatchEffects) -> list[ActiveRun]:
        """Take over what a batch changed.

        Returns:
            Active runs that have ended by it.
        """
        ended = []
        for run_id, run in effects.runs.items():
            active = self.runs.get(run_id)
            if active is None:
                continue
            active.run = run
            active.next_due_ms = effects.next_due_ms[run_id]
            if run.state != RunState.RUNNING:
                self.drain(run_id)
                ended.append(active)
        for key, is_urgent in effects.fed.items():
            self._feed(key, is_urgent)
        self.set_aside |= effects.set_aside
        return ended

    def next_time_s(self) -> float | None:
        """Monotonic time at which `lease` may give something that it does not give now, by itself."""
        return self._hosts.next_time_s()

    @property
    def deadlines(self) -> int:
        """Gates whose deadlines are in memory (J135)."""
        return len(self._hosts)

    @property
    def expired(self) -> int:
        """Gates that left memory when their deadline had passed."""
        return self._hosts.expired

    def waiting_reasons(self, limit: int) -> dict[str, str]:
        """Why origins are not asked now, for those that back off or wait for their address."""
        now_s = self._clock.monotonic_s()
        reasons: dict[str, str] = {}
        for gate in self._hosts.gates():
            if len(reasons) >= limit:
                break
            if gate.is_parked:
                reasons[gate.label] = "address_busy"
            elif gate.state.backoff_kind and gate.not_before_s > now_s:
                reasons[gate.label] = gate.state.backoff_kind
        return reasons

    # -- rows -----------------------------------------------------------------------------------------------------

    def _lease(self, source: Source, candidate: Candidate) -> Lease:
        self._leased.add((source.run.run_id, candidate.url_id))
        self.in_flight += 1
        source.leases += 1
        source.run.leases += 1
        source.gate.uncommitted += 1
        lease = Lease(source, candidate.url_id, candidate.url, candidate.row)
        self.reserve(lease)
        return lease

    def _end_token(self, lease: Lease, ready_s: float) -> None:
        assert lease.has_token
        lease.has_token = False
        self.in_flight -= 1
        if lease.address:
            address, lease.address = lease.address, ""
            for gate in self._addresses.release(address):
                self._hosts.unpark(gate)
        self._hosts.release(lease.source.gate, ready_s)

    def _end(self, lease: Lease) -> None:
        source, run = lease.source, lease.run
        source.gate.uncommitted -= 1
        self._leased.discard((run.run_id, lease.url_id))
        source.leases -= 1
        run.leases -= 1
        run.uncommitted_requests -= lease.attempts
        lease.attempts = 0
        key = (run.run_id, source.origin_id)
        if not source.leases and key not in self._sources:
            self._known.pop(key, None)

    def _next_candidate(self, source: Source) -> Candidate | None:
        if not source.ahead:
            with self._store.read() as txn:
                self._read_ahead(txn, source)
        return source.ahead.popleft() if source.ahead else None

    def _read_ahead(self, txn: Txn, source: Source) -> None:
        """Read the first rows of the queue that are not leased; leased ones are few, and are all at its beginning."""
        run_id, want = source.run.run_id, READ_AHEAD * source.gate.connections
        start, stop = (run_id, source.origin_id, 0, 0), (run_id, source.origin_id + 1, 0, 0)
        for _, url_id in txn.scan(QUEUE, start, stop):
            if (run_id, url_id) in self._leased:
                continue
            row, url = txn.get(ROWS, (run_id, url_id)), txn.get(URLS, url_id)
            assert row is not None
            assert url is not None
            source.ahead.append(Candidate(url_id, url.url, row))
            if len(source.ahead) >= want:
                return

    # -- the window -----------------------------------------------------------------------------------------------

    def _feed(self, key: tuple[int, int], is_urgent: bool) -> None:
        active = self.runs.get(key[0])
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

    def _fill(self, now_s: float) -> None:
        for active in self.runs.values():
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
        self._offer(known)

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

    def _offer(self, source: Source) -> None:
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

    def _remove(self, source: Source) -> None:
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
                self._remove(source)
                source.run.is_scan_due = True
        if len(self._hosts) > WINDOW_ORIGINS:
            self._hosts.shed()


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
