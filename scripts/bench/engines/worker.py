"""The process that holds one engine: `worker.py ENGINE build TEXT FOLDER` or `worker.py ENGINE serve FOLDER`.

`build` prints what it took as a line of JSON. `serve` reads requests as lines of JSON and answers each with one:

    {"prepare": [[id, kind, words], ...]}      -> {"count": n}
    {"run": [id, ...], "k": k}                 -> {"ns": [nanoseconds of each query]}
    {"hits": [id, ...], "k": k}                -> {"hits": [[[document, score], ...], ...]}

Answers go to the standard output that the process was started with; whatever an engine prints goes to its errors.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from engines.engine import Engine  # noqa: E402


def load(name: str) -> Engine:
    """Make the engine of that name; only its own modules are imported."""
    if name == "qix":
        from engines.qix import Qix

        return Qix()
    from engines import peers

    makers: dict[str, Callable[[], Engine]] = {
        "tantivy": peers.Tantivy,
        "sqlite": peers.SqliteFts5,
        "bm25s": peers.Bm25s,
    }
    return makers[name]()


def build(engine: Engine, text: Path, folder: Path, out: TextIO) -> None:
    """Build an index and tell what it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    count = engine.build(text, folder)
    figures = {"documents": count, "cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
    print(json.dumps(figures), file=out, flush=True)


class Server:
    """Answers requests with an open engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._prepared: dict[str, Any] = {}

    def prepare(self, queries: list[tuple[str, str, list[str]]]) -> dict[str, Any]:
        """Make the engine's own form of each query."""
        self._prepared = {identity: self._engine.prepare(kind, words) for identity, kind, words in queries}
        return {"count": len(self._prepared)}

    def run(self, identities: list[str], k: int) -> dict[str, Any]:
        """Time each query once."""
        search, clock = self._engine.search, time.perf_counter_ns
        ns = []
        for query in [self._prepared[identity] for identity in identities]:
            start = clock()
            search(query, k)
            ns.append(clock() - start)
        return {"ns": ns}

    def hits(self, identities: list[str], k: int) -> dict[str, Any]:
        """What each query finds."""
        found = (self._engine.search(self._prepared[identity], k) for identity in identities)
        return {"hits": [self._engine.hits(each) for each in found]}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what one request asks."""
        if "prepare" in request:
            return self.prepare(request["prepare"])
        if "run" in request:
            return self.run(request["run"], request["k"])
        return self.hits(request["hits"], request["k"])


def serve(engine: Engine, folder: Path, out: TextIO) -> None:
    """Open the index, tell version and time, and answer requests until there are no more."""
    start = time.perf_counter()
    engine.open(folder)
    hello = {"open_ms": (time.perf_counter() - start) * 1000, "version": engine.version()}
    print(json.dumps(hello), file=out, flush=True)
    engine.warm()
    server = Server(engine)
    gc.collect()
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        print(json.dumps(server.answer(json.loads(line))), file=out, flush=True)


def main() -> None:
    """Hold the engine that the arguments name."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    engine = load(sys.argv[1])
    if sys.argv[2] == "build":
        build(engine, Path(sys.argv[3]), Path(sys.argv[4]), out)
    else:
        serve(engine, Path(sys.argv[3]), out)


if __name__ == "__main__":
    main()
