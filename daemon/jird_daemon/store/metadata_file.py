"""Whether LMDB's file is all there.

LMDB maps its file and trusts it: the first look at a page beyond the end, in a file that a copy or a full disk has cut
short, ends the process with SIGBUS. And an empty file is a new store to it, in which nothing names the page content
that lies beside it, so that all of it would be taken for leftovers.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import lmdb

from jird_daemon.errors import CorruptStoreError
from jird_daemon.store.blobs import volume_number

DATA_FILE = "data.mdb"
# Reading everything at the speed of a slow disk; a file of that size is cut short hardly ever.
_WALK_TIMEOUT_S = 3_600


def refuse_cut_short(env: lmdb.Environment, folder: Path) -> None:
    """See to it that every page in use lies within the file.

    LMDB need not have written the last pages that it has numbered, if they were given up in the transaction that took
    them. So a file that is shorter than its numbers say is read to its end by another process first.

    Args:
        env: The environment, open for writing, before anything but its meta pages was read.
        folder: Where its file lies.

    Raises:
        CorruptStoreError: The file is cut short.
    """
    path = folder / DATA_FILE
    found = path.stat().st_size
    expected = (int(env.info()["last_pgno"]) + 1) * int(env.stat()["psize"])
    if found >= expected:
        return
    walk = [sys.executable, "-P", "-m", "jird_daemon.store.read_metadata", str(folder)]
    code = subprocess.run(walk, timeout=_WALK_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL).returncode
    if code:
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise CorruptStoreError(
            f"{path} is cut short: it has {found:,} bytes, and its pages reach to {expected:,} (reading it ended with "
            f"{how}); restore it from a backup, or move the state directory away and crawl again"
        )
    os.truncate(path, expected)  # longer, that is, so that the next start need not read it all


def refuse_lost_metadata(blobs: Path) -> None:
    """Refuse to make new metadata beside content that older metadata named: all of it would be removed.

    Raises:
        CorruptStoreError: There is content in the blobs folder.
    """
    volumes = [path for path in blobs.iterdir() if volume_number(path) is not None and path.stat().st_size]
    if volumes:
        raise CorruptStoreError(
            f"{blobs} holds {len(volumes)} volumes of page content, and there is no metadata that names it; restore "
            f"{blobs.parent}/meta.mdb from a backup, or move {blobs} away to begin anew",
            "STORE_LOST",
        )
