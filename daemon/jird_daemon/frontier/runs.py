"""A run's life: made or resumed, running, paused, completed; its budget, its ceiling and its scope.

    start --> RUNNING --(queue empty)--> COMPLETED (DRAINED)
                ^  `--(STOPPED, BUDGET, RESTART, GUARD)--> PAUSED
                `------------- start with the same seeds ----'

Runs are numbered, durable and isolated from each other (J164-J166): every row of the frontier belongs to one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from msgspec.structs import replace

from jird_daemon.errors import NotFoundError, OverloadedError
from jird_daemon.store.tables import META, RUNS, Run, RunReason, RunState, Scope
from jird_daemon.store.txn import Txn
from jird_daemon.url.canonical import origin_of

# J128: rows that a run may hold for each request attempt, and at least, so that a small budget still chooses from a
# site.
ROWS_PER_PAGE = 10
ROWS_FLOOR = 1_000
# META: last number given to a run. Numbers are never used again, also when a run is deleted.
LAST_RUN_ID = "last_run_id"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run is asked to do, defaults filled in.

    Attributes:
        seeds: Canonical URLs that were checked, at least one, without repetition.
        max_depth: Links followed from a seed.
        max_pages: Request attempts in all.
        scope: Which discovered URLs belong to it.
        frontier_cap: Configured cap on rows.
        delay_ms: Minimum delay of this run; None: the configured one.
        name: For people.
    """

    seeds: tuple[str, ...]
    max_depth: int
    max_pages: int
    scope: Scope
    frontier_cap: int
    delay_ms: int | None = None
    name: str = ""


def max_frontier(max_pages: int, cap: int) -> int:
    """Ceiling on a run's rows (J128): ten for each page, at least 1,000, at most the cap; 0 for no pages."""
    return min(max(max_pages * ROWS_PER_PAGE, ROWS_FLOOR), cap) if max_pages else 0


def default_scope(seed_count: int, same_origin_only: bool) -> Scope:
    """Scope of a run that names none: the seed's origin, the origins of several seeds, or any."""
    if not same_origin_only:
        return Scope.OPEN
    return Scope.SAME_ORIGIN if seed_count == 1 else Scope.SEEDS


@dataclass(frozen=True, slots=True)
class RunScope:
    """Which origins belong to a run."""

    scope: Scope
    origins: frozenset[str]

    @classmethod
    def of(cls, run: Run) -> "RunScope":
        """The scope of a stored run."""
        return cls(Scope(run.scope), frozenset(map(origin_of, run.seeds)))

    def includes(self, origin: str, from_origin: str) -> bool:
        """Whether a URL on `origin` belongs to the run when a page on `from_origin` names it.

        An open run still asks every other check (J106); `same-origin` with several seeds keeps each on its own.
        """
        if self.scope is Scope.OPEN:
            return True
        if self.scope is Scope.SAME_ORIGIN and origin != from_origin:
            return False
        return origin in self.origins


@dataclass(frozen=True, slots=True)
class Started:
    """A run that was made or set going again."""

    run_id: int
    run: Run
    is_new: bool


def start_run(txn: Txn, plan: RunPlan, now_s: float, max_active: int) -> Started:
    """Resume the latest run with these seeds if it is paused, else make a new one (J164, J166).

    A run of these seeds that is running is returned as it is. A resumed run keeps its rows, attempts and deadlines;
    depth, scope, delay and name become those of the plan. A run whose budget was spent gets the plan's pages on top.

    Raises:
        OverloadedError: `max_active` runs are running.
    """
    found = _latest(txn, plan.seeds)
    if found is not None and found[1].state == RunState.RUNNING:
        return Started(*found, is_new=False)
    if sum(1 for _ in running_runs(txn)) >= max_active:
        raise OverloadedError(
            f"{max_active} runs are running, which is the most (crawl.max_active_runs)", "TOO_MANY_RUNS"
        )
    if found is not None and found[1].state == RunState.PAUSED:
        run_id, run = found[0], _resumed(found[1], plan)
        txn.put(RUNS, run_id, run)
        txn.put(META, _running_key(run_id), run_id)
        return Started(run_id, run, is_new=False)
    run_id = txn.add_number(LAST_RUN_ID, 1)
    run = Run(
        plan.seeds, RunState.RUNNING, RunReason.NONE, plan.max_depth, plan.max_pages, plan.scope,
        max(max_frontier(plan.max_pages, plan.frontier_cap), len(plan.seeds)), now_s,
        name=plan.name, delay_ms=plan.delay_ms,
    )  # fmt: skip
    txn.put(RUNS, run_id, run)
    txn.put(META, _seeds_key(plan.seeds), run_id)
    txn.put(META, _running_key(run_id), run_id)
    return Started(run_id, run, is_new=True)


def end_run(txn: Txn, run_id: int, run: Run, state: RunState, reason: RunReason, now_s: float) -> Run:
    """Move a running run to PAUSED or COMPLETED; one that is not running stays as it is."""
    if run.state != RunState.RUNNING:
        return run
    run = replace(run, state=state, reason=reason, end_time_s=now_s)
    txn.put(RUNS, run_id, run)
    txn.delete(META, _running_key(run_id))
    return run


def running_runs(txn: Txn) -> Iterator[tuple[int, Run]]:
    """Runs in the state RUNNING, oldest first. Costs the number of them, not of all runs."""
    for _, run_id in list(txn.scan(META, _RUNNING, _RUNNING + "~")):
        run = txn.get(RUNS, run_id)
        if run is not None and run.state == RunState.RUNNING:
            yield run_id, run


def get_run(txn: Txn, run_id: int) -> Run:
    """A run by its number.

    Raises:
        NotFoundError: There is none.
    """
    run = txn.get(RUNS, run_id)
    if run is None:
        raise NotFoundError(f"there is no crawl run {run_id}", "RUN_NOT_FOUND")
    return run


def _latest(txn: Txn, seeds: Iterable[str]) -> tuple[int, Run] | None:
    run_id = txn.get(META, _seeds_key(seeds))
    if run_id is None:
        return None
    run = txn.get(RUNS, run_id)
    return None if run is None else (int(run_id), run)


def _resumed(run: Run, plan: RunPlan) -> Run:
    spent = run.counts.requests if run.counts.requests >= run.max_pages else 0
    max_pages = spent + plan.max_pages
    return replace(
        run,
        state=RunState.RUNNING,
        reason=RunReason.NONE,
        end_time_s=None,
        max_depth=plan.max_depth,
        max_pages=max_pages,
        max_frontier=max(run.max_frontier, max_frontier(max_pages, plan.frontier_cap)),
        scope=plan.scope,
        delay_ms=plan.delay_ms,
        name=plan.name or run.name,
    )


_RUNNING = "running:"


def _running_key(run_id: int) -> str:
    return f"{_RUNNING}{run_id:020d}"


def _seeds_key(seeds: Iterable[str]) -> str:
    # Order does not make another crawl of it.
    return "seeds:" + blake2b("\n".join(sorted(seeds)).encode(), digest_size=16).hexdigest()
