"""What every process that serve starts has in common: its arguments, its end, and its place behind serve.

A child dies with its parent (an orphaned ingest would write beside a new one), runs in a process group of its own
(Ctrl-C in a terminal goes to the whole group, and the parent stops its children itself), and yields the processor and
the disk to searches.
"""

import argparse
import ctypes
import os
import platform
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

_PR_SET_PDEATHSIG = 1
_IOPRIO_WHO_PROCESS = 1
_IOPRIO_BEST_EFFORT_LOWEST = (2 << 13) | 7
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}  # syscall numbers; the C library has no wrapper

NICENESS = 5  # ingest and parse give way to serve, but not to a machine full of idle-priority work

# What a child has no business with: systemd listens to serve alone, and only serve compares the token.
_PRIVATE_VARIABLES = frozenset(
    {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JIRD_ADMIN_TOKEN", "CREDENTIALS_DIRECTORY"}
)


@dataclass(frozen=True, slots=True)
class IngestArguments:
    """How serve starts `python -m jird_daemon.ingest`."""

    control_fd: int  # its end of the channel, a connected stream socket
    lock_fd: int  # the state lock, to be adopted
    parent_pid: int
    settings_fd: int  # the settings in effect (config.read_settings_file)
    is_restart: bool  # the one before crashed: runs that were running go on; else they become paused (F99, J166)

    def to_argv(self) -> list[str]:
        """The arguments behind the module's name."""
        numbers = ("control_fd", "lock_fd", "parent_pid", "settings_fd")
        argv = [f"--{name.replace('_', '-')}={getattr(self, name)}" for name in numbers]
        return [*argv, "--restart"] if self.is_restart else argv

    @classmethod
    def parse(cls, argv: Sequence[str]) -> Self:
        """Read what `to_argv` wrote; anything else ends the process with a message (argparse)."""
        parser = argparse.ArgumentParser(prog="jird ingest", description="Started by jird serve, never by a person.")
        parser.add_argument("--control-fd", type=int, required=True)
        parser.add_argument("--lock-fd", type=int, required=True)
        parser.add_argument("--parent-pid", type=int, required=True)
        parser.add_argument("--settings-fd", type=int, required=True)
        parser.add_argument("--restart", action="store_true")
        found = parser.parse_args(argv)
        return cls(found.control_fd, found.lock_fd, found.parent_pid, found.settings_fd, found.restart)


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a child: without systemd's addresses and without secrets."""
    return {name: value for name, value in environ.items() if name not in _PRIVATE_VARIABLES}


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent ends. Call it first thing in a child's main.

    Args:
        parent_pid: Who started this process; if it is gone already, the process ends here.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        os._exit(1)


def yield_to_searches() -> None:
    """Lower this process's claim on the processor and the disk; children inherit it.

    A kernel or a sandbox that refuses it costs only the priority.
    """
    os.nice(NICENESS)
    number = _IOPRIO_SET.get(platform.machine())
    if number is not None:
        ctypes.CDLL(None).syscall(number, _IOPRIO_WHO_PROCESS, 0, _IOPRIO_BEST_EFFORT_LOWEST)
