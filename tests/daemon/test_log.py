"""The log against a journal socket and stderr."""

import logging
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon import log
from jird_daemon.clock import ManualClock
from jird_daemon.log_sinks import JOURNAL_SOCKET, JournalSink, Level, Record, StderrSink


class FakeJournal:
    """A datagram socket that decodes what journald would."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._socket.settimeout(0)

    def read(self) -> list[dict[str, str]]:
        records = []
        while True:
            try:
                records.append(decode(self._socket.recv(1 << 20)))
            except BlockingIOError:
                return records

    def close(self) -> None:
        self._socket.close()


def decode(data: bytes) -> dict[str, str]:
    fields = {}
    while data:
        head, _, data = data.partition(b"\n")
        key, sign, value = head.partition(b"=")
        if not sign:
            size = int.from_bytes(data[:8], "little")
            value, end, data = data[8 : 8 + size], data[8 + size : 9 + size], data[9 + size :]
            assert end == b"\n"
        fields[key.decode()] = value.decode()
    return fields


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[FakeJournal]:
    fake = FakeJournal(tmp_path / "j")
    yield fake
    fake.close()
    log.configure("info", 200, {})
    logging.root.handlers = []


def use(journal: FakeJournal, level: str = "info", lines_per_s: int = 200, clock: ManualClock | None = None) -> None:
    log.configure(level, lines_per_s, {}, JournalSink(journal.path), clock or ManualClock())


def test_fields_reach_the_journal(journal: FakeJournal) -> None:
    use(journal)
    log.get_logger("crawler").info("fetch.done", url="https://a.test/", status=200, run=7, message=None)
    (record,) = journal.read()
    assert record == {
        "MESSAGE": "fetch.done url=https://a.test/ status=200 run=7",
        "PRIORITY": "6",
        "SYSLOG_IDENTIFIER": "jird",
        "JIRD_EVENT": "fetch.done",
        "JIRD_PART": "crawler",
        "JIRD_URL": "https://a.test/",
        "JIRD_STATUS": "200",
        "JIRD_RUN": "7",
    }


def test_value_cannot_forge_a_line_or_a_field(journal: FakeJournal, capsys: pytest.CaptureFixture[str]) -> None:
    evil = 'x"\nPRIORITY=0\r\u2028\u202e\x1b[2J end'
    use(journal)
    log.get_logger("crawler").warning("fetch.failed", message=evil)
    (record,) = journal.read()
    assert record["PRIORITY"] == "4"
    assert record["JIRD_MESSAGE"] == evil
    assert record["MESSAGE"] == 'fetch.failed message="x\\"\\nPRIORITY=0\\r\\u2028\\u202e\\u001b[2J end"'
    StderrSink().write(Record(Level.WARNING, "crawler", "fetch.failed", {"message": evil}))
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_letters_of_all_scripts_are_readable(journal: FakeJournal) -> None:
    use(journal)
    log.get_logger("crawler").info("page", url="https://a.test/Привет-日本", title="Grüße aus 東京")
    assert journal.read()[0]["MESSAGE"] == 'page url=https://a.test/Привет-日本 title="Grüße aus 東京"'


def test_flood_of_info_lines_is_cut_and_counted(journal: FakeJournal) -> None:
    """F127: own limit, and the number of lines left out; a warning is not lost in it."""
    clock = ManualClock()
    use(journal, lines_per_s=5, clock=clock)
    logger = log.get_logger("crawler")
    for number in range(100):
        logger.info("fetch.done", number=number)
    logger.warning("disk.low")
    assert [record["JIRD_EVENT"] for record in journal.read()] == ["fetch.done"] * 10 + ["disk.low"]
    clock.advance(1.0)
    logger.info("fetch.done")
    records = journal.read()
    assert [record["JIRD_EVENT"] for record in records] == ["fetch.done", "log.dropped"]
    assert records[1]["JIRD_LINES"] == "90"
    assert records[1]["PRIORITY"] == "4"
    log.flush()
    assert journal.read() == []


def test_flood_of_warnings_is_counted_and_errors_are_never_left_out(journal: FakeJournal) -> None:
    use(journal, lines_per_s=2)
    logger = log.get_logger("crawler")
    events = []
    for _ in range(10):
        logger.warning("odd")
        logger.error("bad")
        events += [record["JIRD_EVENT"] for record in journal.read()]
    log.flush()
    events += [record["JIRD_EVENT"] for record in journal.read()]
    assert events.count("odd") == 4
    assert events.count("bad") == 10
    assert events[-1] == "log.dropped"


def test_lines_that_a_full_journal_refuses_are_counted(
    journal: FakeJournal, capsys: pytest.CaptureFixture[str]
) -> None:
    use(journal, lines_per_s=100_000)
    logger = log.get_logger("crawler")
    for _ in range(3_000):
        logger.info("fetch.done")
    logger.warning("disk.low", free=1)
    taken = len(journal.read())
    assert taken < 3_000
    assert "warning crawler: disk.low free=1" in capsys.readouterr().err
    log.flush()
    (record,) = journal.read()
    assert record["JIRD_LINES"] == str(3_000 - taken)


def test_missing_journal_sends_warnings_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sink = JournalSink(str(tmp_path / "none"))
    assert sink.write(Record(Level.ERROR, "serve", "stop.failed", {}))
    assert not sink.write(Record(Level.INFO, "serve", "start", {}))
    sink.close()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d error   serve: stop.failed\n", capsys.readouterr().err)


def test_exception_is_logged_with_its_traceback(journal: FakeJournal) -> None:
    use(journal)
    try:
        raise ValueError("found 1, expected 2")
    except ValueError:
        log.get_logger("ingest").error("commit.failed", exc_info=True)
    message = journal.read()[0]["MESSAGE"]
    assert message.startswith("commit.failed\nTraceback")
    assert message.endswith("ValueError: found 1, expected 2")


def test_level_leaves_out_what_is_less_urgent(journal: FakeJournal) -> None:
    use(journal, level="warning")
    logger = log.get_logger("x")
    logger.debug("a")
    logger.info("b")
    logger.warning("c")
    assert [record["JIRD_EVENT"] for record in journal.read()] == ["c"]


def test_long_values_are_cut(journal: FakeJournal) -> None:
    use(journal)
    log.get_logger("x").info("a", url="u" * 100_000)
    assert len(journal.read()[0]["JIRD_URL"]) == log.VALUE_CHARS_MAX


def test_what_libraries_log_is_in_the_log(journal: FakeJournal) -> None:
    use(journal)
    logging.getLogger("asyncio").error("Task exception was never retrieved")
    (record,) = journal.read()
    assert record["JIRD_PART"] == "asyncio"
    assert record["JIRD_MESSAGE"] == "Task exception was never retrieved"


def test_journal_is_used_only_when_stderr_is_its_stream() -> None:
    status = os.fstat(2)
    assert not log.is_stderr_the_journal({})
    assert not log.is_stderr_the_journal({"JOURNAL_STREAM": "1:2"})
    is_there = os.path.exists(JOURNAL_SOCKET)
    assert log.is_stderr_the_journal({"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}) is is_there
