"""Which file system holds the state: LMDB's locks and mappings are only sound on a local one (F93)."""

import re
from pathlib import Path

from jird_daemon.log import get_logger

log = get_logger("store")

MOUNTS = Path("/proc/self/mountinfo")

# As the kernel names them; those of FUSE by their subtype.
_NETWORK_TYPES = frozenset({
    "9p", "afs", "ceph", "cifs", "coda", "fuse.ceph-fuse", "fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
    "fuse.sshfs", "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb3", "smbfs",
    "virtiofs",
})  # fmt: skip


def file_system_type(path: Path, mounts: str) -> str:
    """Type of the file system that holds a path.

    Args:
        path: Absolute, without symbolic links.
        mounts: What /proc/self/mountinfo says; proc_pid_mountinfo(5) has its fields.

    Returns:
        The type, or "" when no mount holds the path.
    """
    found, length = "", -1
    for line in mounts.splitlines():
        left, separator, right = line.partition(" - ")
        fields = left.split(" ")
        if not separator or len(fields) < 5:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
        # Of several mounts on one point, the last is the one that is seen.
        if path.is_relative_to(point) and len(point) >= length:
            found, length = right.split(" ")[0], len(point)
    return found


def warn_of_network_file_system(path: Path) -> None:
    """Log a warning if a path lies on another machine; the store is opened all the same."""
    try:
        kind = file_system_type(path.absolute().resolve(), MOUNTS.read_text(errors="replace"))
    except OSError:
        return
    if kind in _NETWORK_TYPES:
        log.warning(
            "store.network_file_system", path=path, kind=kind, action="opened; move it to a local disk, or lose data"
        )
