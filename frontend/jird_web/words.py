"""Numbers and times in words, as template filters."""

from datetime import UTC, datetime

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from jird_client import text


def number(value: int) -> str:
    """Return a number with its thousands set apart."""
    return f"{value:,}"


def moment(timestamp: Timestamp) -> str:
    """Return a time in UTC to the minute."""
    return datetime.fromtimestamp(timestamp.seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def span(duration: Duration) -> str:
    """Return a duration in its two largest units, e.g. "3 d 4 h"."""
    return text.span(duration.seconds)
