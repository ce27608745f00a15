"""[[hosts]]: which rules hold for a host."""

import pytest

from jird_settings import HostRule, rule_for
from jird_settings.hosts import matches


@pytest.mark.parametrize(
    ("pattern", "host", "is_match"),
    [
        ("*.docs.test", "a.docs.test", True),
        ("*.docs.test", "a.b.docs.test", True),
        ("*.docs.test", "docs.test", False),
        ("*.docs.test", "adocsxtest", False),
        ("docs?.test", "docs1.test", True),
        ("docs?.test", "docs.test", False),
        ("*", "anything", True),
        ("[::1]", "[::1]", True),
        ("[::1]", ":", False),
    ],
)
def test_pattern_covers_hosts(pattern: str, host: str, is_match: bool) -> None:
    assert matches(pattern, host) is is_match


def test_first_rule_that_sets_a_key_wins() -> None:
    rules = (
        HostRule(match="a.test", delay_ms=0, headers={"X-A": "1"}),
        HostRule(match="*.test", delay_ms=900, adaptive=False, headers={"X-A": "2", "X-B": "3"}),
        HostRule(match="other.example", connections=9),
    )
    rule = rule_for(rules, "a.test")
    assert (rule.delay_ms, rule.adaptive, rule.connections) == (0, False, None)
    assert rule.headers == {"X-A": "1", "X-B": "3"}


def test_headers_of_a_rule_are_not_shown() -> None:
    """A header may hold a password."""
    assert "hunter2" not in repr(HostRule(match="a.test", headers={"Authorization": "Basic hunter2"}))
