"""The two Unix sockets: claimed, given the right mode and group from the start, and taken away at the end.

Access is the kernel's business: gRPC cannot see who calls. A socket is bound under another name with a umask that makes
it 0660, and renamed to its own, so that nobody ever meets it with another mode. In a folder with the setgid bit, what
is made has the folder's group: where the run folder holds `search.d` or `admin.d`, made so for the groups of the
frontend and of the admins, the socket is bound there; elsewhere it belongs to the daemon's own group.

gRPC would take over a path that another server listens on, so a lock is held before binding (F119).
"""

import contextlib
import fcntl
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Self

from jird_daemon.errors import SocketInUseError

SEARCH_SOCKET = "search.sock"
ADMIN_SOCKET = "admin.sock"
LOCK_FILE = "sockets.lock"
PATH_BYTES_MAX = 107  # sun_path is 108 bytes with its terminating NUL (unix(7))
SOCKET_UMASK = 0o117  # 0660: owner and group may connect (F121)


class SocketPathError(ValueError):
    """A socket's path is longer than the kernel allows."""


class SocketFolder:
    """The folder of the sockets, claimed for this process until `close`."""

    def __init__(self, run_dir: Path, descriptor: int) -> None:
        self._run_dir = run_dir
        self._descriptor = descriptor
        self._published: list[Path] = []

    @classmethod
    def claim(cls, run_dir: Path) -> Self:
        """Claim the folder, making it where it is not there yet.

        Raises:
            SocketPathError: A socket's path would be too long.
            SocketInUseError: Another process serves there.
            OSError: The folder cannot be made or written.
        """
        check_path(run_dir)
        run_dir.mkdir(mode=0o755, parents=True, exist_ok=True)
        descriptor = os.open(run_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in (SEARCH_SOCKET, ADMIN_SOCKET):
                _refuse_occupied(run_dir / name)
        except BlockingIOError:
            os.close(descriptor)
            raise SocketInUseError(f"{run_dir}: another process serves the sockets there") from None
        except BaseException:
            os.close(descriptor)
            raise
        return cls(run_dir, descriptor)

    def publish(self, name: str, bind: Callable[[str], object]) -> Path:
        """Bind a socket and put it in its place.

        Args:
            name: SEARCH_SOCKET or ADMIN_SOCKET.
            bind: Binds a listening socket at the path it is given; called with the right umask.

        Returns:
            The socket's path.
        """
        group_folder = self._run_dir / f"{name.removesuffix('.sock')}.d"
        bound = group_folder / "s" if group_folder.is_dir() else self._run_dir / f".{name[0]}"
        with contextlib.suppress(FileNotFoundError):
            bound.unlink()
        before = os.umask(SOCKET_UMASK)
        try:
            bind(str(bound))
        finally:
            os.umask(before)
        path = self._run_dir / name
        bound.rename(path)
        self._published.append(path)
        return path

    def close(self) -> None:
        """Take the sockets away and let go of the folder. Harmless when repeated."""
        for path in self._published:
            with contextlib.suppress(OSError):
                path.unlink()
        self._published.clear()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def check_path(run_dir: Path) -> None:
    """Refuse a folder in which a socket's path would be longer than the kernel allows.

    Raises:
        SocketPathError: It would; the message says by how much.
    """
    for name in (SEARCH_SOCKET, ADMIN_SOCKET):
        size = len(os.fsencode(run_dir / name))
        if size > PATH_BYTES_MAX:
            raise SocketPathError(
                f"storage.run_dir is {run_dir}; {name} in it would have a path of {size} bytes, "
                f"and a socket's path has at most {PATH_BYTES_MAX}"
            )


def _refuse_occupied(path: Path) -> None:
    """Refuse a path on which someone listens, or where something else than a socket lies."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise SocketInUseError(f"{path} exists and is not a socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return  # left behind by a process that is gone
        except OSError as error:
            raise SocketInUseError(f"{path}: cannot tell whether it is in use: {error.strerror}") from error
    raise SocketInUseError(f"{path}: another process serves this socket")
