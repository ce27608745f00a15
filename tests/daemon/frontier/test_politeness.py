"""Delay rules and back-off, as pure functions."""

import pytest

from jird_daemon.frontier.politeness import (
    BackoffRule,
    DelayRule,
    Trouble,
    after_answer,
    after_trouble,
    backoff_s,
    politeness_delay_s,
)
from jird_daemon.store.tables import OriginState, RunOrigin

RULE = DelayRule(minimum_s=0.5, robots_cap_s=120.0)
BACKOFF = BackoffRule(base_s=1.0, ceiling_s=60.0)


def trouble(
    kind: Trouble, state: OriginState, run: RunOrigin, *, delay_s: float = 0.0
) -> tuple[OriginState, RunOrigin]:
    """State after a failure at second 1,000."""
    pace = after_trouble(state, run, 1_000.0, kind, rule=BACKOFF, delay_s=delay_s, jitter=0.0, retry_after_s=None)
    return pace.origin, pace.run


@pytest.mark.parametrize(
    ("robots_delay_s", "response_s", "steps", "delay_s"),
    [
        (None, 0.01, 2, 0.5),  # the minimum
        (3.0, 0.01, 2, 3.0),  # robots.txt
        (0.25, 0.01, 2, 0.5),  # F15: a smaller Crawl-delay does not shorten ours
        (86_400.0, 0.01, 2, 120.0),  # U95, F15: capped
        (None, 1.0, 2, 4.0),  # U96, U99: the slower the server, the slower the crawl
        (None, 1.0, 0, 1.0),
        (3.0, 1.0, 3, 8.0),  # U97: the longest of all
        (None, 3_600.0, 10, 600.0),  # bounded
    ],
)
def test_delay_is_the_longest_of_minimum_robots_and_response(
    robots_delay_s: float | None, response_s: float, steps: int, delay_s: float
) -> None:
    """U95, U96, U97, U99, J57, F15."""
    assert politeness_delay_s(RULE, robots_delay_s, response_s, steps) == delay_s


def test_a_host_of_ones_own_is_not_slowed_by_its_answers() -> None:
    """REQUIREMENTS, head: [[hosts]] adaptive = false."""
    rule = DelayRule(0.0, 0.0, is_adaptive=False)
    assert politeness_delay_s(rule, 10.0, 5.0, 4) == 0.0


def test_p_falls_with_each_answer_to_zero() -> None:
    """U96: starts at 2; the p in force when a request ended counts for its wait."""
    run, waits = RunOrigin(), []
    for _ in range(4):
        pace = after_answer(run, 1_000.0, 1.0, RULE, None)
        waits.append(pace.origin.next_time_s - 1_000.0)
        run = pace.run
    assert waits == [4.0, 2.0, 1.0, 1.0]
    assert run.rate_limit_steps == 0


def test_a_429_raises_p_and_ends_its_falling_for_the_run() -> None:
    """U98, U133."""
    _, run = trouble(Trouble.RATE_LIMITED, OriginState(), RunOrigin())
    assert (run.rate_limit_steps, run.is_slowing) == (3, True)
    run = after_answer(run, 1_000.0, 0.1, RULE, None).run
    assert run.rate_limit_steps == 3


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        (Trouble.RATE_LIMITED, [60, 120, 240, 480, 960, 1_800, 1_800]),  # S17
        (Trouble.BLAMED, [600, 1_200, 2_400, 4_800, 7_200, 7_200]),  # S18
        (Trouble.FAILING, [1, 2, 4, 8, 16, 32, 60, 60]),  # S19, J64, J65
        (Trouble.ROBOTS, [1, 2, 4, 8, 16, 32, 60]),
    ],
)
def test_backoff_doubles_to_its_ceiling(kind: Trouble, waits: list[int]) -> None:
    """S17, S18, S19, J64, J65, J149."""
    state, run, found = OriginState(), RunOrigin(), []
    for _ in waits:
        state, run = trouble(kind, state, run)
        found.append(state.next_time_s - 1_000.0)
    assert found == waits


def test_an_answer_ends_the_backoff() -> None:
    """S21."""
    _, run = trouble(Trouble.RATE_LIMITED, OriginState(), RunOrigin())
    pace = after_answer(run, 1_000.0, 0.1, RULE, None)
    assert (pace.origin.backoff_step, pace.origin.backoff_kind) == (0, "")


def test_another_kind_of_trouble_starts_its_own_backoff() -> None:
    """S17, S19: five failures before do not make the first 429 wait half an hour."""
    state, run = OriginState(), RunOrigin()
    for _ in range(5):
        state, run = trouble(Trouble.FAILING, state, run)
    state, _ = trouble(Trouble.RATE_LIMITED, state, run)
    assert state.next_time_s - 1_000.0 == 60.0


@pytest.mark.parametrize("kind", list(Trouble))
def test_jitter_only_lengthens_and_never_passes_the_ceiling(kind: Trouble) -> None:
    """J149, J154."""
    for step in (0, 3, 30, 1_000):
        plain, shaken = (backoff_s(kind, step, BACKOFF, jitter, None) for jitter in (0.0, 0.999))
        assert plain <= shaken <= plain * 1.1
    assert backoff_s(kind, 1_000, BACKOFF, 0.999, None) == backoff_s(kind, 1_000, BACKOFF, 0.0, None)


@pytest.mark.parametrize(
    ("kind", "retry_after_s", "wait_s"),
    [
        (Trouble.FAILING, 30.0, 30.0),  # S20: honoured
        (Trouble.FAILING, 0.5, 1.0),  # F65: never shortens
        (Trouble.FAILING, None, 1.0),
        (Trouble.FAILING, 999_999_999.0, 60.0),  # F65: the ceiling still caps
        (Trouble.RATE_LIMITED, 999_999_999.0, 1_800.0),
        (Trouble.RATE_LIMITED, 90.0, 90.0),
    ],
)
def test_retry_after_may_extend_but_never_shorten(kind: Trouble, retry_after_s: float | None, wait_s: float) -> None:
    """J154, S20, F65."""
    assert backoff_s(kind, 0, BACKOFF, 0.0, retry_after_s) == wait_s


def test_the_ordinary_delay_holds_in_trouble_too() -> None:
    """U97: a back-off that is shorter than Crawl-delay does not replace it."""
    state, _ = trouble(Trouble.FAILING, OriginState(), RunOrigin(), delay_s=100.0)
    assert state.next_time_s == 1_100.0


def test_patience_falls_with_lasting_failures_and_grows_back_with_answers() -> None:
    """U140, U145: from five to none; being told that one asks too much is no failure of the server."""
    state, run = OriginState(), RunOrigin()
    for _ in range(5):
        state, run = trouble(Trouble.FAILING, state, run)
    assert run.patience == 0
    for kind in (Trouble.BLAMED, Trouble.RATE_LIMITED):
        assert trouble(kind, OriginState(), RunOrigin(patience=3))[1].patience == 3
    assert after_answer(RunOrigin(patience=3), 0.0, 0.1, RULE, None).run.patience == 4
