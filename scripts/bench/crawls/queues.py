"""Queues of a run on disk, and a frontier that leases from them without a network in between."""

import time
from pathlib import Path

from jird_daemon.clock import ManualClock
from jird_daemon.crawler.admission import NO_RULES, Admission, make_url_policy
from jird_daemon.frontier.batch import FrontierBatch, SeenRows
from jird_daemon.frontier.frontier import Frontier
from jird_daemon.frontier.lease import Lease
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.frontier.runs import RunPlan, RunScope, start_run
from jird_daemon.frontier.trail import Trails
from jird_daemon.outcome import ExitCode
from jird_daemon.store import Store
from jird_daemon.store.tables import RUNS, OriginState, RowState, Scope
from jird_settings import Crawl, load

BATCH = 64
"""Leases that are out together, as connections in a crawl."""
DELAY_S = 1.0
LINKS = 600
FILL_STEP = 100_000


def urls_of(first: int, count: int, origins: int) -> list[str]:
    """URLs of a queue, one origin after the other."""
    return [f"https://host{number % origins}.test/page/{number // origins}" for number in range(first, first + count)]


def fill(folder: Path, rows: int, origins: int) -> float:
    """Make a store with a run that has so many rows queued; returns seconds a row."""
    started, seen = time.perf_counter(), SeenRows()
    with Store.open(folder) as store:
        with store.write() as txn:
            plan = RunPlan((urls_of(0, 1, origins)[0],), 3, 10**8, Scope.OPEN, 10**8)
            run_id = start_run(txn, plan, time.time(), 10).run_id
        for first in range(0, rows, FILL_STEP):
            with store.write() as txn:
                batch = FrontierBatch(txn, seen, time.time())
                batch.discover(run_id, urls_of(first, min(FILL_STEP, rows - first), origins), 1)
                batch.flush()
            batch.committed()
    return (time.perf_counter() - started) / rows


class Desk:
    """A frontier over a store that was filled, without the network between claim and completion."""

    def __init__(self, store: Store) -> None:
        self.store, self.clock, self.seen = store, ManualClock(), SeenRows()
        self.frontier = Frontier(store, OriginRules(Crawl(), ()), self.clock, address_connections=4)
        with store.read() as txn:
            self.run_id, run = next(iter(txn.scan(RUNS)))
        self.frontier.activate(self.run_id, run)
        settings = load(None, {})
        self.rules = Admission(make_url_policy(settings), settings.crawl).make(RunScope.open(), NO_RULES, 3)

    def claim(self) -> tuple[list[Lease], list[float]]:
        """Lease a batch; with the seconds of each."""
        leases, seconds = [], []
        for _ in range(BATCH):
            started = time.perf_counter()
            lease = self.frontier.lease()
            seconds.append(time.perf_counter() - started)
            assert lease is not None, "no origin may be asked"
            leases.append(lease)
        return leases, seconds

    def complete(self, leases: list[Lease]) -> float:
        """Commit a batch as done; seconds for each."""
        started, state = time.perf_counter(), OriginState(self.clock.now_s() + DELAY_S)
        for lease in leases:
            self.frontier.end_request(lease, lease.source.pace, state)
        with self.store.write() as txn:
            batch = FrontierBatch(txn, self.seen, self.clock.now_s())
            for lease in leases:
                batch.finish(self.run_id, lease.url_id, RowState.DONE, int(ExitCode.FILE_INGESTED), 1)
                batch.set_pace(self.run_id, lease.source.origin_id, lease.source.pace, state)
            effects = batch.flush()
        batch.committed()
        for lease in leases:
            self.frontier.end_lease(lease)
        self.frontier.after_commit(effects)
        return (time.perf_counter() - started) / len(leases)

    def enqueue(self, page: int) -> tuple[float, float]:
        """Let the links of a page into the queue: rules, look-ups, rows, and their synced commit.

        Returns:
            Seconds until the commit, which a crawl shares among many pages, and with it.
        """
        rules, origin = self.rules, f"https://host{page}.test"
        urls = [f"{origin}/new/{page}/{link}" for link in range(LINKS)]
        started = time.perf_counter()
        with self.store.write() as txn:
            batch = FrontierBatch(txn, self.seen, self.clock.now_s())
            newcomers = rules.newcomers(Trails(txn, self.run_id), origin, 2)
            added = batch.discover(self.run_id, rules.select(origin, urls, 2).urls, 2, admit=newcomers.admit)
            effects = batch.flush()
            before_commit = time.perf_counter()
        batch.committed()
        self.frontier.after_commit(effects)
        assert added == LINKS
        return before_commit - started, time.perf_counter() - started
