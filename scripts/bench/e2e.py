"""Crawl real documentation over TLS through every part of jird, and search it meanwhile and afterwards.

Three sites of documentation in four languages (scripts/fetch_docs.py), served by nginx on loopback, crawled with
delay 0 and several connections a host, state on the disk of the checkout with synced commits. A page counts when it
can be found: the clock stops when the index holds all that was stored. Queries run through gRPC one after another,
from before the first page to the end, and again on the finished index.
"""

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests")]

from jird.v1 import status_service_pb2 as status_pb  # noqa: E402
from jird.v1 import status_service_pb2_grpc as status_grpc  # noqa: E402
from measure import ROOT, cpu_s, memory_bytes, percentile, process_tree, report  # noqa: E402
from testkit.daemon import Daemon  # noqa: E402
from testkit.documentation import DocumentationSites, load_queries  # noqa: E402

CRAWL_TIMEOUT_S = 300.0
PAUSE_BETWEEN_QUERIES_S = 0.1
"""So that the queries measure latency and do not compete with the crawl for the machine."""
QUERIES_AFTERWARDS = 500
MEMORY_SAMPLE_S = 0.5


@dataclass(slots=True)
class Watcher:
    """Threads that query and read memory until told to stop."""

    daemon: Daemon
    queries: list[str]
    latencies_ms: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> "Watcher":
        self._threads = [threading.Thread(target=work) for work in (self._query, self._sample)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _query(self) -> None:
        while not self._stop.wait(PAUSE_BETWEEN_QUERIES_S):
            self.latencies_ms.append(timed_query(self.daemon, random.choice(self.queries)))

    def _sample(self) -> None:
        while not self._stop.wait(MEMORY_SAMPLE_S):
            self.peak_bytes = max(self.peak_bytes, memory_bytes(process_tree(self.daemon.program.pid)))


def timed_query(daemon: Daemon, query: str) -> float:
    """Milliseconds of one search as a client sees it."""
    started = time.perf_counter()
    daemon.search(query)
    return (time.perf_counter() - started) * 1000


def wait_until_searchable(daemon: Daemon, run_id: int) -> int:
    """Wait until the index holds every page that the run stored; returns their number."""
    deadline = time.monotonic() + CRAWL_TIMEOUT_S
    daemon.wait_for_run(run_id, timeout_s=CRAWL_TIMEOUT_S)
    while time.monotonic() < deadline:
        status = daemon.stub(status_grpc.StatusServiceStub).GetStatus(status_pb.GetStatusRequest(), timeout=30)
        if status.index.view_generation >= status.index.generation:
            return int(status.index.document_count)
        time.sleep(0.02)
    raise TimeoutError(f"not searchable after {CRAWL_TIMEOUT_S} s")


def main() -> int:
    """Run it once and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, help="parse workers (default: 2)")
    parser.add_argument("--keep", type=Path, help="leave state, logs and configuration in this folder")
    args = parser.parse_args()
    work = args.keep or Path(tempfile.mkdtemp(prefix="e2e-", dir=ROOT / "build"))
    queries = [query.text for query in load_queries()]
    try:
        with DocumentationSites(work / "sites") as sites:
            crawl = {"crawl": {"workers": args.workers}}
            with Daemon(work / "jird", sites.settings(), crawl) as daemon:
                measure(daemon, sites, queries)
    finally:
        if not args.keep:
            shutil.rmtree(work)
    return 0


def cpu_by_kind(daemon: Daemon) -> dict[str, float]:
    """CPU seconds so far of each kind of process; serve's include answering the queries."""
    used: dict[str, float] = {}
    for name, pid in daemon.pids().items():
        kind = name.partition("-")[0]
        used[kind] = used.get(kind, 0.0) + cpu_s([pid])
    return used


def measure(daemon: Daemon, sites: DocumentationSites, queries: list[str]) -> None:
    """Crawl and search, and report both."""
    with Watcher(daemon, queries) as watcher:
        started, cpu_before = time.perf_counter(), cpu_by_kind(daemon)
        limits = {"max_depth": sites.depth, "max_pages": 10 * sites.page_count}
        run = daemon.start_crawl(*sites.seeds(), **limits)
        documents = wait_until_searchable(daemon, run.run_id)
        elapsed_s = time.perf_counter() - started
        cpu_used_s = {kind: after - cpu_before.get(kind, 0.0) for kind, after in cpu_by_kind(daemon).items()}
    afterwards_ms = [timed_query(daemon, random.choice(queries)) for _ in range(QUERIES_AFTERWARDS)]
    report(
        "e2e",
        {"sites": len(sites.roots), "pages": sites.page_count},
        {
            "documents": documents,
            "seconds": elapsed_s,
            "pages_per_second": documents / elapsed_s,
            "cpu_ms_per_page": 1000 * sum(cpu_used_s.values()) / documents,
            **{f"cpu_ms_per_page_{kind}": 1000 * used / documents for kind, used in cpu_used_s.items()},
            "peak_memory_mb": watcher.peak_bytes / 1e6,
            "search_during_p50_ms": percentile(watcher.latencies_ms, 0.50),
            "search_during_p99_ms": percentile(watcher.latencies_ms, 0.99),
            "search_after_p50_ms": percentile(afterwards_ms, 0.50),
            "search_after_p99_ms": percentile(afterwards_ms, 0.99),
        },
    )


if __name__ == "__main__":
    sys.exit(main())
