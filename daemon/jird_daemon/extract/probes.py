"""Forbidden actions that a confined worker tries on demand, to show that the kernel refuses them (J5).

Each is what an intruder would try first. A probe that succeeds undoes what it did as far as it can, and is reported as
a fault of the confinement.
"""

import ctypes
import errno
import mmap
import os
import platform
import resource
import signal
import socket
import threading
from collections.abc import Callable
from functools import partial

from jird_daemon.control import ProbeResult

# These two end the worker when they are refused; the pool, which sees it end, reports them.
FATAL = ("memory", "cpu_time")

_NUMBERS = {
    "x86_64": {"ptrace": 101, "unshare": 272, "memfd_create": 319, "bpf": 321, "io_uring_setup": 425,
               "process_vm_readv": 310, "perf_event_open": 298, "keyctl": 250, "userfaultfd": 323, "mount": 165,
               "connect": 42, "clone3": 435},
    "aarch64": {"ptrace": 117, "unshare": 97, "memfd_create": 279, "bpf": 280, "io_uring_setup": 425,
                "process_vm_readv": 270, "perf_event_open": 241, "keyctl": 219, "userfaultfd": 282, "mount": 40,
                "connect": 203, "clone3": 435},
}  # fmt: skip
_PTRACE_ATTACH = 16
_CLONE_NEWUSER = 0x10000000
# The filter looks at the number alone, so these need no arguments that make sense.
_BARE_CALLS = ("memfd_create", "bpf", "io_uring_setup", "process_vm_readv", "perf_event_open", "keyctl", "userfaultfd",
               "mount", "clone3")  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True)


def run_probe(name: str, channel_fd: int, memory_bytes: int) -> ProbeResult:
    """Try one forbidden action.

    Args:
        name: One of `probe_names()`.
        channel_fd: The worker's socket, the one descriptor that it has.
        memory_bytes: The limit that it was given.
    """
    try:
        _probes(channel_fd, memory_bytes)[name]()
    except OSError as error:
        return ProbeResult(name, True, errno.errorcode.get(error.errno or 0, str(error)))
    except (RuntimeError, ValueError) as error:  # Python's words for a refused thread and a refused limit
        return ProbeResult(name, True, str(error))
    return ProbeResult(name, False, "the kernel let it happen")


def probe_names() -> tuple[str, ...]:
    """Names of all probes, those that cost the worker last."""
    names = [name for name in _probes(-1, 0) if name not in FATAL]
    return (*names, *FATAL)


def _probes(channel_fd: int, memory_bytes: int) -> dict[str, Callable[[], object]]:
    return {
        "open_file": lambda: os.close(os.open("/etc/passwd", os.O_RDONLY)),
        "write_file": _write_file,
        "list_folder": lambda: os.listdir("/"),
        "stat_file": lambda: os.stat("/etc/passwd"),
        "socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "connect": _connect_inet,
        "connect_unix": _connect_unix,
        "connect_channel": lambda: _call("connect", channel_fd, 0, 0),
        "fork": _fork,
        "thread": _start_thread,
        "exec": lambda: os.execv("/bin/true", ["true"]),
        "new_privileges": lambda: os.setresuid(0, 0, 0),
        "unshare": lambda: _call("unshare", _CLONE_NEWUSER),
        "ptrace": lambda: _call("ptrace", _PTRACE_ATTACH, _PARENT_PID, 0, 0),
        "signal_parent": lambda: os.kill(_PARENT_PID, 0),
        "raise_limits": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        "executable_memory": _map_executable,
        **{name: partial(_call, name, 0, 0, 0) for name in _BARE_CALLS},
        "memory": lambda: bytearray(memory_bytes),
        "cpu_time": _burn,
    }


# getppid is not among the allowed calls; the parent stays the same as long as the worker lives.
_PARENT_PID = os.getppid()


def _call(name: str, *arguments: int) -> None:
    number = _NUMBERS[platform.machine()][name]
    if _libc.syscall(number, *(ctypes.c_long(argument) for argument in arguments)) < 0:
        found = ctypes.get_errno()
        # Another error than EPERM comes from the call itself, so the filter let it through.
        if found == errno.EPERM:
            raise OSError(found, name)


def _write_file() -> None:
    path = f"/tmp/jird-probe-{os.getpid()}"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)


def _connect_inet() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.connect(("127.0.0.1", 9))


def _connect_unix() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect("/run/systemd/journal/stdout")


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _start_thread() -> None:
    thread = threading.Thread(target=int, daemon=True)
    thread.start()
    thread.join()


def _map_executable() -> None:
    mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()


def _burn() -> None:
    while True:
        signal.getsignal(signal.SIGPROF)
