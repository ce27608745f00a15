"""`make run` as a person at a terminal sees it: it comes up, Ctrl-C stops it in order, and make ends with 0."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from testkit.daemon import free_port
from testkit.processes import wait_until

ROOT = Path(__file__).resolve().parents[2]
UP = b"in a browser; Ctrl-C stops"
UP_TIMEOUT_S = 60.0
SECOND_RUN_LIMIT_S = 5.0
"""What the second `make run` may take to be ready, by the project's own promise; see the note in the test."""


class Terminal:
    """A program on a terminal of its own, as its session's leader, like a shell's child under a terminal emulator."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        """Start it."""
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execvpe(command[0], command, environment)
        self.output = b""

    def wait_for(self, text: bytes, timeout_s: float = UP_TIMEOUT_S) -> None:
        """Read until `text` was printed."""
        deadline_s = time.monotonic() + timeout_s
        while text not in self.output:
            assert time.monotonic() < deadline_s, f"no {text!r} in:\n{self.output.decode(errors='replace')}"
            if not self._read(0.1):
                raise AssertionError(f"ended without {text!r}:\n{self.output.decode(errors='replace')}")

    def _read(self, timeout_s: float) -> bool:
        if select.select([self._master], [], [], timeout_s)[0]:
            try:
                got = os.read(self._master, 65536)
            except OSError:  # the other side is closed
                return False
            self.output += got
            return bool(got)
        return True

    def press(self, key: bytes) -> None:
        """Type a key."""
        os.write(self._master, key)

    def wait(self, timeout_s: float = UP_TIMEOUT_S) -> int:
        """Read until the program has ended; returns its exit code."""
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                while self._read(0.05) and select.select([self._master], [], [], 0)[0]:
                    pass
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"still running:\n{self.output.decode(errors='replace')}")

    def close(self) -> None:
        """Close the terminal, which hangs up on what still runs."""
        os.close(self._master)
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `make run` has data and a port of its own."""
    data = tmp_path_factory.mktemp("data")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("JIRD_", "MAKE", "MFLAGS"))}
    return {
        **clean,
        "JIRD_STATE_DIR": str(data),
        "JIRD_RUN_DIR": str(data / "run"),
        "JIRD_PORT": str(free_port()),
        "JIRD_WORKERS": "1",
    }


@pytest.fixture
def terminal(environment: dict[str, str]) -> Iterator[Terminal]:
    shell = Terminal(["make", "--no-print-directory", "run"], environment)
    yield shell
    shell.close()


def sockets(environment: dict[str, str]) -> list[Path]:
    return sorted(Path(environment["JIRD_RUN_DIR"]).glob("*.sock"))


def test_make_run_serves_pages_and_ctrl_c_ends_it_with_zero(terminal: Terminal, environment: dict[str, str]) -> None:
    """J40, J45: frontend and daemon are up when the address is shown; Ctrl-C stops the frontend, then the daemon."""
    terminal.wait_for(UP)
    address = f"http://127.0.0.1:{environment['JIRD_PORT']}"
    assert address.encode() in terminal.output
    assert httpx.get(f"{address}/", trust_env=False).status_code == httpx.codes.OK
    assert len(sockets(environment)) == 2
    terminal.press(b"\x03")
    assert terminal.wait() == 0, terminal.output.decode(errors="replace")
    assert terminal.output.index(b"stopping the frontend") < terminal.output.index(b"stopping the daemon")
    assert sockets(environment) == []


def test_second_ctrl_c_changes_nothing(terminal: Terminal) -> None:
    """J46: asking again while it stops is harmless."""
    terminal.wait_for(UP)
    terminal.press(b"\x03")
    terminal.wait_for(b"stopping the frontend")
    terminal.press(b"\x03")
    assert terminal.wait() == 0, terminal.output.decode(errors="replace")


def test_closing_the_terminal_stops_everything(environment: dict[str, str]) -> None:
    terminal = Terminal(["make", "--no-print-directory", "run"], environment)
    terminal.wait_for(UP)
    terminal.close()
    wait_until(lambda: sockets(environment) == [], "the sockets are gone", timeout_s=30)


def test_run_without_a_terminal_is_stopped_by_sigterm(environment: dict[str, str]) -> None:
    """Under a supervisor there is no terminal; SIGTERM to the launcher stops in order, with exit code 0."""
    command = [str(ROOT / ".venv" / "bin" / "python"), "scripts/run.py"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stderr is not None
    with process.stderr as lines:
        while UP not in lines.readline():
            assert process.poll() is None
        process.terminate()
        rest = lines.read()
    assert process.wait(60) == 0, rest.decode()


def test_bad_setting_ends_the_run_at_once_with_its_reason(environment: dict[str, str]) -> None:
    command = [str(ROOT / ".venv" / "bin" / "python"), "scripts/run.py"]
    bad = {**environment, "JIRD_DELAY_MS": "700000"}
    done = subprocess.run(command, cwd=ROOT, env=bad, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2
    assert "700000" in done.stderr


def test_run_is_ready_within_five_seconds_once_everything_is_built(environment: dict[str, str]) -> None:
    """The environment and the build exist already when tests run, so this is the second `make run`."""
    start_s = time.monotonic()
    terminal = Terminal(["make", "--no-print-directory", "run"], environment)
    try:
        terminal.wait_for(UP)
        ready_s = time.monotonic() - start_s
        terminal.press(b"\x03")
        assert terminal.wait() == 0
    finally:
        terminal.close()
    assert ready_s < SECOND_RUN_LIMIT_S
