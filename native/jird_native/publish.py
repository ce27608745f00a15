"""Putting a segment file in place: written under a temporary name, made read-only, renamed (J20)."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

_serial = count()


def sync_folder(folder: Path) -> None:
    """Bring a folder's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def publish(path: Path, sync: bool, write: Callable[[int, bytes], None]) -> None:
    """Let `write(descriptor, folder)` fill a new file, and put it at `path`, replacing what is there.

    A failure or a crash before the end leaves what was at `path`. With `sync`, file and folder are on the disk at
    return; `write` itself syncs the file.
    """
    folder = path.parent
    temporary = folder / f".{path.name}.{os.getpid()}-{next(_serial)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            write(descriptor, os.fsencode(folder))
            os.fchmod(descriptor, 0o444)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(folder)
