"""Engines in processes of their own: their indexes, made once, and the questions put to them."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from engines.environment import PACKAGES, peer_python
from measure import RESULTS, ROOT, memory_bytes
from texts.place import data_folder
from texts.queries import DrawnQuery

_WORKER = Path(__file__).with_name("worker.py")
_MEMORY_SAMPLE_S = 0.02


@dataclass(frozen=True, slots=True)
class EngineKind:
    """What the benchmarks know of an engine.

    Attributes:
        name: As in tables and files.
        formula: How it scores, in the words of exhaustive.c.
        scale: Its scores are those of the formula times this.
        tolerance: Relative difference of scores that its number format allows.
        is_ours: jird's own index, which is built anew whenever the extension changes.
        has_packages: It comes from PyPI, and so from an environment of its own.
        is_slow: Takes a thousand times as long as others, so it gets a sample of the queries.
        checked_kinds: Kinds of queries whose hits the formula describes.
    """

    name: str
    formula: str
    scale: float = 1.0
    tolerance: float = 1e-5
    is_ours: bool = False
    has_packages: bool = False
    is_slow: bool = False
    kinds: tuple[str, ...] = ("term", "or", "and", "phrase")
    checked_kinds: tuple[str, ...] = ("term", "or", "and", "phrase")


ENGINES = {
    each.name: each
    for each in (
        EngineKind("qix", "byte", tolerance=1e-12, is_ours=True),
        EngineKind("tantivy", "byte", scale=2.2, tolerance=1e-4, has_packages=True),
        EngineKind("bm25s", "exact", has_packages=True, kinds=("term", "or"), checked_kinds=("term", "or")),
        # Its phrases have an idf of their own.
        EngineKind("sqlite", "rsj", is_slow=True, checked_kinds=("term", "or", "and")),
    )
}


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """An index on disk, and what it took to build (when it was built)."""

    folder: Path
    documents: int
    cpu_s: float
    wall_s: float
    peak_memory_bytes: int
    index_bytes: int


def _python(kind: EngineKind) -> Path:
    return peer_python() if kind.has_packages else Path(sys.executable)


def _environment() -> dict[str, str]:
    """One thread each, and only what belongs to the benchmarks on the path."""
    single = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **single, "PYTHONPATH": ""}


def _key(kind: EngineKind) -> str:
    """What an index depends on besides its text."""
    if not kind.is_ours:
        return " ".join(PACKAGES) if kind.has_packages else sqlite3.sqlite_version
    from engines.qix import extension_stamp

    return extension_stamp()


def index_of(kind: EngineKind, text: Path, digest: str) -> BuiltIndex:
    """The engine's index of a text, made unless it is there; jird's own lies in the checkout, the others' beside."""
    above = RESULTS / "indexes" if kind.is_ours else data_folder() / "indexes"
    folder = above / f"{kind.name}-{digest}"
    record = folder / "built.json"
    if record.exists():
        kept = json.loads(record.read_text())
        if kept.pop("key") == _key(kind):
            return BuiltIndex(folder, **kept)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    built = build_index(kind, text, folder)
    kept = {name: getattr(built, name) for name in BuiltIndex.__slots__ if name != "folder"}
    record.write_text(json.dumps({**kept, "key": _key(kind)}))
    return built


def build_index(kind: EngineKind, text: Path, folder: Path, pipe: IO[bytes] | None = None) -> BuiltIndex:
    """Build an index in an empty folder, in a process of its own, and measure it.

    Args:
        kind: The engine.
        text: What to index; with a pipe, only its name.
        folder: Where to.
        pipe: What to read the text from instead of a file, for texts that are larger than a disk should hold.

    Raises:
        subprocess.CalledProcessError: The engine failed; it has said why.
    """
    print(f"building {kind.name}'s index of {text}", file=sys.stderr, flush=True)
    source = "/dev/stdin" if pipe else str(text.resolve())
    command = [str(_python(kind)), str(_WORKER), kind.name, "build", source, str(folder.resolve())]
    peak = 0
    with subprocess.Popen(
        command, stdin=pipe, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=_environment()
    ) as process:
        while process.poll() is None:
            peak = max(peak, memory_bytes([process.pid]))
            time.sleep(_MEMORY_SAMPLE_S)
        assert process.stdout is not None
        answer = process.stdout.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return BuiltIndex(folder, peak_memory_bytes=peak, index_bytes=size, **json.loads(answer))


class EngineProcess:
    """An engine with an open index, asked through pipes. A context manager; leaving it ends the process."""

    def __init__(self, kind: EngineKind, folder: Path) -> None:
        self.kind = kind
        command = [str(_python(kind)), str(_WORKER), kind.name, "serve", str(folder.resolve())]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=_environment()
        )
        hello = self._receive()
        self.open_ms, self.version = float(hello["open_ms"]), str(hello["version"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.kind.name} ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ask(self, **request: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._receive()

    def prepare(self, queries: Sequence[DrawnQuery]) -> None:
        """Make the engine's own form of the queries, before any clock runs."""
        self._ask(prepare=[(each.identity, each.kind, each.words) for each in queries])

    def run(self, queries: Sequence[DrawnQuery], k: int) -> list[int]:
        """Nanoseconds of each query, asked once."""
        return list(self._ask(run=[each.identity for each in queries], k=k)["ns"])

    def hits(self, queries: Sequence[DrawnQuery], k: int) -> list[list[tuple[int, float]]]:
        """What each query finds: (id, score), best first."""
        found = self._ask(hits=[each.identity for each in queries], k=k)["hits"]
        return [[(int(docid), float(score)) for docid, score in each] for each in found]

    @property
    def memory_bytes(self) -> int:
        """RssAnon plus RssShmem now."""
        return memory_bytes([self._process.pid])
