"""The judge of delays counts what an access log shows."""

import pytest

from testkit.access_log import Access, AccessLog
from testkit.delays import judge_delays


def log_of(*times_s: tuple[str, float, float]) -> AccessLog:
    """A log of finished requests: host, start and end."""
    log = AccessLog()
    for host, start_s, end_s in times_s:
        log.begin(Access(host, "127.0.0.1", 1, "GET", "/", {}, start_s, end_s, 200))
    return log


def test_a_gap_shorter_than_the_delay_is_found_whatever_other_hosts_do() -> None:
    """J57: from the end of an answer to the start of the next request of the same origin."""
    log = log_of(("a", 0.0, 0.5), ("b", 0.6, 0.7), ("a", 1.4, 1.5), ("a", 2.5, 2.6))
    kept = judge_delays(log, ["a", "b"], 1.0, 0.0, 3.0)
    assert kept.broken == 1
    assert kept.shortest_gap_s == pytest.approx(0.9)


def test_the_share_is_of_what_delay_and_answers_allow_in_the_time() -> None:
    """An answer that takes half a second, and a delay of half a second, allow one request a second."""
    log = log_of(*(("a", start, start + 0.5) for start in (0.0, 2.0, 4.0, 6.0, 20.0)))
    kept = judge_delays(log, ["a"], 0.5, 0.0, 8.0)
    assert (kept.requests, kept.allowed, kept.share) == (4, 8.0, 0.5)
