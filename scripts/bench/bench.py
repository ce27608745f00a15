"""N pages through store and index, once: stored, indexed, searched, and found again after a restart."""

import os
import random
import sys
import time

from measure import memory_bytes, report
from stores.filled import COMMON, each_us, fill, latency_figures, pages, scratch_folder, texts, wait_until_indexed
from stores.parameters import Number, read_parameters
from testkit.pages import IndexedStore

QUERIES = 500


def main() -> int:
    """Measure and report."""
    given = read_parameters(__doc__, N=Number(20_000, "pages"))
    count = given["N"]
    words = [random.Random(1).sample(text.split(), 2) for text in texts(min(QUERIES, count))]
    with scratch_folder() as folder:
        with IndexedStore(folder) as index:
            start = time.perf_counter()
            fill(index.store, pages(count))
            stored = time.perf_counter()
            wait_until_indexed(index)
            indexed = time.perf_counter()
            index.writer.compact()
            compacted = time.perf_counter()
            queries = [" ".join(each) for each in words]
            search_us = each_us(lambda query: index.searcher.search(query, 10, 0), queries)
            memory = memory_bytes([os.getpid()])
        again = time.perf_counter()
        with IndexedStore(folder) as index:
            assert index.find(COMMON, 1), "nothing is found after a restart"
            restarted = time.perf_counter()
    figures = {
        "stored_pages_per_second": count / (stored - start),
        "searchable_pages_per_second": count / (indexed - start),
        "compact_ms": (compacted - indexed) * 1000,
        **latency_figures("search", search_us),
        "restart_to_first_hit_ms": (restarted - again) * 1000,
        "memory_mb": memory / 1e6,
    }
    report("bench", given, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
