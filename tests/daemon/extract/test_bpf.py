"""The system-call filter, run by a small interpreter for both architectures (J5)."""

import errno
import struct

import pytest

from jird_daemon.extract.bpf import AARCH64, ARCHITECTURES, X86_64, Architecture, build_filter

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4


def verdict(program: bytes, architecture: int, number: int, argument_2: int = 0) -> int:
    """Run a filter as the kernel does."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, 0, 0, argument_2, 0, 0, 0)
    instructions = list(struct.iter_unpack("=HBBI", program))
    accumulator = position = 0
    while True:
        code, if_true, if_false, value = instructions[position]
        position += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            matches = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            position += if_true if matches else if_false


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_only_what_is_listed_is_allowed(architecture: Architecture) -> None:
    """J5."""
    program = build_filter(architecture)
    allowed = {number for number in range(600) if verdict(program, architecture.audit_arch, number) == ALLOW}
    assert allowed == {*architecture.allowed.values(), *architecture.mapping.values()}
    assert len(program) // 8 < 4_096  # the kernel's limit


@pytest.mark.parametrize(
    ("architecture", "forbidden"),
    [
        (X86_64, {"open": 2, "socket": 41, "connect": 42, "clone": 56, "fork": 57, "vfork": 58, "execve": 59,
                  "kill": 62, "ptrace": 101, "setuid": 105, "prctl": 157, "openat": 257, "execveat": 322,
                  "io_uring_setup": 425, "clone3": 435, "openat2": 437, "sendmsg": 46, "ioctl": 16,
                  "prlimit64": 302, "fcntl": 72}),
        (AARCH64, {"openat": 56, "socket": 198, "connect": 203, "clone": 220, "execve": 221, "kill": 129, "ptrace": 117,
                   "setuid": 146, "prctl": 167, "io_uring_setup": 425, "clone3": 435, "openat2": 437, "ioctl": 29}),
    ],
)  # fmt: skip
def test_files_sockets_processes_and_privileges_are_refused(
    architecture: Architecture, forbidden: dict[str, int]
) -> None:
    """J5."""
    program = build_filter(architecture)
    for name, number in forbidden.items():
        assert verdict(program, architecture.audit_arch, number) == REFUSE, name


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_memory_may_be_mapped_but_not_to_be_executed(architecture: Architecture) -> None:
    """J5."""
    program = build_filter(architecture)
    for number in architecture.mapping.values():
        assert verdict(program, architecture.audit_arch, number, PROT_READ | PROT_WRITE) == ALLOW
        assert verdict(program, architecture.audit_arch, number, PROT_READ | PROT_EXEC) == REFUSE


def test_calls_of_another_architecture_end_the_process() -> None:
    """J5: i386 calls have other numbers; x32 calls are refused."""
    program = build_filter(X86_64)
    assert verdict(program, 0x40000003, 0) == KILL
    assert verdict(program, AARCH64.audit_arch, 0) == KILL
    assert verdict(program, X86_64.audit_arch, 0x40000000) == REFUSE
