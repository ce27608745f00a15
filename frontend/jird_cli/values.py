"""Options that people write with units: delays and points in time."""

import re
from datetime import UTC, datetime, timedelta

import click

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)")


def parse_amount(text: str) -> float:
    """Return seconds for e.g. "500ms", "2s", "1.5h"; "0" needs no unit.

    Raises:
        ValueError: It is not an amount of time.
    """
    if text.strip() == "0":
        return 0.0
    match = _AMOUNT.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r} is no amount of time; write it with its unit, e.g. 500ms, 2s, 1h")
    return float(match[1]) * _UNITS_S[match[2]]


def parse_since(text: str, now: datetime) -> datetime:
    """Return the time meant by an age ("2h", "7d") or a date ("2026-11-30", "2026-11-30T18:00"), in UTC.

    Raises:
        ValueError: It is neither.
    """
    try:
        return now - timedelta(seconds=parse_amount(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is neither an age (2h, 7d) nor a date (2026-11-30, 2026-11-30T18:00)"
        raise ValueError(message) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Amount(click.ParamType[float]):
    """An amount of time, in seconds."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse what was typed."""
        try:
            return parse_amount(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Since(click.ParamType[datetime]):
    """A point in time."""

    name = "age or date"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse what was typed."""
        if isinstance(value, datetime):
            return value
        try:
            return parse_since(str(value), datetime.now(UTC))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class ExitCode(click.ParamType[int]):
    """An exit code of the crawl log, by name or number."""

    name = "name or number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse what was typed."""
        from jird_client.exit_codes import parse_exit_code

        try:
            return parse_exit_code(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
