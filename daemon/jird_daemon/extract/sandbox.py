"""Takes everything from this process that parsing does not need, for good.

A parse worker reads hostile input with parsers written in C. What an intruder would find there: no way to open a file,
make a socket, start a process or a thread, signal or trace another, map executable memory, or gain privileges; a
bounded address space; and one stream to a parent that trusts nothing it says.

Every step must succeed, or the worker ends: parsing unconfined is no alternative. Only Landlock, which older kernels
lack and which forbids nothing that the filter does not forbid already, may be absent.

Libraries, codecs and everything else that is loaded on first use must be loaded before.
"""

import ctypes
import os
import platform
import resource
import struct

from jird_daemon.extract.bpf import ARCHITECTURES, build_filter

_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2

# Numbers are the same on every architecture that has them.
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_CREATE_RULESET_VERSION = 1
# Rights on files by the version that brought them (linux/landlock.h): 13 at first, then refer, truncate, ioctl.
_LANDLOCK_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_LANDLOCK_NET_RIGHTS = 0x3  # bind and connect, from version 4
_LANDLOCK_SCOPES = 0x3  # abstract Unix sockets and signals, from version 6


class SandboxError(Exception):
    """The kernel refused a step of the confinement; the message names it."""


def confine(memory_bytes: int) -> tuple[str, ...]:
    """Confine this process; it must have one thread.

    Args:
        memory_bytes: Limit of the address space, what is mapped now included.

    Returns:
        Names of the measures in effect.

    Raises:
        SandboxError: A measure failed; the process must end.
    """
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None:
        raise SandboxError(f"no system-call filter for {platform.machine()}; have {', '.join(ARCHITECTURES)}")
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise SandboxError(f"{threads} threads; the filter would hold for one")
    libc = ctypes.CDLL(None, use_errno=True)
    # Not dumpable: no other process of this user can attach or read its memory, and no core is written.
    _prctl(libc, "PR_SET_DUMPABLE", _PR_SET_DUMPABLE, 0, 0)
    _prctl(libc, "PR_SET_NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1, 0)
    measures = ["no_new_privs", "rlimits", "seccomp"]
    if _restrict_files(libc):  # takes a descriptor for a moment, so before the limits
        measures.append("landlock")
    _set_limits(memory_bytes)
    program = build_filter(architecture)
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: count of instructions, padding, pointer.
    header = ctypes.create_string_buffer(struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(buffer)))
    _prctl(libc, "PR_SET_SECCOMP", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(header))
    return tuple(measures)


def _set_limits(memory_bytes: int) -> None:
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: 0,  # descriptors that are open stay usable
        resource.RLIMIT_NPROC: 0,
    }
    for kind, value in limits.items():
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError) as error:
            raise SandboxError(f"setrlimit({kind}, {value}): {error}") from error


def _prctl(libc: ctypes.CDLL, name: str, option: int, first: int, second: int) -> None:
    if libc.prctl(option, ctypes.c_ulong(first), ctypes.c_ulong(second), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        raise SandboxError(f"prctl({name}): {os.strerror(ctypes.get_errno())}")


def _restrict_files(libc: ctypes.CDLL) -> bool:
    """Forbid every file by Landlock where the kernel has it."""
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_CREATE_RULESET_VERSION)
    if version < 1:
        return False
    fields = [_LANDLOCK_FILE_RIGHTS.get(version, 0xFFFF)]
    if version >= 4:
        fields.append(_LANDLOCK_NET_RIGHTS)
    if version >= 6:
        fields.append(_LANDLOCK_SCOPES)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    try:
        return bool(libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)
