"""Where the daemon's sockets are, and why one cannot be opened, in words for the person who has to mend it."""

import os
import socket
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from jird_client.errors import DaemonUnreachableError

SEARCH_SOCKET = "search.sock"
ADMIN_SOCKET = "admin.sock"

# sun_path holds 108 bytes with its final zero (unix(7)).
SOCKET_PATH_BYTES_MAX = 107

# Where a daemon listens when nobody said otherwise: the installed service's folder, then that of `make run`.
DEFAULT_RUN_DIRS = (Path("/run/jird"), Path("data/run"))

# A local connect succeeds or fails at once; only a full backlog makes it wait.
CONNECT_TIMEOUT_S = 2.0


def find_run_dir(explicit: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the folder of the sockets: the explicit one, else JIRD_RUN_DIR, else the first default with a socket.

    Args:
        explicit: What the person named; None when nothing was named.
        environ: The environment.

    Returns:
        The folder; it need not exist, so that the error can name it.
    """
    if explicit is not None:
        return explicit
    if environ.get("JIRD_RUN_DIR"):
        return Path(environ["JIRD_RUN_DIR"])
    for candidate in DEFAULT_RUN_DIRS:
        if _has_socket(candidate):
            return candidate
    return DEFAULT_RUN_DIRS[0]


def usable_socket(run_dir: Path, names: Sequence[str]) -> Path:
    """Return the first of the named sockets that a daemon answers on.

    Args:
        run_dir: Folder of the sockets.
        names: Names below it, the preferred one first.

    Raises:
        DaemonUnreachableError: None answers; the message names the preferred path and why.
    """
    first_problem = ""
    for name in names:
        path = run_dir / name
        problem = _problem(path)
        if not problem:
            return path
        first_problem = first_problem or f"cannot reach the jird daemon at {path}: {problem}"
    raise DaemonUnreachableError(first_problem, "DAEMON_UNREACHABLE")


def check_path_length(path: Path) -> None:
    """Refuse a socket path that the kernel would cut.

    Raises:
        DaemonUnreachableError: The path is longer than SOCKET_PATH_BYTES_MAX bytes.
    """
    size = len(os.fsencode(path))
    if size > SOCKET_PATH_BYTES_MAX:
        message = f"the socket path {path} has {size} bytes; at most {SOCKET_PATH_BYTES_MAX} are possible"
        raise DaemonUnreachableError(message, "SOCKET_PATH_TOO_LONG")


def _has_socket(run_dir: Path) -> bool:
    for name in (ADMIN_SOCKET, SEARCH_SOCKET):
        try:
            if stat.S_ISSOCK((run_dir / name).stat().st_mode):
                return True
        except OSError:
            continue
    return False


def _problem(path: Path) -> str:
    check_path_length(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(CONNECT_TIMEOUT_S)
        try:
            probe.connect(os.fspath(path))
        except FileNotFoundError:
            return "there is no such socket (is it running? `systemctl status jird`, or name its folder with --run-dir)"
        except PermissionError:
            return "permission denied (members of the socket's group may use it; see `ls -l` of it)"
        except ConnectionRefusedError:
            return "nothing listens there any more (the daemon was stopped or killed)"
        except OSError as error:
            return error.strerror or str(error)
    return ""
