"""Leases over a real store: rows on disk, origins in memory, nothing lost and nothing hidden."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from jird_daemon.clock import ManualClock
from jird_daemon.frontier import window as module
from jird_daemon.frontier.batch import FrontierBatch, Lane, SeenRows
from jird_daemon.frontier.frontier import MARGIN_MAX_S, Frontier
from jird_daemon.frontier.lease import Lease
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.frontier.runs import RunPlan, start_run
from jird_daemon.outcome import ExitCode
from jird_daemon.store import Store
from jird_daemon.store.tables import (
    ORIGIN_STATES,
    QUEUE,
    ROWS,
    RUN_ORIGINS,
    RUNS,
    WAITING,
    OriginState,
    RowState,
    RunOrigin,
    RunState,
    Scope,
)
from jird_daemon.store.urls import intern_origin
from jird_settings import Crawl, HostRule


class Desk:
    """A frontier, its store and its clock; commits as the writer would, at once."""

    def __init__(self, store: Store, *, hosts: tuple[HostRule, ...] = (), address_connections: int = 4) -> None:
        self.store = store
        self.clock = ManualClock()
        self.seen = SeenRows()
        rules = OriginRules(Crawl(), hosts)
        self.frontier = Frontier(store, rules, self.clock, address_connections=address_connections)

    def commit(self, work: object) -> object:
        """Run a function of a batch."""
        with self.store.write() as txn:
            batch = FrontierBatch(txn, self.seen, self.clock.now_s())
            result = work(batch)  # type: ignore[operator]
            effects = batch.flush()
        batch.committed()
        self.frontier.after_commit(effects)
        return result

    def start(self, *urls: str, max_pages: int = 1_000) -> int:
        """A run with these URLs queued, activated."""

        def begin(batch: FrontierBatch) -> int:
            plan = RunPlan(tuple(urls[:1]), 3, max_pages, Scope.OPEN, 100_000)
            started = start_run(batch.txn, plan, self.clock.now_s(), 100)
            batch.discover(started.run_id, urls, 0)
            return started.run_id

        run_id = self.commit(begin)
        assert isinstance(run_id, int)
        with self.store.read() as txn:
            run = txn.get(RUNS, run_id)
        assert run is not None
        self.frontier.activate(run_id, run)
        return run_id

    def leases(self, limit: int = 1_000) -> list[Lease]:
        """Everything that can be leased now."""
        found: list[Lease] = []
        while len(found) < limit and (lease := self.frontier.lease()) is not None:
            found.append(lease)
        return found

    def finish(self, lease: Lease, *, wait_s: float = 1.0, patience: int = 5, found: Iterable[str] = ()) -> None:
        """End a request well and commit it, with the links it found."""
        state = OriginState(self.clock.now_s() + wait_s)
        pace = replace(lease.source.pace, patience=patience)
        self.frontier.end_request(lease, pace, state)

        def record(batch: FrontierBatch) -> None:
            batch.finish(lease.run.run_id, lease.url_id, RowState.DONE, int(ExitCode.FILE_INGESTED), 1)
            batch.count(lease.run.run_id, "requests")
            batch.discover(lease.run.run_id, found, lease.row.depth + 1)
            batch.set_pace(lease.run.run_id, lease.source.origin_id, pace, state)

        self.frontier.end_lease(lease)
        self.commit(record)


def urls_of(leases: Iterable[Lease]) -> list[str]:
    """URLs of leases."""
    return [lease.url for lease in leases]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(tmp_path, map_bytes=1 << 28) as opened:
        yield opened


def test_one_url_of_each_origin_at_a_time(store: Store) -> None:
    """J132, J133: in order of discovery; the next one of an origin after its delay."""
    desk = Desk(store)
    desk.start("https://a.test/1", "https://a.test/2", "https://b.test/1")
    first = desk.leases()
    assert urls_of(first) == ["https://a.test/1", "https://b.test/1"]
    desk.finish(first[0], wait_s=5.0)
    desk.clock.advance(5.0)
    assert desk.leases() == []
    desk.clock.advance(MARGIN_MAX_S)
    assert urls_of(desk.leases()) == ["https://a.test/2"]


def test_nearer_pages_go_first(store: Store) -> None:
    """U142: a run sees a site breadth first, whatever the numbers of its URLs."""
    desk = Desk(store)
    desk.start("https://a.test/known-later", "https://elsewhere.test/")
    other = desk.start("https://a.test/", max_pages=100)
    desk.frontier.drain(1)
    (lease,) = desk.leases()
    desk.finish(lease, wait_s=0, found=["https://a.test/x"])
    (lease,) = desk.leases()
    desk.finish(lease, wait_s=0, found=["https://a.test/known-later"])  # an old URL, two links away
    assert other == 2
    assert urls_of(desk.leases()) == ["https://a.test/known-later"]


def test_urgent_rows_go_before_rows_read_ahead(store: Store) -> None:
    """REQUIREMENTS, head: a redirect's target is asked next on its origin."""
    desk = Desk(store)
    run_id = desk.start(*(f"https://a.test/{number}" for number in range(10)))
    (lease,) = desk.leases()
    desk.commit(lambda batch: batch.discover(run_id, ["https://a.test/target"], 0, lane=Lane.URGENT, redirects=1))
    desk.finish(lease, wait_s=0)
    (lease,) = desk.leases()
    assert (lease.url, lease.row.redirects) == ("https://a.test/target", 1)


def test_a_lease_that_was_not_used_is_the_next_again(store: Store) -> None:
    """J168, S23: no attempt is counted."""
    desk = Desk(store)
    desk.start("https://a.test/1", "https://a.test/2", max_pages=1)
    (lease,) = desk.leases()
    assert lease.run.budget_left == 0
    desk.frontier.give_back(lease)
    assert lease.run.budget_left == 1
    assert urls_of(desk.leases()) == ["https://a.test/1"]


def test_a_killed_crawler_gives_every_claim_back(store: Store) -> None:
    """U10, J168: a claim is in memory only; the next process finds every row where it was."""
    desk = Desk(store)
    desk.start("https://a.test/1", "https://b.test/1")
    assert len(desk.leases()) == 2
    other = Desk(store)
    with store.read() as txn:
        run = txn.get(RUNS, 1)
    assert run is not None
    other.frontier.activate(1, run)
    assert urls_of(other.leases()) == ["https://a.test/1", "https://b.test/1"]


def test_a_stored_deadline_holds_after_a_restart(store: Store) -> None:
    """J149: and one that a clock set back has made absurd does not hold for ever."""
    desk = Desk(store)
    now_s = desk.clock.now_s()
    with store.write() as txn:
        for name, next_time_s in (("https://a.test", now_s + 60), ("https://b.test", now_s + 1e9)):
            txn.put(ORIGIN_STATES, intern_origin(txn, name), OriginState(next_time_s, 1, "rate_limited"))
    desk.start("https://a.test/", "https://b.test/")
    assert desk.leases() == []
    assert desk.frontier.waiting_reasons(10) == {"https://a.test": "rate_limited", "https://b.test": "rate_limited"}
    desk.clock.advance(60)
    assert urls_of(desk.leases()) == ["https://a.test/"]
    desk.clock.advance(module.WAIT_MAX_S)
    assert urls_of(desk.leases()) == ["https://b.test/"]


def test_both_schemes_of_a_host_share_one_gate_and_ports_do_not(store: Store) -> None:
    """F73, F13: one politeness key for each host."""
    desk = Desk(store)
    desk.start("http://a.test/", "https://a.test/", "https://a.test:8443/")
    assert urls_of(desk.leases()) == ["http://a.test/", "https://a.test:8443/"]


def test_the_budget_is_never_overdrawn(store: Store) -> None:
    """J151, J107: attempts in flight count, over all origins together."""
    desk = Desk(store)
    desk.start(*(f"https://h{number}.test/" for number in range(50)), max_pages=7)
    leases = desk.leases()
    assert len(leases) == 7
    assert not desk.frontier.reserve(leases[0])


def test_an_origin_without_patience_is_set_aside_and_swept(store: Store) -> None:
    """U140, U145: its rows end as failed, in bounded steps, and the run can end."""
    desk = Desk(store)
    run_id = desk.start(*(f"https://a.test/{number}" for number in range(600)))
    (lease,) = desk.leases()
    desk.finish(lease, wait_s=0, patience=0)
    assert desk.leases() == []
    steps = 0
    while desk.frontier.window.set_aside:
        key = desk.frontier.window.set_aside.pop()
        desk.commit(lambda batch, key=key: batch.sweep(*key, int(ExitCode.CONNECTION_FAILED)))
        steps += 1
    with store.read() as txn:
        run = txn.get(RUNS, run_id)
        assert txn.count(QUEUE) == 0
    assert run is not None
    assert (run.state, run.counts.failed, run.counts.queued) == (RunState.COMPLETED, 599, 0)
    assert steps == 3


def test_waiting_rows_come_back_when_they_are_due(store: Store) -> None:
    """J149, J152: durable, in bounded steps, and first in line."""
    desk = Desk(store)
    run_id = desk.start("https://a.test/1", "https://a.test/2")
    (lease,) = desk.leases()
    now_ms = round(desk.clock.now_s() * 1000)
    desk.frontier.release_gate(lease)
    desk.frontier.end_lease(lease)
    desk.commit(lambda batch: batch.put_off(run_id, lease.url_id, now_ms + 500, int(ExitCode.RATE_LIMITED), 1))
    run = desk.frontier.runs[run_id]
    assert (run.run.counts.waiting, run.run.counts.queued, run.next_due_ms) == (1, 2, now_ms + 500)
    desk.commit(lambda batch: batch.wake_due(run_id, now_ms + 499))
    assert run.run.counts.waiting == 1
    desk.commit(lambda batch: batch.wake_due(run_id, now_ms + 500))
    (lease,) = desk.leases()
    assert (lease.url, lease.row.attempts) == ("https://a.test/1", 1)
    with store.read() as txn:
        assert txn.count(WAITING) == 0


def test_runs_do_not_share_rows(store: Store) -> None:
    """J165: the same URL is a row of each."""
    desk = Desk(store)
    desk.start("https://a.test/")
    desk.start("https://b.test/", "https://a.test/")
    found = desk.leases()
    assert [(lease.run.run_id, lease.url) for lease in found] == [(1, "https://a.test/"), (2, "https://b.test/")]
    desk.finish(found[0], wait_s=0)
    assert [(lease.run.run_id, lease.url) for lease in desk.leases()] == [(2, "https://a.test/")]


def test_an_address_limits_origins_that_share_it(store: Store) -> None:
    """REQUIREMENTS, head: whoever finds it busy gives way, and comes back when a place is free."""
    desk = Desk(store, address_connections=2)
    desk.start(*(f"https://h{number}.test/" for number in range(5)))
    leases = desk.leases()
    placed = [lease for lease in leases if desk.frontier.acquire_address(lease, "192.0.2.1")]
    assert len(leases) == 5
    assert len(placed) == 2
    assert desk.leases() == []
    assert set(desk.frontier.waiting_reasons(10).values()) == {"address_busy"}
    desk.finish(placed[0])
    again = [lease for lease in desk.leases() if desk.frontier.acquire_address(lease, "192.0.2.1")]
    assert len(again) == 1


def test_a_host_of_ones_own_is_not_limited_by_its_address(store: Store) -> None:
    """[[hosts]] connections."""
    desk = Desk(store, hosts=(HostRule("*.own.test", connections=3),), address_connections=1)
    desk.start(*(f"https://a.own.test/{number}" for number in range(5)))
    leases = desk.leases()
    assert len(leases) == 3
    assert all(desk.frontier.acquire_address(lease, "192.0.2.1") for lease in leases)


def test_more_origins_than_the_window_are_all_reached(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """S15, S16: blocked ones leave a full window to others, and memory stays bounded."""
    monkeypatch.setattr(module, "WINDOW_ORIGINS", 50)
    monkeypatch.setattr(module, "SCAN_STEP", 16)
    desk = Desk(store)
    desk.start(*(f"https://h{number}.test/" for number in range(300)), max_pages=10_000)
    reached: set[str] = set()
    for _ in range(200):
        for lease in desk.leases():
            if len(reached) % 3:
                desk.finish(lease)
            else:  # this host asks to be left alone for half an hour
                state = OriginState(desk.clock.now_s() + 1_800, 1, "rate_limited")
                desk.frontier.end_request(lease, lease.source.pace, state)
                desk.frontier.end_lease(lease)
                desk.commit(
                    lambda batch, lease=lease, state=state: (
                        batch.put_off(1, lease.url_id, 10**15, 49, 1),
                        batch.set_pace(1, lease.source.origin_id, RunOrigin(), state),
                    )
                )
            reached.add(lease.url)
        assert len(desk.frontier.window) <= 50
        desk.clock.advance(0.5)
        if len(reached) == 300:
            break
    assert len(reached) == 300


def test_counts_of_origins_agree_with_their_queues(store: Store) -> None:
    """F103: nothing drifts."""
    desk = Desk(store)
    run_id = desk.start(*(f"https://h{number % 7}.test/{number}" for number in range(100)))
    for _ in range(5):
        for lease in desk.leases():
            desk.finish(lease, wait_s=0, found=[f"{lease.url}/{sub}" for sub in range(3)])
    with store.read() as txn:
        run = txn.get(RUNS, run_id)
        queued = [origin.queued for _, origin in txn.scan(RUN_ORIGINS)]
        assert run is not None
        assert run.counts.queued == sum(queued) == txn.count(QUEUE)
        assert run.counts.discovered == txn.count(ROWS)
