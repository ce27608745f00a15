"""jirdctl as a process: signals, pipes, and how quickly it answers."""

import os
import pty
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

from jird.v1.crawl_service_pb2 import WatchCrawlRunResponse
from testkit.fake_daemon import FakeDaemon, make_run

JIRDCTL = [sys.executable, "-m", "jird_cli"]


def read_until(descriptor: int, text: bytes, deadline_s: float = 20.0) -> bytes:
    got = b""
    while text not in got:
        ready, _, _ = select.select([descriptor], [], [], deadline_s)
        assert ready, f"{text!r} did not come; got {got!r}"
        chunk = os.read(descriptor, 4_096)
        assert chunk, f"ended without {text!r}; got {got!r}"
        got += chunk
    return got


def test_interrupt_stops_only_the_watching(daemon: FakeDaemon, run_dir: Path) -> None:
    daemon.watch = [WatchCrawlRunResponse(run=make_run())]
    daemon.watch_gate = threading.Event()
    command = [*JIRDCTL, "--run-dir", str(run_dir), "crawl", "start", "https://docs.test/", "--wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stderr is not None
        read_until(child.stderr.fileno(), b"run 4 running")
        child.send_signal(signal.SIGINT)
        assert b"no longer watching; run 4 goes on" in child.stderr.read()
        assert child.wait(10) == 1
    assert daemon.calls("StopCrawl") == []


def test_progress_moves_on_a_terminal(daemon: FakeDaemon, run_dir: Path) -> None:
    daemon.watch = [WatchCrawlRunResponse(run=make_run())]
    daemon.watch_gate = threading.Event()
    master, slave = pty.openpty()
    command = [*JIRDCTL, "--run-dir", str(run_dir), "crawl", "watch", "4"]
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=environ) as child:
        os.close(slave)
        seen = read_until(master, b"12 requests made")
        assert b"\x1b[" in seen  # cursor movement: a view in its place, not one after another
        child.send_signal(signal.SIGINT)
        read_until(master, b"no longer watching")
        assert child.wait(10) == 0
    os.close(master)


def test_help_does_not_load_grpc() -> None:
    """A help text that loads gRPC first is three times slower."""
    code = (
        "import sys; from jird_cli.__main__ import run; assert run(['crawl', '--help']) == 0;"
        "sys.exit('grpc' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, timeout=30).returncode == 0


def test_reader_that_left_is_no_traceback(daemon: FakeDaemon, run_dir: Path) -> None:
    command = [*JIRDCTL, "--run-dir", str(run_dir), "status"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert b"Traceback" not in child.stderr.read()
        child.wait(10)
