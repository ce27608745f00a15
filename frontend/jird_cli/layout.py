"""Answers for people: aligned tables, times."""

from collections.abc import Sequence

from google.protobuf.timestamp_pb2 import Timestamp

from jird_client.plain_data import iso_time

COLUMN_GAP = "  "


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows below a head, in columns; columns of numbers are aligned at the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    numeric = [all(row[i].replace(",", "").isdigit() for row in rows) for i in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = (
            text.rjust(width) if is_number else text.ljust(width)
            for text, width, is_number in zip(row, widths, numeric, strict=True)
        )
        lines.append(COLUMN_GAP.join(cells).rstrip())
    return "\n".join(lines)


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Return names and values, one pair a line; pairs with an empty value are left out."""
    shown = [(name, value) for name, value in pairs if value]
    width = max((len(name) for name, _ in shown), default=0)
    return "\n".join(f"{name.ljust(width)}{COLUMN_GAP}{value}" for name, value in shown)


def moment(timestamp: Timestamp) -> str:
    """Return a time in UTC, or "" when it is not set."""
    return iso_time(timestamp) if timestamp.seconds else ""
