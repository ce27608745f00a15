"""When intake is paused for want of disk space."""

from jird_daemon.crawler.disk_guard import DiskGuard


def test_it_pauses_at_once_and_goes_on_after_two_healthy_checks() -> None:
    """Y22: and not while the room only just suffices."""
    guard, state, states = DiskGuard(1_000), "", []
    for free_bytes in (5_000, 999, 1_050, 1_200, 999, 1_200, 1_050, 1_200, 1_200, 5_000):
        state = guard.check(state, free_bytes)
        states.append(state)
    assert states == ["", "disk", "disk", "disk", "disk", "disk", "disk", "disk", "", ""]


def test_a_guard_that_a_failed_write_set_ends_by_the_same_rule() -> None:
    """S8: its reason stays until then."""
    guard = DiskGuard(1_000)
    assert [guard.check("map_full", 5_000), guard.check("map_full", 5_000)] == ["map_full", ""]
