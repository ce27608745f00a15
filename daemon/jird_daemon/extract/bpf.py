"""The system-call filter of parse workers, as a classic BPF program, and the few instructions it takes to write one.

A list of what is allowed, because a parser needs little: memory, its channel, clocks and timers, and to end. Whatever
the kernel has beside that, today or in years, is refused with EPERM.

Source: seccomp(2), and the kernel's Documentation/userspace-api/seccomp_filter.rst. The program reads struct
seccomp_data:

| offset | size | meaning |
|---|---|---|
| 0 | 4 | number of the call |
| 4 | 4 | AUDIT_ARCH_* |
| 8 | 8 | instruction pointer |
| 16 + 8 i | 8 | argument i, low half first |
"""

import errno
import struct
from dataclasses import dataclass

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER_EQUAL = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_JUMP_SET = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

_KILL_PROCESS = 0x80000000
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM  # SECCOMP_RET_ERRNO

_OFFSET_NUMBER = 0
_OFFSET_ARCH = 4
_OFFSET_ARGUMENT_2 = 32
_PROT_EXEC = 4
_X32_BIT = 0x40000000


@dataclass(frozen=True, slots=True)
class Architecture:
    """What a filter must know of one processor."""

    audit_arch: int
    allowed: dict[str, int]  # numbers of the calls that are allowed whatever their arguments
    mapping: dict[str, int]  # those that are allowed unless they ask for executable memory


X86_64 = Architecture(
    0xC000003E,
    {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "munmap": 11, "brk": 12, "rt_sigaction": 13,
        "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35,
        "getitimer": 36, "setitimer": 38, "getpid": 39, "exit": 60, "gettimeofday": 96, "getrusage": 98,
        "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202, "restart_syscall": 219, "clock_gettime": 228,
        "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "ppoll": 271, "set_robust_list": 273,
        "getcpu": 309, "getrandom": 318, "membarrier": 324, "rseq": 334,
    },
    {"mmap": 9, "mprotect": 10},
)  # fmt: skip
AARCH64 = Architecture(
    0xC00000B7,
    {
        "close": 57, "read": 63, "write": 64, "ppoll": 73, "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98,
        "set_robust_list": 99, "nanosleep": 101, "getitimer": 102, "setitimer": 103, "clock_gettime": 113,
        "clock_getres": 114, "clock_nanosleep": 115, "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132,
        "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "getrusage": 165, "getcpu": 168,
        "gettimeofday": 169, "getpid": 172, "gettid": 178, "brk": 214, "munmap": 215, "mremap": 216, "madvise": 233,
        "getrandom": 278, "membarrier": 283, "rseq": 293,
    },
    {"mmap": 222, "mprotect": 226},
)  # fmt: skip
ARCHITECTURES = {"x86_64": X86_64, "aarch64": AARCH64}


def _statement(code: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, 0, 0, value)


def _jump(code: int, value: int, if_true: int, if_false: int) -> bytes:
    """A jump over so many instructions."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def build_filter(architecture: Architecture) -> bytes:
    """Assemble the filter: struct sock_filter records of 8 bytes each, in the byte order of this machine."""
    program = [
        _statement(_LOAD, _OFFSET_ARCH),
        _jump(_JUMP_EQUAL, architecture.audit_arch, 1, 0),
        _statement(_RETURN, _KILL_PROCESS),
        _statement(_LOAD, _OFFSET_NUMBER),
        # The x32 calls of x86-64 have numbers of their own.
        _jump(_JUMP_GREATER_EQUAL, _X32_BIT, 0, 1),
        _statement(_RETURN, _REFUSE),
    ]
    for number in sorted(architecture.allowed.values()):
        program += [_jump(_JUMP_EQUAL, number, 0, 1), _statement(_RETURN, _ALLOW)]
    for number in sorted(architecture.mapping.values()):
        program += [
            _jump(_JUMP_EQUAL, number, 0, 4),
            _statement(_LOAD, _OFFSET_ARGUMENT_2),
            _jump(_JUMP_SET, _PROT_EXEC, 1, 0),
            _statement(_RETURN, _ALLOW),
            _statement(_RETURN, _REFUSE),
        ]
    program.append(_statement(_RETURN, _REFUSE))
    return b"".join(program)
