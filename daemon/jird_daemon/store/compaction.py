"""Writing the metadata anew without the free pages in it.

LMDB uses freed pages again and never gives them back to the disk: a file that was large once stays large (F95). The
copy is made beside the file and takes its place in one step, so a kill leaves one or the other, both whole.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from jird_daemon.errors import StoreFullError
from jird_daemon.store.blobs import sync_folder
from jird_daemon.store.env import METADATA_FOLDER, Store
from jird_daemon.store.metadata_file import DATA_FILE

# Where the copy is made; what a kill leaves there goes with the next compaction.
COPY_FOLDER = "meta.compact"


@dataclass(frozen=True, slots=True)
class Compaction:
    """Bytes of the metadata's file before and afterwards."""

    before_bytes: int
    after_bytes: int


def compact_metadata(state_dir: Path) -> Compaction:
    """Compact the metadata of a state directory whose lock the caller holds.

    Raises:
        StoreFullError: The disk has no room for the copy; nothing is changed.
        SchemaVersionError: It is not a jird store, or one of another layout.
        CorruptStoreError: Its metadata is not all there.
        OSError: It cannot be read or written.
    """
    current, folder = state_dir / METADATA_FOLDER / DATA_FILE, state_dir / COPY_FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    with Store.open(state_dir) as store:
        before_bytes = current.stat().st_size
        # A copy has at most what is in use.
        if store.free_bytes < store.metadata_bytes:
            message = f"{state_dir}: {store.free_bytes:,} bytes free, the copy may take {store.metadata_bytes:,}"
            raise StoreFullError(message, "DISK_FULL")
        folder.mkdir(mode=0o750)
        try:
            store.copy_metadata(folder)
            _take_place(folder / DATA_FILE, current)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return Compaction(before_bytes, current.stat().st_size)


def _take_place(copy: Path, current: Path) -> None:
    """Let a whole copy be the file, with the owner and the mode that it had."""
    was = current.stat()
    descriptor = os.open(copy, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.fchmod(descriptor, was.st_mode & 0o777)
        os.fchown(descriptor, was.st_uid, was.st_gid)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    copy.replace(current)
    sync_folder(current.parent)
