"""Patterns with * and ?: the same verdicts as trying every way, in linear time."""

import fnmatch
import re
import time

from hypothesis import given
from hypothesis import strategies as st

from jird_settings import glob_expression


def matches(glob: str, text: str) -> bool:
    return re.fullmatch(glob_expression(glob), text, re.DOTALL) is not None


@given(st.text("ab-*?", max_size=12), st.text("ab-\n", max_size=16))
def test_verdicts_are_those_of_trying_every_way(glob: str, text: str) -> None:
    expected = re.fullmatch(fnmatch.translate(glob.replace("[", "[[]")), text) is not None
    assert matches(glob, text) is expected


def test_many_stars_take_linear_time() -> None:
    """As J113 asks of robots.txt: a stranger writes what the operator's patterns are held against."""
    begin = time.process_time()
    assert not matches("*/*-*-*-*-*-*-*.pdf", "https://example.org/" + "-" * 4_000)
    assert time.process_time() - begin < 1.0  # minutes, where each star is a plain `.*`
