"""Stores and segments full of generated pages."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "tests")]

from jird_daemon.store import Store  # noqa: E402
from jird_daemon.store.pages import FetchedPage, one_generation, store_page  # noqa: E402
from jird_native import SegmentBuilder  # noqa: E402
from jird_settings.tables import Index  # noqa: E402
from measure import RESULTS, percentile  # noqa: E402
from testkit.pages import QUIET, IndexedStore, make_page, page_url  # noqa: E402
from texts.generated import generator  # noqa: E402

T = TypeVar("T")

TOKENS = 100
"""Of a page, on average."""
SEED = 7
COMMON, RARE, ABSENT = "ba", "zuzi", "nowhere"
"""Words of the generated text: the commonest, one of the rarer ones of two syllables, and none of it."""
_BATCH = 256


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder on the checkout's disk that goes at the end."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=RESULTS, prefix="store-") as folder:
        yield Path(folder)


def texts(count: int, seed: int = SEED, tokens: int = TOKENS) -> Iterator[str]:
    """Generated texts, one after the other."""
    with subprocess.Popen(generator(count, seed, tokens), stdout=subprocess.PIPE, text=True) as source:
        assert source.stdout is not None
        for line in source.stdout:
            yield line.rstrip("\n")


def pages(count: int, seed: int = SEED, first: int = 0) -> Iterator[FetchedPage]:
    """Pages with generated texts, numbered from `first`."""
    for number, text in enumerate(texts(count, seed), first):
        yield make_page(page_url(number), text, title=text[:40])


def fill(store: Store, new: Iterator[FetchedPage]) -> None:
    """Store pages as a bulk import does, some hundreds in a transaction."""
    for batch in batched_pages(new):
        with store.write() as txn, one_generation(txn):
            for page in batch:
                store_page(txn, page)


def batched_pages(new: Iterator[FetchedPage]) -> Iterator[Sequence[FetchedPage]]:
    """Pages in batches of a transaction each."""
    batch: list[FetchedPage] = []
    for page in new:
        batch.append(page)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


@contextmanager
def indexed_store(count: int, settings: Index = QUIET) -> Iterator[IndexedStore]:
    """A store of so many pages with a compacted index, its writer and a searcher, in this process."""
    with scratch_folder() as folder, IndexedStore(folder, settings) as index:
        fill(index.store, pages(count))
        wait_until_indexed(index)
        index.writer.compact()
        yield index


def wait_until_indexed(index: IndexedStore, timeout_s: float = 600.0) -> None:
    """Wait until the view holds all that the store has."""
    with index.store.read() as txn:
        generation = txn.number("index_generation")
    index.writer.notify()
    index.writer.wait_until(lambda view: view.generation >= generation, timeout_s)


def build_segment(count: int, path: Path) -> None:
    """Write a segment of generated documents."""
    builder = SegmentBuilder()
    for page_id, text in enumerate(texts(count), 1):
        builder.add_terms(page_id, text.encode())
    builder.write(path, sync=False)


def times_us(rounds: int, work: Callable[[], object]) -> list[float]:
    """Microseconds of each round of a piece of work."""
    return each_us(lambda _: work(), range(rounds))


def each_us(work: Callable[[T], object], items: Iterable[T]) -> list[float]:
    """Microseconds of a piece of work on each item."""
    clock, found = time.perf_counter_ns, []
    for item in items:
        start = clock()
        work(item)
        found.append((clock() - start) / 1000)
    return found


def latency_figures(name: str, us: Sequence[float]) -> dict[str, float]:
    """Least, middle and 99th percentile of some times, in microseconds."""
    return {
        f"{name}_min_us": min(us),
        f"{name}_p50_us": percentile(us, 0.5),
        f"{name}_p99_us": percentile(us, 0.99),
    }
