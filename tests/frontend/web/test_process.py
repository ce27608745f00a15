"""jird-web as a process: start, systemd, signals, exit codes."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from testkit.fake_daemon import FakeDaemon

JIRD_WEB = [sys.executable, "-m", "jird_web"]


@contextmanager
def jird_web(run_dir: Path, **environ: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    variables = {**os.environ, "JIRD_RUN_DIR": str(run_dir), "JIRD_PORT": "0", **environ}
    with subprocess.Popen(JIRD_WEB, env=variables, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        line = child.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        try:
            yield child, found[0]
        finally:
            child.terminate()
            child.wait(20)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_in_order_with_zero(run_dir: Path, number: signal.Signals) -> None:
    """J45, J46: a second signal changes nothing."""
    with FakeDaemon(run_dir), jird_web(run_dir) as (child, url):
        assert httpx.get(f"{url}/search?q=x", trust_env=False).status_code == 200
        child.send_signal(number)
        child.send_signal(number)
        assert child.wait(20) == 0
        assert child.stderr is not None
        assert "Traceback" not in child.stderr.read()


def test_version_is_told() -> None:
    answer = subprocess.run([*JIRD_WEB, "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"jird-web \d+\.\d+\.\d+\n", answer.stdout)


def test_systemd_hears_of_start_and_stop(run_dir: Path) -> None:
    path = str(run_dir / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(20)
        with jird_web(run_dir, NOTIFY_SOCKET=path) as (child, url):
            assert manager.recv(1_000).decode() == f"READY=1\nSTATUS=serving on {url}"
            child.terminate()
            assert manager.recv(1_000).startswith(b"STOPPING=1\n")
            assert child.wait(20) == 0


def test_it_starts_before_the_daemon_and_finds_it_later(run_dir: Path) -> None:
    with jird_web(run_dir) as (_, url):
        assert httpx.get(f"{url}/readyz", trust_env=False).status_code == 503
        with FakeDaemon(run_dir), httpx.Client(base_url=url, trust_env=False) as http:
            for _attempt in range(1_000):
                if http.get("/readyz").status_code == 200:
                    break
            else:
                pytest.fail("the daemon was not found")


def run_to_end(**environ: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **environ}
    return subprocess.run(JIRD_WEB, env=variables, capture_output=True, text=True, timeout=30, check=False)


def test_port_in_use_is_one_line_and_one(run_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run_to_end(JIRD_RUN_DIR=str(run_dir), JIRD_PORT=port)
    assert (ended.returncode, ended.stderr) == (
        1,
        f"jird-web: cannot listen on 127.0.0.1:{port}: Address already in use\n",
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("JIRD_PORT", "70000", "JIRD_PORT (web.port) is '70000'; it must be 0 to 65535"),
        ("JIRD_ADMIN", "everyone", 'it must be "token", "local" or "off"'),
        ("JIRD_TEMPLATE_DIR", "/nonexistent", "web.template_dir is /nonexistent; there is no such folder"),
        ("JIRD_RUN_DIR", "/" + "x" * 120, "at most 107 are possible"),
        ("JIRD_CONFIG", "/nonexistent.toml", "/nonexistent.toml: cannot be read"),
    ],
)
def test_bad_configuration_is_one_line_and_two(name: str, value: str, message: str) -> None:
    ended = run_to_end(**{"JIRD_PORT": "0", name: value})
    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_local_admin_needs_a_loopback_bind() -> None:
    """J53, J100."""
    ended = run_to_end(JIRD_BIND="0.0.0.0", JIRD_ADMIN="local", JIRD_PORT="0")
    assert ended.returncode == 2
    assert '"local" needs a loopback address' in ended.stderr
