"""Messages to the service manager, read from a real datagram socket."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.sdnotify import Notifier


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(str(tmp_path / "notify"))
        bound.settimeout(5)
        yield bound


def test_each_message_is_one_datagram(manager: socket.socket) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": manager.getsockname()})
    notifier.ready("12 pages\nforged=1")
    notifier.watchdog()
    notifier.extend_timeout(1.5, "stopping: drain")
    notifier.stopping("stopping")
    notifier.reloading()
    assert manager.recv(4096) == b"READY=1\nSTATUS=12 pages forged=1"
    assert manager.recv(4096) == b"WATCHDOG=1"
    assert manager.recv(4096) == b"EXTEND_TIMEOUT_USEC=1500000\nSTATUS=stopping: drain"
    assert manager.recv(4096) == b"STOPPING=1\nSTATUS=stopping"
    first, second = manager.recv(4096).split(b"\n")
    assert first == b"RELOADING=1"
    assert int(second.removeprefix(b"MONOTONIC_USEC=")) > 0
    notifier.close()


def test_abstract_address_is_understood() -> None:
    name = f"jird-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind("\0" + name)
        bound.settimeout(5)
        notifier = Notifier({"NOTIFY_SOCKET": "@" + name})
        notifier.status("up")
        assert bound.recv(4096) == b"STATUS=up"
        notifier.close()


def test_nothing_is_said_without_a_manager_or_to_one_that_is_gone(tmp_path: Path) -> None:
    Notifier({}).ready("up")
    gone = Notifier({"NOTIFY_SOCKET": str(tmp_path / "none")})
    gone.ready("up")
    gone.close()


def test_manager_that_does_not_read_holds_nothing_up(manager: socket.socket) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": manager.getsockname()})
    for _ in range(1_000):
        notifier.watchdog()
    assert manager.recv(4096) == b"WATCHDOG=1"
    notifier.close()


@pytest.mark.parametrize(
    ("environ", "interval_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 10.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 10.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "x"}, None),
    ],
)
def test_watchdog_is_fed_three_times_as_often_as_needed(environ: dict[str, str], interval_s: float | None) -> None:
    assert Notifier(environ).watchdog_interval_s == interval_s
