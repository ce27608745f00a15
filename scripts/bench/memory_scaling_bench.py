"""Memory (RssAnon plus RssShmem) as N grows fourfold, in each MODE.

file: a mapped segment that is searched. store: a store that is read. batch: a store that pages are written to and an
index that follows. Each measurement has a process of its own; MODE picks some of them (file-store-batch is all).
"""

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from jird_daemon.store import Store
from jird_daemon.store.tables import PAGES
from jird_native import Segment, Snapshot, Term
from measure import memory_bytes, report
from stores.filled import COMMON, build_segment, fill, pages, scratch_folder, wait_until_indexed
from testkit.pages import IndexedStore

MODES = ("file", "store", "batch")
DOCUMENTS = 5_000
QUERIES = 200


def measure_file(count: int, folder: Path) -> int:
    """Bytes that opening and searching a segment adds."""
    build_segment(count, folder / "all.qix")
    before = memory_bytes([os.getpid()])
    snapshot = Snapshot([(Segment.open(folder / "all.qix"), None)])
    for _ in range(QUERIES):
        snapshot.search(Term(COMMON), 10)
    return memory_bytes([os.getpid()]) - before


def measure_store(count: int, folder: Path) -> int:
    """Bytes that reading every page's row adds."""
    store = Store.open(folder)
    fill(store, pages(count))
    before = memory_bytes([os.getpid()])
    with store.read() as txn:
        read = sum(1 for _ in txn.scan(PAGES))
    assert read == count, f"{read} of {count} pages are there"
    found = memory_bytes([os.getpid()]) - before
    store.close()
    return found


def measure_batch(count: int, folder: Path) -> int:
    """Bytes of the process after so many pages were stored and indexed."""
    with IndexedStore(folder) as index:
        before = memory_bytes([os.getpid()])
        fill(index.store, pages(count))
        wait_until_indexed(index)
        return memory_bytes([os.getpid()]) - before


MEASURES: dict[str, Callable[[int, Path], int]] = {
    "file": measure_file,
    "store": measure_store,
    "batch": measure_batch,
}


def _work(mode: str, count: int, out: Connection) -> None:
    with scratch_folder() as folder:
        out.send(MEASURES[mode](count, folder))


def in_own_process(mode: str, count: int) -> int:
    """Measure in a new process; gives bytes."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(mode, count, sender))
    process.start()
    sender.close()
    try:
        return int(receiver.recv())
    finally:
        process.join()


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", default=os.environ.get("MODE") or "-".join(MODES), help="modes, joined by a dash")
    parser.add_argument("--n", type=int, default=int(os.environ.get("N") or DOCUMENTS), help="documents")
    arguments = parser.parse_args()
    modes = arguments.mode.split("-")
    if unknown := set(modes) - set(MODES):
        parser.error(f"mode {', '.join(sorted(unknown))} is unknown; there are {', '.join(MODES)}")
    if arguments.n < 1:
        parser.error(f"N is {arguments.n}; it must be at least 1")
    figures: dict[str, float] = {}
    for mode in modes:
        small, large = (in_own_process(mode, count) for count in (arguments.n, 4 * arguments.n))
        figures |= {f"{mode}_mb": small / 1e6, f"{mode}_fourfold_mb": large / 1e6}
        figures[f"{mode}_bytes_per_further_document"] = (large - small) / (3 * arguments.n)
    report("memory-scaling-bench", {"MODE": arguments.mode, "N": arguments.n}, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
