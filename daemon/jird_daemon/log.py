"""The log: one event a line, with fields, to journald's native socket or to stderr.

`log.info("fetch.done", url=url, status=200)` becomes, in the journal, MESSAGE `fetch.done url=... status=200` with the
fields JIRD_EVENT, JIRD_URL and JIRD_STATUS, so that `journalctl JIRD_ORIGIN=https://example.org` answers a question; on
stderr it becomes the same message behind its level. Values come from strangers: control characters are escaped, so that
no value can forge a line.

Lines a second are limited, debug and info apart from warnings, so that a flood of one never hides the other and
journald's own limit is not met (F127). What is left out is counted and the count logged. No error is left out.
"""

import logging
import os
import threading
import traceback
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from jird_daemon.clock import Clock, SystemClock
from jird_daemon.log_sinks import JOURNAL_SOCKET, JournalSink, Level, Record, Sink, StderrSink

VALUE_CHARS_MAX = 4_096  # J146: the longest URL; a datagram of 32 such values is below a socket's usual buffer
TRACEBACK_CHARS_MAX = 16_384  # the innermost frames are at its end and are kept
FIELDS_MAX = 32
LINES_PER_S_DEFAULT = 200  # journald's default is 10,000 in 30 seconds for all processes of a unit
BURST_S = 2.0  # a quiet second or two may be followed by so many seconds' lines at once


class _Budget:
    """Lines that may be written: `per_s` a second, saved up for at most BURST_S."""

    def __init__(self, per_s: float, now_s: float) -> None:
        self.per_s = per_s
        self.dropped = 0
        self._left = per_s * BURST_S
        self._last_s = now_s

    def take(self, now_s: float) -> bool:
        self._left = min(self.per_s * BURST_S, self._left + (now_s - self._last_s) * self.per_s)
        self._last_s = now_s
        if self._left < 1:
            self.dropped += 1
            return False
        self._left -= 1
        return True


class Journal:
    """What all loggers of a process write through. Threads may share it."""

    def __init__(self, sink: Sink, level: Level, lines_per_s: float, clock: Clock) -> None:
        self.level = level
        self._sink = sink
        self._clock = clock
        self._lock = threading.Lock()
        now_s = clock.monotonic_s()
        self._budgets = {level: _Budget(lines_per_s, now_s) for level in (Level.INFO, Level.WARNING)}
        self._reported_s = now_s

    def write(self, record: Record) -> None:
        """Write a record, or count it as left out; after a flood, say how many were left out."""
        with self._lock:
            now_s = self._clock.monotonic_s()
            budget = self._budgets.get(min(record.level, Level.INFO))
            if (budget is None or budget.take(now_s)) and not self._sink.write(record) and budget is not None:
                budget.dropped += 1
            if now_s - self._reported_s >= 1.0:
                self._report(now_s)

    def flush(self) -> None:
        """Say how many lines were left out since the last time; call it now and then, and at the end."""
        with self._lock:
            self._report(self._clock.monotonic_s())

    def close(self) -> None:
        """Say what was left out, and close the sink."""
        self.flush()
        self._sink.close()

    def _report(self, now_s: float) -> None:
        self._reported_s = now_s
        lines, warnings = (self._budgets[level].dropped for level in (Level.INFO, Level.WARNING))
        if not lines and not warnings:
            return
        fields = {"lines": str(lines), "warnings": str(warnings)}
        if self._sink.write(Record(Level.WARNING, "log", "log.dropped", fields)):
            for budget in self._budgets.values():
                budget.dropped = 0


_journal = Journal(StderrSink(), Level.INFO, LINES_PER_S_DEFAULT, SystemClock())


class Logger:
    """The log of one part of a process."""

    __slots__ = ("_part",)

    def __init__(self, part: str) -> None:
        self._part = part

    def debug(self, event: str, **fields: object) -> None:
        """What only a developer asks for."""
        self._log(Level.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        """The normal course of things."""
        self._log(Level.INFO, event, fields)

    def warning(self, event: str, *, exc_info: bool = False, **fields: object) -> None:
        """Something that was survived; say in a field what was done about it."""
        self._log(Level.WARNING, event, fields, exc_info)

    def error(self, event: str, *, exc_info: bool = False, **fields: object) -> None:
        """Something that a person has to look at; with `exc_info` the exception that is being handled."""
        self._log(Level.ERROR, event, fields, exc_info)

    def _log(self, level: Level, event: str, fields: Mapping[str, object], exc_info: bool = False) -> None:
        if level > _journal.level:
            return
        shown = {key: _text(value) for key, value in list(fields.items())[:FIELDS_MAX] if value is not None}
        trace = traceback.format_exc()[-TRACEBACK_CHARS_MAX:].rstrip() if exc_info else ""
        _journal.write(Record(level, self._part, event, shown, trace))


def _text(value: object) -> str:
    text = value.name.lower() if isinstance(value, IntEnum) else str(value)
    return text if len(text) <= VALUE_CHARS_MAX else text[: VALUE_CHARS_MAX - 3] + "..."


def get_logger(part: str) -> Logger:
    """The logger of a part, e.g. "crawler"; lower case, and the same for a part's whole life."""
    return Logger(part)


def configure(
    level: str, lines_per_s: int, environ: Mapping[str, str], sink: Sink | None = None, clock: Clock | None = None
) -> None:
    """Set up the process's log; may be called again after a reload.

    Args:
        level: "debug", "info", "warning" or "error".
        lines_per_s: Bound on debug and info lines a second, and again on warnings.
        environ: `JOURNAL_STREAM` says whether stderr is the journal.
        sink: Where to write, closed by the next call; None: the journal when stderr is connected to it, else stderr.
        clock: For the bound.
    """
    global _journal  # every logger of a process writes through one journal, as its stderr is one
    chosen = sink or (JournalSink() if is_stderr_the_journal(environ) else StderrSink())
    previous, _journal = _journal, Journal(chosen, Level[level.upper()], lines_per_s, clock or SystemClock())
    previous.close()
    logging.root.handlers = [_StandardHandler()]
    logging.root.setLevel(logging.WARNING)


def flush() -> None:
    """Say how many lines were left out, if any were."""
    _journal.flush()


def is_stderr_the_journal(environ: Mapping[str, str]) -> bool:
    """Whether stderr is the stream that systemd connected to the journal (systemd.exec(5), $JOURNAL_STREAM)."""
    device, _, inode = environ.get("JOURNAL_STREAM", "").partition(":")
    try:
        status = os.fstat(2)
    except OSError:
        return False
    return (device, inode) == (str(status.st_dev), str(status.st_ino)) and os.path.exists(JOURNAL_SOCKET)


class _StandardHandler(logging.Handler):
    """Brings what libraries log (asyncio, grpc) into this log."""

    def emit(self, record: logging.LogRecord) -> None:
        level = Level.ERROR if record.levelno >= logging.ERROR else Level.WARNING
        fields: dict[str, Any] = {"message": _text(record.getMessage())}
        trace = ""
        if record.exc_info and record.exc_info[0] is not None:
            trace = "".join(traceback.format_exception(*record.exc_info))[-TRACEBACK_CHARS_MAX:].rstrip()
        _journal.write(Record(level, record.name, "library.message", fields, trace))
