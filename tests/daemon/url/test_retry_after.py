"""Retry-After and the dates of HTTP (J154, F65)."""

import pytest

from jird_daemon.url.http_date import parse_http_date
from jird_daemon.url.retry_after import VALUE_CHARS_MAX, parse_retry_after

# Tue, 01 Dec 2026 00:00:00 GMT
NOW_S = 1_796_083_200.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("Tue, 01 Dec 2026 00:01:00 GMT", 60.0),
        ("Tuesday, 01-Dec-26 00:01:00 GMT", 60.0),
        ("Tue Dec  1 00:01:00 2026", 60.0),
        ("999999999", 999999999.0),
    ],
)
def test_seconds_and_all_three_date_forms_are_read(value: str, expected: float) -> None:
    """J154."""
    assert parse_retry_after(value, NOW_S) == expected


@pytest.mark.parametrize(
    "value",
    ["", "-5", "0", "1.5", "soon", "\u0661\u0662", "Sun, 06 Nov 1994 08:49:37 GMT", "Tue, 01 Dec 2026 00:00:00 GMT",
     "Tue, 01 Dec 2026 00:01:00 CET", "Tue, 31 Feb 2027 00:00:00 GMT", "Tue, 01 Dec 2026 25:01:00 GMT",
     "Tue, 01 Dec 0000 00:01:00 GMT"],
)  # fmt: skip
def test_what_asks_for_no_wait_is_ignored(value: str) -> None:
    """J154, F65: malformed, zero, negative and past values leave the own back-off alone."""
    assert parse_retry_after(value, NOW_S) is None


def test_value_above_128_characters_is_ignored() -> None:
    """J154."""
    assert parse_retry_after("0" * (VALUE_CHARS_MAX - 1) + "9", NOW_S) == 9.0
    assert parse_retry_after("0" * VALUE_CHARS_MAX + "9", NOW_S) is None


@pytest.mark.parametrize(
    "text", ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
)
def test_examples_of_rfc_9110(text: str) -> None:
    """J154. RFC 9110 section 5.6.7."""
    assert parse_http_date(text, NOW_S) == 784_111_777.0


def test_two_digit_year_lies_at_most_fifty_years_ahead() -> None:
    """J154. RFC 9110 section 5.6.7."""
    ahead = parse_http_date("Friday, 01-Jan-76 00:00:00 GMT", NOW_S)
    behind = parse_http_date("Friday, 01-Jan-77 00:00:00 GMT", NOW_S)
    assert ahead is not None
    assert behind is not None
    assert ahead > NOW_S > behind
