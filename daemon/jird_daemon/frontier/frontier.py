"""The crawl loop's side of the frontier: which URL is asked for next.

Rows lie on disk, in order, per run and origin (store/tables.py: queue). In memory stand only the origins of a window,
each with a few rows read ahead; the window is filled again from `run_origins` with short scans. So memory and the time
for a lease do not depend on how many rows or origins there are.

A lease is in memory only: the row stays in its queue until the result is committed, so a killed crawler loses nothing
and gives back everything, without a write (J132, U10). Rows that are leased are skipped when reading ahead.

Belongs to the event loop's thread. Writes happen in FrontierBatch, in the writer's thread; `after_commit` brings the
news.
"""

from jird_daemon.clock import Clock
from jird_daemon.errors import CorruptBlobError
from jird_daemon.frontier.address_limit import AddressLimit
from jird_daemon.frontier.batch import BatchEffects
from jird_daemon.frontier.host_queue import Gate, HostQueue
from jird_daemon.frontier.lease import ActiveRun, Candidate, Lease, Source
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.frontier.runs import RunScope
from jird_daemon.frontier.window import WAIT_MAX_S, Window
from jird_daemon.log import get_logger
from jird_daemon.store.env import Store
from jird_daemon.store.tables import PAGES, QUEUE, ROWS, URLS, OriginState, Page, Run, RunOrigin, RunState
from jird_daemon.store.txn import Txn

# Rows read ahead of an origin, for each request that it may have in flight.
READ_AHEAD = 4
# A server notes the end of its answer after we have it, by some milliseconds when it is busy (measured: 4); in its log,
# too, no gap is to be shorter than the delay.
MARGIN_SHARE = 0.02
MARGIN_MAX_S = 0.01

_log = get_logger("frontier")


class Frontier:
    """See the module."""

    def __init__(self, store: Store, rules: OriginRules, clock: Clock, *, address_connections: int) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock
        self._hosts: HostQueue[Source] = HostQueue()
        self._addresses: AddressLimit[Gate[Source]] = AddressLimit(address_connections)
        self._leased: set[tuple[int, int]] = set()
        self.runs: dict[int, ActiveRun] = {}
        self.window = Window(store, rules, clock, self._hosts, self.runs)
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
            for source in self.window.of_run(active):
                self.window.remove(source)

    def forget(self, run_id: int) -> None:
        """Drop a run of which nothing is out any more."""
        self.drain(run_id)
        active = self.runs.pop(run_id, None)
        assert active is None or not active.leases
        self.window.set_aside = {key for key in self.window.set_aside if key[0] != run_id}

    # -- leases ---------------------------------------------------------------------------------------------------

    def lease(self) -> Lease | None:
        """Take the next URL whose origin may be asked now; None when there is none.

        The caller ends its request with `end_request` or `give_back`, and then, when the result is on disk, the lease
        with `end_lease`.
        """
        now_s = self._clock.monotonic_s()
        self.window.fill(now_s)
        while (taken := self._hosts.take(now_s)) is not None:
            gate, source = taken
            candidate = None if source.run.budget_left <= 0 else self._next_candidate(source)
            if candidate is not None:
                return self._lease(source, candidate)
            self.window.remove(source)
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
            self.window.offer(source)

    def end_request(self, lease: Lease, pace: RunOrigin, state: OriginState) -> None:
        """Let the origin's next request wait for its time; the row stays leased until `end_lease`."""
        source, gate = lease.source, lease.source.gate
        source.pace = pace
        gate.state = state
        now_s = self._clock.monotonic_s()
        wait_s = min(max(state.next_time_s - self._clock.now_s(), 0.0), WAIT_MAX_S)
        ready_s = now_s + wait_s + min(wait_s * MARGIN_SHARE, MARGIN_MAX_S)
        if state.backoff_kind:
            self._hosts.hold(gate, ready_s)
        self._end_token(lease, ready_s)
        if pace.patience == 0:
            self.window.remove(source)

    def load_validators(self, lease: Lease) -> None:
        """Fill in what is known of the URL's page, for a conditional request."""
        with self._store.read() as txn:
            page = txn.get(PAGES, lease.url_id)
        if page is not None:
            # A page whose text is damaged is asked for without conditions: "not modified" would leave it without one.
            if (page.etag or page.last_modified) and self._has_text(page):
                lease.etag, lease.last_modified = page.etag, page.last_modified
            lease.was_indexable = page.is_indexable
            lease.fetch_time_s = page.fetch_time_s

    def _has_text(self, page: Page) -> bool:
        """Whether the text of a page can be read, if it has one."""
        if not page.text_digest:
            return True
        try:
            self._store.get_blob(page.text_digest)
        except CorruptBlobError as error:
            _log.error("page.text_damaged", reason=str(error), then="it is fetched anew")
            return False
        return True

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
            self.window.feed(key, is_urgent)
        self.window.set_aside |= effects.set_aside
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
        self.window.lease_ended(source)

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
