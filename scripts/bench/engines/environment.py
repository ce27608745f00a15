"""A virtual environment of the benchmarks' own, for engines that jird does not depend on.

Versions are pinned, so that figures of two days can be compared; docs/performance.md names them with the figures.
"""

import subprocess
import sys
import venv
from pathlib import Path

from texts.place import data_folder

PACKAGES = (
    "bm25s==0.3.16",
    "llvmlite==0.50.0",
    "numba==0.68.1",
    "numpy==2.4.6",
    "scrapy==2.19.0",
    "tantivy==0.27.0",
    "trafilatura==2.3.1",
    "lxml_html_clean==0.4.6",
)
_STAMP = "jird-bench-packages"


class PeersMissingError(Exception):
    """The engines cannot be installed; the message says why."""


def peer_python() -> Path:
    """The interpreter that has the peers; installed at the first call (half a minute, 150 MB).

    Raises:
        PeersMissingError: pip failed.
    """
    folder = data_folder() / "environment"
    python, stamp = folder / "bin" / "python", folder / _STAMP
    wanted = "\n".join((*PACKAGES, sys.version))
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr, flush=True)
    venv.create(folder, with_pip=True, clear=True)
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", *PACKAGES]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise PeersMissingError(f"pip ended with {done.returncode}: {done.stderr.strip().splitlines()[-1]}")
    stamp.write_text(wanted)
    return python
