"""An index of N pages opened again: after an ordered stop, and when everything derived is gone."""

import shutil
import sys
import time
from pathlib import Path

from measure import report
from stores.filled import COMMON, fill, pages, scratch_folder, wait_until_indexed
from stores.parameters import Number, read_parameters
from testkit.pages import IndexedStore

ROUNDS = 5


def open_ms(folder: Path, count: int) -> float:
    """Milliseconds from nothing to an answer of the whole index."""
    start = time.perf_counter()
    with IndexedStore(folder) as index:
        index.writer.wait_until(lambda view: not view.is_rebuilding and bool(view.segments), 600.0)
        found = index.searcher.status().document_count
        assert found == count, f"{found} of {count} pages came back"
        index.find(COMMON, 10)
        return (time.perf_counter() - start) * 1000


def main() -> int:
    """Measure and report."""
    given = read_parameters(__doc__, N=Number(20_000, "pages"))
    with scratch_folder() as folder:
        with IndexedStore(folder) as index:
            fill(index.store, pages(given["N"]))
            wait_until_indexed(index)
        ordered = min(open_ms(folder, given["N"]) for _ in range(ROUNDS))
        shutil.rmtree(folder / "index")
        rebuilt = open_ms(folder, given["N"])
    figures = {
        "ordered_ms": ordered,
        "rebuild_ms": rebuilt,
        "rebuilt_pages_per_second": given["N"] / rebuilt * 1000,
    }
    report("restart-bench", {**given, "rounds": ROUNDS}, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
