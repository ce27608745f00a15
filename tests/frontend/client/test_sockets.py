"""Where the sockets are looked for, and what a person reads when there is none."""

import os
import socket
from pathlib import Path

import pytest

from jird_client.errors import DaemonUnreachableError
from jird_client.sockets import find_run_dir, usable_socket
from testkit.fake_daemon import FakeDaemon


def test_named_folder_comes_before_the_environment(tmp_path: Path) -> None:
    assert find_run_dir(tmp_path, {"JIRD_RUN_DIR": "/elsewhere"}) == tmp_path


def test_environment_comes_before_the_defaults() -> None:
    assert find_run_dir(None, {"JIRD_RUN_DIR": "/elsewhere"}) == Path("/elsewhere")


def test_checkout_folder_is_found_when_its_socket_is_there(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run_dir)
    with FakeDaemon(run_dir / "data" / "run"):
        assert find_run_dir(None, {}) == Path("data/run")


def test_missing_socket_is_named_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(DaemonUnreachableError, match=rf"{tmp_path}/admin\.sock: there is no such socket"):
        usable_socket(tmp_path, ["admin.sock"])


def test_socket_of_a_killed_daemon_is_told_from_a_missing_one(run_dir: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(os.fspath(run_dir / "admin.sock"))
    with pytest.raises(DaemonUnreachableError, match="nothing listens there any more"):
        usable_socket(run_dir, ["admin.sock"])


def test_second_socket_serves_those_who_may_not_open_the_first(run_dir: Path) -> None:
    with FakeDaemon(run_dir):
        (run_dir / "admin.sock").unlink()
        assert usable_socket(run_dir, ["admin.sock", "search.sock"]) == run_dir / "search.sock"


def test_path_that_the_kernel_would_cut_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DaemonUnreachableError, match="at most 107 are possible"):
        usable_socket(tmp_path / ("x" * 107), ["admin.sock"])
