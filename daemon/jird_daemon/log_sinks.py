"""Records of the log, and where they go: journald's native socket, or stderr.

Source: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/ for the datagrams; sd-daemon(3) for the priorities.
"""

import json
import re
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

JOURNAL_SOCKET = "/run/systemd/journal/socket"
IDENTIFIER = "jird"

_PLAIN = re.compile(r"[!#-~\u00a1-\u2027\u202f-\u2065\u2070-\ud7ff\ue000-\ufdcf\ufdf0-\ufefe\uff00-\ufffd]+")


class Level(IntEnum):
    """How urgent a line is; the numbers are syslog's priorities."""

    ERROR = 3
    WARNING = 4
    INFO = 6
    DEBUG = 7


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the log."""

    level: Level
    part: str
    event: str
    fields: Mapping[str, str]
    trace: str = ""

    @property
    def message(self) -> str:
        """The event and its fields, as `key=value`; values with blanks or control characters stand in quotes."""
        return " ".join([self.event, *(f"{key}={_quoted(value)}" for key, value in self.fields.items())])


class Sink(Protocol):
    """Where records go."""

    def write(self, record: Record) -> bool:
        """Write one record; False when it could not be taken. Called with the lock held: must not log."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


class StderrSink:
    """Lines on stderr with the local time, as the terminal and `make run` show them."""

    def write(self, record: Record) -> bool:
        """Write one line, and the traceback behind it."""
        trace = "".join(f"\n    {line}" for line in record.trace.splitlines())
        try:
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            sys.stderr.write(f"{now} {record.level.name.lower():7} {record.part}: {record.message}{trace}\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # closed or full: there is no one to tell
            return False
        return True

    def close(self) -> None:
        """Nothing: stderr is not ours."""


class JournalSink:
    """Datagrams to journald.

    Args:
        path: The journal's socket.
        fallback: Takes warnings and errors that the journal does not.
    """

    def __init__(self, path: str = JOURNAL_SOCKET, fallback: Sink | None = None) -> None:
        self._path = path
        self._fallback = fallback or StderrSink()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.setblocking(False)

    def write(self, record: Record) -> bool:
        """Send one record; a full or missing journal costs a debug or info line, and sends others to the fallback."""
        try:
            self._socket.sendto(encode(record), self._path)
        except OSError:
            return record.level <= Level.WARNING and self._fallback.write(record)
        return True

    def close(self) -> None:
        """Give the socket back."""
        self._socket.close()


def encode(record: Record) -> bytes:
    """Encode a record as the journal's native protocol has it."""
    message = f"{record.message}\n{record.trace}" if record.trace else record.message
    fields = {
        "MESSAGE": message,
        "PRIORITY": str(int(record.level)),
        "SYSLOG_IDENTIFIER": IDENTIFIER,
        "JIRD_EVENT": record.event,
        "JIRD_PART": record.part,
    }
    fields.update({f"JIRD_{key.upper()}"[:64]: value for key, value in record.fields.items()})
    return b"".join(_encode_field(key, value) for key, value in fields.items())


def _encode_field(key: str, value: str) -> bytes:
    data = value.encode("utf-8", "replace")
    if b"\n" in data:
        return key.encode() + b"\n" + len(data).to_bytes(8, "little") + data + b"\n"
    return key.encode() + b"=" + data + b"\n"


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    escaped = json.dumps(value, ensure_ascii=False)
    return "".join(char if char == " " or _PLAIN.match(char) or char == '"' else _escape(char) for char in escaped)


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else char
