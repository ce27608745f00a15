"""When intake is paused for want of disk, memory or speed, and when it goes on."""

from dataclasses import replace

import pytest

from jird_daemon.crawler.guards import Guards, Limits, Readings

LIMITS = Limits(min_free_bytes=1_000, max_memory_bytes=1_000, min_available_bytes=1_000, max_commit_s=1.0)
WELL = Readings(free_bytes=5_000, memory_bytes=10, available_bytes=5_000, commit_s=0.01)


def states(guards: Guards, readings: list[Readings], guard: str = "") -> list[str]:
    """What the guards decide on readings a second apart."""
    found = []
    for second, reading in enumerate(readings):
        guard = guards.check(guard, reading, float(second))
        found.append(guard)
    return found


def test_it_pauses_at_once_and_goes_on_after_two_healthy_checks() -> None:
    """Y22, YP20: and not while the room only just suffices."""
    free = [5_000, 999, 1_050, 1_200, 999, 1_200, 1_050, 1_200, 1_200, 5_000]
    found = states(Guards(LIMITS), [replace(WELL, free_bytes=count) for count in free])
    assert found == ["", "disk", "disk", "disk", "disk", "disk", "disk", "disk", "", ""]


def test_a_guard_that_a_failed_write_set_ends_by_the_same_rule() -> None:
    """S8: its reason stays until then."""
    assert states(Guards(LIMITS), [WELL, WELL], "map_full") == ["map_full", ""]


@pytest.mark.parametrize("short", [replace(WELL, memory_bytes=1_001), replace(WELL, available_bytes=999)])
def test_memory_is_freed_before_a_pause_and_again_at_the_next_shortage(short: Readings) -> None:
    """Y20, Y21: a shortage that freeing ends pauses nothing; one that goes on does."""
    calls: list[int] = []
    guards = Guards(LIMITS, lambda: calls.append(1))
    assert states(guards, [short, WELL, short, short, short, WELL, WELL]) == [
        "",
        "",
        "",
        "memory",
        "memory",
        "memory",
        "",
    ]
    assert (len(calls), guards.reliefs, guards.pauses) == (2, 2, 1)


def test_slow_writing_pauses_and_a_fast_disk_ends_it() -> None:
    """Y22: write latency is a guard like the others."""
    slow = replace(WELL, commit_s=1.5)
    assert states(Guards(LIMITS), [slow, replace(WELL, commit_s=0.95), WELL, WELL]) == ["latency"] * 3 + [""]


def test_pauses_and_their_time_are_counted() -> None:
    """Y22: a pause lasts from the check that begins it to the one that ends it."""
    guards = Guards(LIMITS)
    full = replace(WELL, free_bytes=0)
    states(guards, [WELL, full, full, WELL, WELL, WELL, full, WELL, WELL])
    assert (guards.pauses, guards.paused_s) == (2, 5.0)


def test_limits_of_zero_switch_guards_off() -> None:
    """A limit of 0 is none, whatever is measured."""
    worst = Readings(free_bytes=0, memory_bytes=1 << 60, available_bytes=0, commit_s=1e9)
    assert states(Guards(Limits(0, 0, 0, 0.0)), [worst, worst]) == ["", ""]
