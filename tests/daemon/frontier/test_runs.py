"""A run's life in the store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from jird_daemon.errors import NotFoundError, OverloadedError
from jird_daemon.frontier.runs import (
    RunPlan,
    RunScope,
    default_scope,
    end_run,
    get_run,
    max_frontier,
    running_runs,
    start_run,
)
from jird_daemon.store import Store
from jird_daemon.store.tables import RUNS, RunReason, RunState, Scope

A, B = "https://a.test/", "https://b.test/"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(tmp_path, map_bytes=1 << 26) as opened:
        yield opened


def plan(*seeds: str, pages: int = 10) -> RunPlan:
    """A plan with defaults."""
    return RunPlan(seeds, 3, pages, Scope.SAME_ORIGIN, 1_000_000)


@pytest.mark.parametrize(
    ("pages", "cap", "rows"),
    [(0, 10**6, 0), (1, 10**6, 1_000), (1_000, 10**6, 10_000), (10**7, 10**6, 10**6), (10**7, 10**8, 10**8)],
)
def test_the_ceiling_is_ten_rows_a_page_between_floor_and_cap(pages: int, cap: int, rows: int) -> None:
    """J128."""
    assert max_frontier(pages, cap) == rows


def test_the_same_seeds_resume_the_paused_run_in_any_order(store: Store) -> None:
    """J164, J166."""
    with store.write() as txn:
        first = start_run(txn, plan(A, B), 1.0, 10)
        end_run(txn, first.run_id, first.run, RunState.PAUSED, RunReason.STOPPED, 2.0)
        again = start_run(txn, plan(B, A), 3.0, 10)
    assert (again.run_id, again.is_new, again.run.state, again.run.end_time_s) == (1, False, RunState.RUNNING, None)


def test_other_seeds_make_another_run_and_completed_ones_a_new_one(store: Store) -> None:
    """J165, J166: numbers are never used again."""
    with store.write() as txn:
        first = start_run(txn, plan(A), 1.0, 10)
        other = start_run(txn, plan(B), 1.0, 10)
        end_run(txn, first.run_id, first.run, RunState.COMPLETED, RunReason.DRAINED, 2.0)
        third = start_run(txn, plan(A), 3.0, 10)
    assert [first.run_id, other.run_id, third.run_id] == [1, 2, 3]
    assert third.is_new


def test_a_running_run_is_returned_as_it_is(store: Store) -> None:
    """J164: starting twice is harmless."""
    with store.write() as txn:
        first, second = start_run(txn, plan(A), 1.0, 1), start_run(txn, plan(A), 2.0, 1)
    assert (second.run_id, second.is_new) == (first.run_id, False)


def test_a_spent_budget_is_added_to_on_resume(store: Store) -> None:
    """J56, J166."""
    with store.write() as txn:
        started = start_run(txn, plan(A, pages=10), 1.0, 10)
        spent = replace(started.run, counts=replace(started.run.counts, requests=10))
        end_run(txn, started.run_id, spent, RunState.PAUSED, RunReason.BUDGET, 2.0)
        resumed = start_run(txn, plan(A, pages=5), 3.0, 10)
    assert resumed.run.max_pages == 15


def test_too_many_active_runs_are_refused(store: Store) -> None:
    """crawl.max_active_runs."""
    with store.write() as txn:
        start_run(txn, plan(A), 1.0, 1)
        with pytest.raises(OverloadedError, match="1 runs are running"):
            start_run(txn, plan(B), 1.0, 1)


def test_only_running_runs_are_listed_as_running(store: Store) -> None:
    """F99: what a killed daemon left behind is found without a walk over all runs."""
    with store.write() as txn:
        for number in range(5):
            started = start_run(txn, plan(f"https://h{number}.test/"), 1.0, 10)
            if number % 2:
                end_run(txn, started.run_id, started.run, RunState.PAUSED, RunReason.STOPPED, 2.0)
        assert [run_id for run_id, _ in running_runs(txn)] == [1, 3, 5]
        assert txn.count(RUNS) == 5


def test_an_unknown_run_is_not_found(store: Store) -> None:
    """The contract's NOT_FOUND."""
    with store.read() as txn, pytest.raises(NotFoundError):
        get_run(txn, 7)


def test_scopes() -> None:
    """J59, J106, U135."""
    a, b, c = "https://a.test", "https://b.test", "https://c.test"
    own, seeds, open_ = (RunScope(scope, frozenset({a, b})) for scope in Scope)
    assert [own.includes(a, a), own.includes(b, a), own.includes(c, c)] == [True, False, False]
    assert [seeds.includes(b, a), seeds.includes(c, a)] == [True, False]
    assert open_.includes(c, a)
    assert default_scope(1, True) == Scope.SAME_ORIGIN
    assert default_scope(2, True) == Scope.SEEDS
    assert default_scope(1, False) == Scope.OPEN
