"""When an origin may next be asked. Pure: time, randomness and what the server said are arguments.

Two things decide. The *pace* of a server that answers: the longest of the configured minimum, robots.txt's
Crawl-delay (capped), and the last response time times 2^p, where p starts at 2 and falls by one with each answer, and
a 429 raises it and ends the falling for the run (U94-U98). The *back-off* of a server that does not, or that asks to
be left alone: doubling from a base to a ceiling, with jitter, never shorter than its Retry-After (S17-S21, J154).

The delay runs from the end of one response to the start of the next request.
"""

from dataclasses import dataclass
from enum import Enum

from msgspec.structs import replace

from jird_daemon.store.tables import OriginState, RunOrigin

# A 429 once a second for a day must not turn p into a number that overflows; 2^10 of a one-second answer is the cap
# below.
RATE_LIMIT_STEPS_MAX = 10
# An adaptive delay above ten minutes (the cap of crawl.delay_ms, J57) would be a stop by another name.
ADAPTIVE_DELAY_MAX_S = 600.0
# From which a run's patience with an origin starts (U140).
PATIENCE = 5
# Jitter only ever lengthens, by up to this share, so that a Retry-After or a stated minimum always holds.
JITTER_SHARE = 0.1


class Trouble(Enum):
    """Why an origin backs off. Values are stored in OriginState.backoff_kind."""

    RATE_LIMITED = "rate_limited"  # 429
    BLAMED = "blamed"  # 401, 403
    CHALLENGED = "challenged"  # a challenge page, whatever its status
    FAILING = "failing"  # 5xx, 408, 425, no usable answer
    ROBOTS = "robots"  # robots.txt cannot be had: nothing is allowed for now


@dataclass(frozen=True, slots=True)
class DelayRule:
    """What configuration says of one origin, `[[hosts]]` applied.

    Attributes:
        minimum_s: Least delay.
        robots_cap_s: Longest Crawl-delay that is honoured in full.
        is_adaptive: Whether slow answers and 429s stretch the delay.
    """

    minimum_s: float
    robots_cap_s: float
    is_adaptive: bool = True


@dataclass(frozen=True, slots=True)
class BackoffRule:
    """First wait and ceiling of failures other than 429, 401 and 403, in seconds; base <= ceiling."""

    base_s: float
    ceiling_s: float


def politeness_delay_s(rule: DelayRule, robots_delay_s: float | None, response_s: float, steps: int) -> float:
    """The pace of a server that answers.

    Args:
        rule: Configured limits.
        robots_delay_s: Crawl-delay of the group that applies; None when there is none.
        response_s: How long the last answer took.
        steps: p.

    Returns:
        Seconds from the end of the response to the start of the next request.
    """
    delay_s = rule.minimum_s
    if robots_delay_s is not None:
        delay_s = max(delay_s, min(robots_delay_s, rule.robots_cap_s))
    if rule.is_adaptive:
        delay_s = max(delay_s, min(response_s * 2.0**steps, ADAPTIVE_DELAY_MAX_S))
    return delay_s


def backoff_s(trouble: Trouble, step: int, rule: BackoffRule, jitter: float, retry_after_s: float | None) -> float:
    """How long to leave an origin alone.

    Args:
        trouble: What happened.
        step: How many times in a row it had happened before; 0 the first time.
        rule: Base and ceiling where the trouble has none of its own.
        jitter: A random number in [0, 1).
        retry_after_s: What the server asked for; lengthens the wait up to the ceiling, never shortens it.
    """
    base_s, ceiling_s = {
        Trouble.RATE_LIMITED: (60.0, 1_800.0),  # S17
        Trouble.BLAMED: (600.0, 7_200.0),  # S18
        Trouble.CHALLENGED: (600.0, 7_200.0),  # as if it had said 403, which many do
    }.get(trouble, (rule.base_s, rule.ceiling_s))
    # 2^40 is past every ceiling and still a small number.
    wait_s = base_s * 2.0 ** min(step, 40) * (1.0 + JITTER_SHARE * jitter)
    return min(max(wait_s, retry_after_s or 0.0), ceiling_s)


@dataclass(frozen=True, slots=True)
class Pace:
    """An origin's state after a request: for the origin itself, and for the run that asked."""

    origin: OriginState
    run: RunOrigin


def after_answer(
    run: RunOrigin, end_s: float, response_s: float, rule: DelayRule, robots_delay_s: float | None
) -> Pace:
    """The server answered, whatever it said: p falls, back-off ends, patience grows back (S21, U96)."""
    # The p that was in force when the request ended counts for the wait; the fall is for the next one.
    delay_s = politeness_delay_s(rule, robots_delay_s, response_s, run.rate_limit_steps)
    steps = run.rate_limit_steps if run.is_slowing else max(run.rate_limit_steps - 1, 0)
    run = replace(run, rate_limit_steps=steps, patience=min(run.patience + 1, PATIENCE))
    return Pace(OriginState(end_s + delay_s, last_response_ms=round(response_s * 1000)), run)


def after_trouble(
    origin: OriginState,
    run: RunOrigin,
    end_s: float,
    trouble: Trouble,
    *,
    rule: BackoffRule,
    delay_s: float,
    jitter: float,
    retry_after_s: float | None,
) -> Pace:
    """The server failed or asked to be left alone.

    Args:
        origin: State before.
        run: State before.
        end_s: When the request ended, on the clock of `origin.next_time_s`.
        trouble: What happened.
        rule: Base and ceiling of the back-off.
        delay_s: The pace that holds in any case.
        jitter: A random number in [0, 1).
        retry_after_s: What the server asked for.
    """
    step = origin.backoff_step if origin.backoff_kind == trouble.value else 0
    wait_s = max(delay_s, backoff_s(trouble, step, rule, jitter, retry_after_s))
    if trouble is Trouble.RATE_LIMITED:
        run = replace(run, rate_limit_steps=min(run.rate_limit_steps + 1, RATE_LIMIT_STEPS_MAX), is_slowing=True)
    elif trouble is not Trouble.BLAMED:
        run = replace(run, patience=max(run.patience - 1, 0))
    state = OriginState(end_s + wait_s, step + 1, trouble.value, origin.last_response_ms)
    return Pace(state, run)
