"""Files of the index folder, read only if they are files.

A pipe of a segment's name would make whoever opens it wait for ever, a folder of that name could not be replaced.
"""

import os
import shutil
import stat
from pathlib import Path


def read_regular(path: Path, most_bytes: int = -1) -> bytes:
    """The bytes of a regular file.

    Args:
        path: The file.
        most_bytes: What is read at most; -1: all.

    Raises:
        OSError: It is missing, cannot be read, or is something else than a file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a file")
        return file.read(most_bytes)


def remove_irregular(path: Path) -> None:
    """Remove what has the name of a derived file and is none: a folder, a pipe, a link that leads nowhere."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif not path.is_file():
        path.unlink(missing_ok=True)
