"""Memory and age of processes, as the kernel tells them."""

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

_ANONYMOUS = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB$", re.MULTILINE)
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """What a process uses: RssAnon plus RssShmem (mapped files are the page cache's), and time since its start."""

    memory_bytes: int
    uptime_s: float


def read_process(pid: int) -> ProcessFacts | None:
    """Facts of a process; None when it is gone."""
    folder = Path("/proc", str(pid))
    try:
        status = (folder / "status").read_text()
        # proc(5): the name, in brackets, may hold blanks and brackets; the start time is the 20th field behind it.
        started = int((folder / "stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None
    now_s = time.clock_gettime(time.CLOCK_BOOTTIME)  # /proc/uptime, which a confined service does not see
    memory = sum(int(kilobytes) for kilobytes in _ANONYMOUS.findall(status)) * 1024
    return ProcessFacts(memory, max(0.0, now_s - started / _TICKS_PER_S))
