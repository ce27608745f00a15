"""Where what benchmarks need is kept, and the small C programs among it.

Everything that can be made again lies below one folder: build/bench/data, or what JIRD_BENCH_DATA names, so that a
corpus outlives `make clean` and serves several checkouts.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from measure import ROOT

FOLDER_VARIABLE = "JIRD_BENCH_DATA"
_SOURCES = Path(__file__).resolve().parent
_COMPILE = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Werror")


def data_folder() -> Path:
    """The folder for corpora, indexes of other engines and programs; made if it is not there."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or ROOT / "build" / "bench" / "data").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def program(name: str, *sources: str) -> Path:
    """Compile a C program of this folder, unless it was compiled from the same sources before.

    Raises:
        subprocess.CalledProcessError: The compiler refuses it; it has said why.
    """
    digest = hashlib.blake2b(digest_size=8)
    for source in (*sorted(_SOURCES.glob("*.h")), *(_SOURCES / source for source in sources)):
        digest.update(source.read_bytes())
    target = data_folder() / "programs" / f"{name}-{digest.hexdigest()}"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        draft = target.with_suffix(f".{os.getpid()}")
        files = [str(_SOURCES / source) for source in sources]
        subprocess.run([os.environ.get("CC", "cc"), *_COMPILE, "-o", str(draft), *files, "-lm"], check=True)
        draft.replace(target)
    return target


def file_digest(path: Path) -> str:
    """BLAKE2b of a file's bytes, 32 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
