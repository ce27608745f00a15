"""The lock on the state directory, held by every process that writes.

An flock belongs to the open file, not to the process: it is passed on with the descriptor and lasts until the last
process that has it is gone. So an orphaned ingest keeps a new daemon out (F97), and a dead process holds nothing. The
file holds a line `pid role` for each holder, for the message only.
"""

import fcntl
import os
from pathlib import Path
from typing import Self

from jird_daemon.errors import StateLockedError

LOCK_FILE = "lock"
# A few lines; anything longer was not written by us.
_READ_BYTES_MAX = 4096


class StateLock:
    """Held until `close`, by this process and by every child that got the descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, state_dir: Path, role: str = "serve") -> Self:
        """Take the lock, making the state directory where it is not there yet.

        Args:
            state_dir: The state directory.
            role: What this process is, for the message that another one will show.

        Raises:
            StateLockedError: Another process holds it; the message names its pid.
            OSError: The directory cannot be made or written.
        """
        state_dir.mkdir(mode=0o750, parents=True, exist_ok=True)
        path = state_dir / LOCK_FILE
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holders = _living_holders(descriptor)
            os.close(descriptor)
            raise StateLockedError(f"{state_dir} is in use by {', '.join(holders) or 'an unknown process'}") from error
        except OSError:
            os.close(descriptor)
            raise
        os.set_inheritable(descriptor, True)
        os.ftruncate(descriptor, 0)
        lock = cls(descriptor)
        lock._add_holder(role)
        return lock

    @classmethod
    def adopt(cls, descriptor: int, role: str = "ingest") -> Self:
        """Hold the lock through an inherited descriptor, and say so in the file."""
        lock = cls(descriptor)
        lock._add_holder(role)
        return lock

    def fileno(self) -> int:
        """The inheritable descriptor; name it in `pass_fds` of each child that writes."""
        return self._descriptor

    def close(self) -> None:
        """Let go. The lock is free when no other process has the descriptor."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _add_holder(self, role: str) -> None:
        lines = [line for line in _lines(self._descriptor) if _is_alive(line)] + [f"{os.getpid()} {role}"]
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, "".join(f"{line}\n" for line in lines).encode(), 0)


def _lines(descriptor: int) -> list[str]:
    return os.pread(descriptor, _READ_BYTES_MAX, 0).decode(errors="replace").splitlines()


def _is_alive(line: str) -> bool:
    pid = line.partition(" ")[0]
    return pid.isdecimal() and Path("/proc", pid).exists()


def _living_holders(descriptor: int) -> list[str]:
    holders = []
    for line in _lines(descriptor):
        pid, _, role = line.partition(" ")
        if _is_alive(line):
            holders.append(f"process {pid} ({role})")
    return holders
