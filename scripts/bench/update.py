"""Query a live index while pages are replaced, and while nothing happens.

Two processes, as in the daemon: one stores pages and runs the index writer with its merges and checkpoints, at lower
priority; the other holds the store read-only and the searcher, and takes each view as it comes. Queries of one to
three words and phrases run at a steady pace, first on the quiet index, then while pages are replaced.
"""

import argparse
import itertools
import random
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jird_daemon.control import View
from jird_daemon.index.searcher import Searcher
from jird_daemon.store import Store
from measure import percentile, report
from stores.filled import scratch_folder, texts
from stores.replacing import Replacer

DOCUMENTS = 30_000
RATE = 200
SECONDS = 60
QUIET_SECONDS = 20
PAUSE_S = 0.004
"""Between queries, so that they measure latency and leave the writer its share of the machine."""
QUERIES = 1_000
LIMIT = 10


@dataclass(slots=True)
class Viewer:
    """Takes views from the writer's process in a thread of its own, as the daemon's serve process does."""

    searcher: Searcher
    replacer: Replacer
    segments: list[int] = field(default_factory=list)
    set_view_ms: list[float] = field(default_factory=list)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Use each view as it comes, until there are no more."""
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait until the writer has ended."""
        assert self._thread is not None, "not started"
        self._thread.join()

    def _follow(self) -> None:
        for view in self.replacer.views():
            self._take(view)

    def _take(self, view: View) -> None:
        start = time.perf_counter()
        self.searcher.set_view(view)
        self.set_view_ms.append((time.perf_counter() - start) * 1000)
        self.segments.append(len(view.segments))
        self.replacer.acknowledge(view)


def draw_queries(count: int, chance: random.Random) -> list[str]:
    """Queries as people type them: one to three words, every fourth in quotes."""
    drawn = []
    for number, text in enumerate(texts(count)):
        words = text.split()
        at, length = chance.randrange(len(words) - 3), chance.randint(1, 3)
        phrase = " ".join(words[at : at + max(2, length)])
        drawn.append(f'"{phrase}"' if number % 4 == 0 else " ".join(chance.sample(words, length)))
    return drawn


def ask(searcher: Searcher, queries: Sequence[str], seconds: float) -> list[float]:
    """Ask one query after the other for so long; gives milliseconds of each."""
    end, found = time.monotonic() + seconds, []
    for query in itertools.cycle(queries):
        if time.monotonic() >= end:
            break
        start = time.perf_counter()
        searcher.search(query, LIMIT, 0)
        found.append((time.perf_counter() - start) * 1000)
        time.sleep(PAUSE_S)
    return found


def latencies(name: str, ms: Sequence[float]) -> dict[str, float]:
    """Middle and 99th percentile."""
    return {f"{name}_p50_ms": percentile(ms, 0.5), f"{name}_p99_ms": percentile(ms, 0.99)}


def measure(folder: Path, given: argparse.Namespace, seed: int) -> dict[str, float]:
    """Fill, ask, replace and ask."""
    queries = draw_queries(QUERIES, random.Random(seed))
    with Replacer(folder, given.documents, given.rate, seed) as replacer:
        view = replacer.wait_until_filled()
        store = Store.open(folder, readonly=True)
        searcher = Searcher(store, folder / "index")
        searcher.set_view(view)
        viewer = Viewer(searcher, replacer)
        ask(searcher, queries, given.quiet_seconds / 4)
        quiet_ms = ask(searcher, queries, given.quiet_seconds)
        viewer.start()
        replacer.start()
        busy_ms = ask(searcher, queries, given.seconds)
        done = replacer.stop()
        viewer.join()
        searcher.close()
        store.close()
    quiet, busy = percentile(quiet_ms, 0.99), percentile(busy_ms, 0.99)
    return {
        **latencies("quiet", quiet_ms),
        **latencies("busy", busy_ms),
        "busy_p99_as_multiple_of_quiet": busy / quiet,
        "replaced_per_second": done.replaced / done.seconds,
        "segments_mean": sum(viewer.segments) / max(1, len(viewer.segments)),
        "segments_max": max(viewer.segments, default=0),
        "views": len(viewer.segments),
        "set_view_p99_ms": percentile(viewer.set_view_ms or [0.0], 0.99),
        "writer_cpu_share": done.cpu_s / done.seconds,
        "writer_peak_memory_mb": done.peak_memory_bytes / 1e6,
    }


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help=f"in the index (default: {DOCUMENTS:,})")
    parser.add_argument("--rate", type=int, default=RATE, help=f"pages replaced a second (default: {RATE})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of replacing (default: {SECONDS})")
    parser.add_argument("--quiet-seconds", type=float, default=QUIET_SECONDS, help=f"before (default: {QUIET_SECONDS})")
    parser.add_argument("--seed", type=int, help="of replacements and queries (default: drawn)")
    given = parser.parse_args()
    if min(given.documents, given.rate) < 1 or min(given.seconds, given.quiet_seconds) <= 0:
        parser.error("all numbers must be above 0")
    seed = random.randrange(1 << 31) if given.seed is None else given.seed
    with scratch_folder() as folder:
        figures = measure(folder, given, seed)
    parameters = {**vars(given), "seed": seed, "limit": LIMIT, "pause_ms": PAUSE_S * 1000}
    report("update", parameters, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
