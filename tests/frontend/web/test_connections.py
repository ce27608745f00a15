"""The budget of connections, with a clock that stands still until a test moves it."""

from ipaddress import ip_network

import pytest

from jird_web import connections
from jird_web.connections import ConnectionBudget, ConnectionLimits, is_loopback, is_within

LIMITS = ConnectionLimits(max_connections=128, max_connections_per_ip=16, accepts_per_second_per_ip=32)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_rate_of_one_address_recovers_with_time() -> None:
    """J68."""
    clock = Clock()
    budget = ConnectionBudget(LIMITS, clock)
    statuses = []
    for _ in range(40):
        statuses.append(budget.admit("192.0.2.1"))
        if not statuses[-1]:
            budget.release("192.0.2.1")
    assert statuses == [0] * 32 + [429] * 8
    clock.now += 0.5
    assert [budget.admit("192.0.2.1") for _ in range(17)] == [0] * 16 + [429]
    assert budget.refused_count == 9


def test_defaults_admit_sixteen_at_a_time_from_one_address() -> None:
    """J67."""
    budget = ConnectionBudget(LIMITS, Clock())
    assert [budget.admit("192.0.2.1") for _ in range(17)] == [0] * 16 + [429]
    assert budget.admit("192.0.2.2") == 0
    budget.release("192.0.2.1")
    assert budget.admit("192.0.2.1") == 0


def test_total_binds_everyone_with_four_kept_back_for_this_machine() -> None:
    """J66, F113."""
    budget = ConnectionBudget(LIMITS, Clock())
    assert all(budget.admit(f"192.0.2.{number}") == 0 for number in range(128))
    assert budget.admit("198.51.100.1") == 503
    assert [budget.admit("127.0.0.1") for _ in range(5)] == [0, 0, 0, 0, 503]


def test_one_ipv6_subscriber_counts_as_one_address() -> None:
    budget = ConnectionBudget(LIMITS, Clock())
    assert [budget.admit(f"2001:db8::{number:x}") for number in range(1, 18)] == [0] * 16 + [429]
    assert budget.admit("2001:db8:0:1::1") == 0


def test_ipv4_in_ipv6_counts_as_ipv4() -> None:
    budget = ConnectionBudget(LIMITS, Clock())
    statuses = [budget.admit(address) for address in ["192.0.2.1", "::ffff:192.0.2.1"] * 9]
    assert statuses[16:] == [429, 429]


def test_memory_of_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REMEMBERED_MAX", 10)
    budget = ConnectionBudget(LIMITS, Clock())
    for number in range(50):
        if budget.admit(f"192.0.2.{number}") == 0:
            budget.release(f"192.0.2.{number}")
    assert len(budget._buckets) == 10
    assert not budget._open


def test_trusted_proxy_is_bound_by_the_total_alone() -> None:
    limits = ConnectionLimits(50, 16, 32, (ip_network("10.0.0.0/8"),))
    budget = ConnectionBudget(limits, Clock())
    assert [budget.admit("10.1.2.3") for _ in range(51)] == [0] * 50 + [503]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback_is_known_in_all_its_forms(address: str, expected: bool) -> None:
    assert is_loopback(address) is expected


def test_text_that_is_no_address_lies_nowhere() -> None:
    assert not is_within("localhost", (ip_network("0.0.0.0/0"),))
