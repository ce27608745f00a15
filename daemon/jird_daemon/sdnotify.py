"""What jird tells systemd: one datagram a message (sd_notify(3)). Without systemd every call does nothing."""

import os
import socket
import time
from collections.abc import Mapping

STATUS_CHARS_MAX = 200  # a line that `systemctl status` shows whole
SEND_TIMEOUT_S = 1.0  # for READY and STOPPING; a manager that does not read must not stop the service for longer


class Notifier:
    """Talks to the service manager that started this process.

    Args:
        environ: `NOTIFY_SOCKET` is where to write; absent, nothing is written. `WATCHDOG_USEC` and `WATCHDOG_PID` say
            whether, and how often, a sign of life is wanted.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        address = environ.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) if address else None
        self.watchdog_interval_s = _watchdog_interval_s(environ)

    def ready(self, status: str) -> None:
        """The service is up, or up again after a reload."""
        self._send("READY=1", f"STATUS={_line(status)}", timeout_s=SEND_TIMEOUT_S)

    def status(self, status: str) -> None:
        """Show a line in `systemctl status`."""
        self._send(f"STATUS={_line(status)}")

    def watchdog(self) -> None:
        """Show a sign of life."""
        self._send("WATCHDOG=1")

    def reloading(self) -> None:
        """The configuration is being read again; `ready` ends it."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self, status: str) -> None:
        """The ordered stop has begun."""
        self._send("STOPPING=1", f"STATUS={_line(status)}", timeout_s=SEND_TIMEOUT_S)

    def extend_timeout(self, seconds: float, status: str) -> None:
        """Ask for so many seconds from now for the start or stop that is under way, and say what is being done."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * 1_000_000)}", f"STATUS={_line(status)}")

    def close(self) -> None:
        """Give the socket back."""
        if self._socket is not None:
            self._socket.close()

    def _send(self, *lines: str, timeout_s: float = 0.0) -> None:
        if self._socket is None:
            return
        self._socket.settimeout(timeout_s)
        try:
            self._socket.sendto("\n".join(lines).encode(), self._address)
        except OSError:  # the manager is gone or does not read: the service goes on, and the next message comes soon
            return


def _line(status: str) -> str:
    return " ".join(status.split())[:STATUS_CHARS_MAX]


def _watchdog_interval_s(environ: Mapping[str, str]) -> float | None:
    """A third of the time after which the manager gives up (sd_watchdog_enabled(3)); None when it does not watch."""
    usec, pid = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", "")
    if not usec.isdigit() or int(usec) == 0 or (pid and pid != str(os.getpid())):
        return None
    return int(usec) / 1_000_000 / 3
