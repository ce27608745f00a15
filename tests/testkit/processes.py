"""Programs under test as real processes: what they log, how they become ready, how they end."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

START_TIMEOUT_S = 30.0
"""Longest wait for readiness: importing everything takes about two seconds, more on a loaded machine."""

STOP_TIMEOUT_S = 30.0
"""Longest wait for an ordered stop."""

POLL_S = 0.02
"""How often a file or /proc is looked at again while waiting."""


def wait_until(condition: Callable[[], bool], what: str, *, timeout_s: float = 20.0) -> None:
    """Look at `condition` until it holds.

    Raises:
        TimeoutError: It did not hold in time; the message names `what`.
    """
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"{what}: not within {timeout_s} s")
        time.sleep(POLL_S)


class NotifySocket:
    """Plays systemd's part of sd_notify: collects the datagrams that a service sends to NOTIFY_SOCKET."""

    def __init__(self, path: Path) -> None:
        """Bind the socket at `path` (at most 107 bytes)."""
        self.path = path
        self.messages: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.bind(str(path))

    def poll(self, timeout_s: float) -> None:
        """Take in what has come, waiting at most `timeout_s` for the first."""
        while select.select([self._socket], [], [], timeout_s)[0]:
            self.messages += self._socket.recv(4096).decode().splitlines()
            timeout_s = 0.0

    def close(self) -> None:
        """Close and remove the socket."""
        self._socket.close()
        self.path.unlink(missing_ok=True)


@dataclass(slots=True)
class Program:
    """One running program with its log file.

    Attributes:
        name: For messages.
        command: Program and arguments.
        log_file: Where standard output and error go, appended.
        environment: Variables beside the ones of this process; None removes one.
    """

    name: str
    command: Sequence[str]
    log_file: Path
    environment: Mapping[str, str | None] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def start(self, extra: Mapping[str, str] | None = None) -> None:
        """Start it in a session of its own."""
        assert self.process is None or self.process.poll() is not None, f"{self.name} is running already"
        wanted = {**os.environ, **self.environment, **(extra or {})}
        environment = {key: value for key, value in wanted.items() if value is not None}
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self.process is not None, f"{self.name} was not started"
        return self.process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    @property
    def log(self) -> str:
        """Everything it has logged."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def wait_for_log(self, text: str, *, timeout_s: float = 20.0) -> None:
        """Wait until `text` stands in the log."""
        wait_until(lambda: text in self.log, f"{text!r} in the log of {self.name}", timeout_s=timeout_s)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it alone."""
        os.kill(self.pid, number)

    def wait(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """Wait for its end; returns the exit code, negative for a signal.

        Raises:
            TimeoutError: It still runs after `timeout_s`; it is then killed.
        """
        assert self.process is not None, f"{self.name} was not started"
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimeoutError(f"{self.name} did not end in {timeout_s} s; its log:\n{self.log}") from None

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """SIGTERM, then wait for the end; returns the exit code."""
        with contextlib.suppress(ProcessLookupError):
            self.send(signal.SIGTERM)
        return self.wait(timeout_s)

    def kill(self) -> None:
        """SIGKILL to it alone, then wait for the end; harmless when it has ended."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def children_of(pid: int) -> dict[int, str]:
    """Living children of a process: process id to command line, arguments joined by blanks."""
    found: dict[int, str] = {}
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _read(task).split():
            command = _read(Path(f"/proc/{child}/cmdline")).replace("\0", " ").strip()
            if command:  # a zombie has none
                found[int(child)] = command
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
