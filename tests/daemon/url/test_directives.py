"""Meta robots and X-Robots-Tag (J136, J163, F17, F19)."""

import pytest

from jird_daemon.url.directives import VALUE_CHARS_MAX, Directives, parse_meta, parse_x_robots_tag

# Tue, 01 Dec 2026 00:00:00 GMT
NOW_S = 1_796_083_200.0


def flags(found: Directives) -> str:
    now = found.at(NOW_S)
    return ("i" if now.is_noindex else "") + ("f" if now.is_nofollow else "")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("NOINDEX", "i"),
        ("noindex, nofollow", "if"),
        ("none", "if"),
        ("noindex nofollow", "if"),
        ("noindex;nofollow", "if"),
        ("index, follow", ""),
        ("all", ""),
        ("index, noindex", "i"),
        ("max-image-preview: none, max-snippet:-1", ""),
        ("noarchive", ""),
        ("", ""),
        ("noindex: yes", "i"),
        ("notnoindex", ""),
    ],
)
def test_most_restrictive_word_wins(content: str, expected: str) -> None:
    """J136, F17."""
    assert flags(parse_meta(content, NOW_S)) == expected


@pytest.mark.parametrize(
    "content",
    [
        "noindex, unavailable_after: 25 Jun 2040 15:00:00 PST",
        "unavailable_after: 25 Jun 2040 15:00:00 PST, noindex",
        "unavailable_after: Wed, 25 Jun 2040 15:00:00 GMT, noindex",
        "unavailable_after: Wednesday, 25-Jun-40 15:00:00 EST, noindex",
        "unavailable_after: never, noindex",
    ],
)
def test_date_does_not_swallow_the_rest(content: str) -> None:
    """F19."""
    assert flags(parse_meta(content, NOW_S)) == "i"
    assert flags(parse_x_robots_tag([content], "jird", NOW_S)) == "i"


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("25 Jun 2010 15:00:00 PST", "i"),
        ("Fri, 25 Jun 2010 15:00:00 GMT", "i"),
        ("2010-06-25", "i"),
        ("2010-06-25T15:00:00+02:00", "i"),
        ("25-Jun-2010 15:00:00 EST", "i"),
        ("25 Jun 2040 15:00:00 PST", ""),
        ("2040-06-25", ""),
        ("some day", ""),
    ],
)
def test_page_is_noindex_from_its_date_on(date: str, expected: str) -> None:
    """J136, F19."""
    assert flags(parse_meta(f"unavailable_after: {date}", NOW_S)) == expected


def test_earliest_date_counts() -> None:
    early = parse_meta("unavailable_after: 2040-01-01, unavailable_after: 2030-01-01, unavailable_after: x", NOW_S)
    assert early == parse_meta("unavailable_after: 2030-01-01", NOW_S)
    assert early | parse_meta("unavailable_after: 2040-01-01", NOW_S) == early


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["noindex"], "i"),
        (["otherbot: noindex, nofollow"], ""),
        (["JIRD: noindex, nofollow"], "if"),
        (["otherbot: noindex", "nofollow"], "f"),
        (["otherbot: noindex, jird: nofollow"], "f"),
        (["noindex, otherbot: nofollow"], "i"),
        (["*: noindex"], "i"),
        (["noindex", "jird: nofollow"], "if"),
        (["otherbot: unavailable_after: 25 Jun 2010 15:00:00 GMT"], ""),
        (["jird: unavailable_after: 25 Jun 2010 15:00:00 GMT"], "i"),
        (["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT"], "i"),
        ([], ""),
    ],
)
def test_header_may_name_the_robot_it_is_for(values: list[str], expected: str) -> None:
    """J136."""
    assert flags(parse_x_robots_tag(values, "jird", NOW_S)) == expected


def test_oversized_value_forbids_everything() -> None:
    """J163."""
    long = "a," * (VALUE_CHARS_MAX // 2)
    assert flags(parse_meta(long, NOW_S)) == ""
    assert flags(parse_meta(long + "a", NOW_S)) == "if"
    assert flags(parse_x_robots_tag(["otherbot: " + long], "jird", NOW_S)) == "if"


def test_directives_of_several_places_add_up() -> None:
    """J136."""
    assert flags(parse_meta("noindex", NOW_S) | parse_x_robots_tag(["nofollow"], "jird", NOW_S)) == "if"
