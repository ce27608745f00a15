"""What the machine has left for us: memory, and how long its disk takes to keep something."""

import ctypes
import gc
import os
import re
import tempfile
import time
from pathlib import Path

_MEMINFO = re.compile(r"^(MemTotal|MemAvailable):\s+(\d+) kB$", re.MULTILINE)
# cgroups(7), v2: what the kernel can take back at once counts as available, as it does in MemAvailable.
_RECLAIMABLE = re.compile(r"^(?:inactive_file|slab_reclaimable) (\d+)$", re.MULTILINE)
PROBE_BYTES = 4_096  # a block


class MachineMemory:
    """Memory of the machine, or of the control group that the service is confined to, whichever is less."""

    def __init__(self, meminfo: Path = Path("/proc/meminfo"), group: Path | None = None) -> None:
        """Take where the kernel tells it.

        Args:
            meminfo: proc(5).
            group: Folder of a control group, version 2; None looks for ours.
        """
        self._meminfo = meminfo
        self._group = _own_group() if group is None else group

    def read(self) -> tuple[int, int]:
        """Bytes in all, and bytes available; what the kernel does not tell counts as plenty."""
        found = {name: int(kilobytes) * 1024 for name, kilobytes in _MEMINFO.findall(_text(self._meminfo))}
        total, available = found.get("MemTotal", 1 << 62), found.get("MemAvailable", 1 << 62)
        limit = _text(self._group / "memory.max").strip()
        used = _text(self._group / "memory.current").strip()
        if limit.isdigit() and used.isdigit():
            reclaimable = sum(map(int, _RECLAIMABLE.findall(_text(self._group / "memory.stat"))))
            total = min(total, int(limit))
            available = min(available, max(int(limit) - int(used) + reclaimable, 0))
        return total, available


def _own_group() -> Path:
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        if line.startswith("0::/"):
            return Path("/sys/fs/cgroup", line[4:])
    return Path("/sys/fs/cgroup")


def _text(path: Path) -> str:
    """Text of a file of the kernel's; empty where there is none, as on another kernel or in a confined service."""
    try:
        return path.read_text()
    except OSError:
        return ""


def free_memory() -> None:
    """Give back what the interpreter and the C library hold without need."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc; musl has none, and holds nothing back
    if trim is not None:
        trim(0)


def probe_sync_s(folder: Path) -> float:
    """Seconds to write one block to a file of the folder and have it kept; the file is gone afterwards.

    Raises:
        OSError: It cannot be written.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        start_s = time.monotonic()
        file.write(bytes(PROBE_BYTES))
        file.flush()
        os.fsync(file.fileno())
        return time.monotonic() - start_s
