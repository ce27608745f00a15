"""sd_notify against a real datagram socket."""

import socket
from pathlib import Path

from jird_client.sdnotify import notify


def test_state_arrives_as_one_datagram(run_dir: Path) -> None:
    path = str(run_dir / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(5)
        assert notify("READY=1\nSTATUS=serving", {"NOTIFY_SOCKET": path})
        assert manager.recv(100) == b"READY=1\nSTATUS=serving"


def test_without_systemd_nothing_is_sent() -> None:
    assert not notify("READY=1", {})


def test_manager_that_went_away_is_no_error(run_dir: Path) -> None:
    assert not notify("READY=1", {"NOTIFY_SOCKET": str(run_dir / "gone")})
