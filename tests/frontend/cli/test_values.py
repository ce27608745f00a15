"""Delays and points in time as people write them."""

from datetime import UTC, datetime

import pytest

from jird_cli.layout import table
from jird_cli.progress import PlainProgress
from jird_cli.values import parse_amount, parse_since

NOW = datetime(2026, 11, 30, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0), ("500ms", 0.5), ("2s", 2), ("1.5h", 5_400), ("3 min", 180), ("7d", 604_800)]
)
def test_amount_has_a_unit(text: str, seconds: float) -> None:
    assert parse_amount(text) == seconds


@pytest.mark.parametrize("text", ["5", "", "-1s", "soon", "1e3s"])
def test_amount_without_a_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it with its unit"):
        parse_amount(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2h", datetime(2026, 11, 30, 16, 0, tzinfo=UTC)),
        ("2026-11-29", datetime(2026, 11, 29, tzinfo=UTC)),
        ("2026-11-29T12:30", datetime(2026, 11, 29, 12, 30, tzinfo=UTC)),
    ],
)
def test_since_is_an_age_or_a_date(text: str, moment: datetime) -> None:
    assert parse_since(text, NOW) == moment


def test_plain_progress_writes_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    progress = PlainProgress(lambda: now[0])
    for second in range(11):
        now[0] = float(second)
        progress("merging", second, 10)
    assert capsys.readouterr().err.splitlines() == ["merging 0/10", "merging 5/10", "merging 10/10"]


def test_numbers_are_aligned_at_the_right() -> None:
    assert table(("run", "name"), [("4", "docs"), ("1,200", "x")]) == "  run  name\n    4  docs\n1,200  x"
