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

from jird_daemon.control import CrawlRules
from jird_daemon.errors import NotFoundError, OverloadedError
from jird_daemon.store.tables import META, RECRAWLS, RUN_RULES, RUNS, Run, RunReason, RunState, Scope
from jird_daemon.store.txn import Txn
from jird_daemon.url.canonical import origin_of

# J128: rows that a run may hold for each request attempt, and at least, so that a small budget still chooses from a
# site.
ROWS_PER_PAGE = 10
ROWS_FLOOR = 1_000
# A round waits for this part of the interval after its first page fell due, and for so long at most.
ROUND_SHARE = 20
ROUND_SLACK_MAX_MS = 15 * 60 * 1_000
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
        rules: Policies; None keeps those that the run has.
        recrawl_interval_s: Age at which its pages are crawled again by themselves; 0: never.
        force_recrawl: Ask for pages too that are not due.
    """

    seeds: tuple[str, ...]
    max_depth: int
    max_pages: int
    scope: Scope
    frontier_cap: int
    delay_ms: int | None = None
    name: str = ""
    rules: CrawlRules | None = None
    recrawl_interval_s: int = 0
    force_recrawl: bool = False


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
    def open(cls) -> "RunScope":
        """Every origin."""
        return cls(Scope.OPEN, frozenset())

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
        run_id, run = found[0], _resumed(found[1], plan, now_s)
        _put_running(txn, run_id, run)
        if plan.rules is not None:
            txn.put(RUN_RULES, run_id, plan.rules)
        return Started(run_id, run, is_new=False)
    if found is not None:  # the run that comes takes its place, also in crawling again by itself
        _unschedule(txn, found[0])
    run_id = txn.add_number(LAST_RUN_ID, 1)
    run = Run(
        plan.seeds, RunState.RUNNING, RunReason.NONE, plan.max_depth, plan.max_pages, plan.scope,
        max(max_frontier(plan.max_pages, plan.frontier_cap), len(plan.seeds)), now_s,
        name=plan.name, delay_ms=plan.delay_ms, recrawl_interval_s=plan.recrawl_interval_s,
        is_forced=plan.force_recrawl, round_time_s=now_s,
    )  # fmt: skip
    txn.put(META, _seeds_key(plan.seeds), run_id)
    txn.put(RUN_RULES, run_id, plan.rules or CrawlRules())
    _put_running(txn, run_id, run)
    return Started(run_id, run, is_new=True)


def end_run(txn: Txn, run_id: int, run: Run, state: RunState, reason: RunReason, now_s: float) -> Run:
    """Move a running run to PAUSED or COMPLETED; one that is not running stays as it is."""
    if run.state != RunState.RUNNING:
        return run
    run = replace(run, state=state, reason=reason, end_time_s=now_s)
    txn.put(RUNS, run_id, run)
    txn.delete(META, _running_key(run_id))
    return run


def begin_round(txn: Txn, run_id: int, run: Run, now_s: float) -> Run:
    """Set a run going again because pages of it are due: the same run, with its whole budget."""
    run = replace(
        run, state=RunState.RUNNING, reason=RunReason.NONE, end_time_s=None, is_forced=False, rounds=run.rounds + 1,
        round_time_s=now_s, round_requests=run.counts.requests,
    )  # fmt: skip
    _put_running(txn, run_id, run)
    return run


def stop_schedule(txn: Txn, run_id: int, run: Run) -> Run:
    """A person stops a run that waits to be set going again: it is one that was stopped."""
    run = replace(run, state=RunState.PAUSED, reason=RunReason.STOPPED)
    txn.put(RUNS, run_id, run)
    return run


def scheduled_runs(txn: Txn) -> Iterator[tuple[int, Run]]:
    """Runs that crawl again by themselves and wait for that. Costs the number of scheduled runs."""
    for _, run_id in list(txn.scan(META, _SCHEDULED, _SCHEDULED + "~")):
        run = txn.get(RUNS, run_id)
        if run is not None and is_scheduled(run):
            yield run_id, run


def is_scheduled(run: Run) -> bool:
    """Whether the daemon sets a run going again; never one that a person has stopped."""
    is_over = run.state == RunState.COMPLETED or run.reason in (RunReason.BUDGET, RunReason.RESTART)
    return bool(run.recrawl_interval_s) and run.state != RunState.RUNNING and is_over


def next_round_ms(txn: Txn, run_id: int, run: Run) -> int | None:
    """When a scheduled run goes on, in unix milliseconds; None when nothing of it will fall due.

    A little later than its first page falls due, so that pages that were crawled one after the other are crawled in
    one round again; after a spent budget an interval after the last round, so that the budget keeps its meaning.
    """
    if run.reason == RunReason.RESTART:
        return 0
    interval_ms = run.recrawl_interval_s * 1_000
    if run.reason == RunReason.BUDGET:
        return round(run.round_time_s * 1_000) + interval_ms
    for (_, due_ms, _), _ in txn.scan(RECRAWLS, (run_id, 0, 0), (run_id + 1, 0, 0)):
        return due_ms + min(interval_ms // ROUND_SHARE, ROUND_SLACK_MAX_MS)
    return None


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


def scope_reached(run: Run) -> bool:
    """Whether a run did what was planned (Y26): all that was admitted was dealt with, and nothing was dropped."""
    return run.state == RunState.COMPLETED and not run.counts.dropped


def budget_left(run: Run) -> int:
    """Request attempts that a round may still begin; below 0 when a limit was lowered (J151)."""
    return run.max_pages - (run.counts.requests - run.round_requests)


def _latest(txn: Txn, seeds: Iterable[str]) -> tuple[int, Run] | None:
    run_id = txn.get(META, _seeds_key(seeds))
    if run_id is None:
        return None
    run = txn.get(RUNS, run_id)
    return None if run is None else (int(run_id), run)


def _put_running(txn: Txn, run_id: int, run: Run) -> None:
    txn.put(RUNS, run_id, run)
    txn.put(META, _running_key(run_id), run_id)
    if run.recrawl_interval_s:
        txn.put(META, _scheduled_key(run_id), run_id)
    else:
        txn.delete(META, _scheduled_key(run_id))


def _unschedule(txn: Txn, run_id: int) -> None:
    run = txn.get(RUNS, run_id)
    if run is not None and run.recrawl_interval_s:
        txn.put(RUNS, run_id, replace(run, recrawl_interval_s=0))
        txn.delete(META, _scheduled_key(run_id))


def _resumed(run: Run, plan: RunPlan, now_s: float) -> Run:
    requests = run.counts.requests - run.round_requests
    spent = requests if requests >= run.max_pages else 0
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
        recrawl_interval_s=plan.recrawl_interval_s,
        is_forced=plan.force_recrawl,
        round_time_s=run.round_time_s if not spent else now_s,
    )


_RUNNING = "running:"


def _running_key(run_id: int) -> str:
    return f"{_RUNNING}{run_id:020d}"


_SCHEDULED = "scheduled:"


def _scheduled_key(run_id: int) -> str:
    return f"{_SCHEDULED}{run_id:020d}"


def _seeds_key(seeds: Iterable[str]) -> str:
    # Order does not make another crawl of it.
    return "seeds:" + blake2b("\n".join(sorted(seeds)).encode(), digest_size=16).hexdigest()
