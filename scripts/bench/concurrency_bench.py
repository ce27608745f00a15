"""QUERIES asked by each of WORKERS threads at once, of an index of N documents; and by one thread alone."""

import random
import sys
import threading
import time

from jird_native import Or, Query, Segment, Snapshot, Term
from measure import percentile, report
from stores.filled import build_segment, each_us, scratch_folder, texts
from stores.parameters import Number, read_parameters


def ask(snapshot: Snapshot, queries: list[Query], workers: int) -> tuple[float, list[float]]:
    """Seconds until all threads have asked everything, and microseconds of each query."""
    us: list[list[float]] = [[] for _ in range(workers)]

    def work(number: int) -> None:
        us[number] = each_us(lambda query: snapshot.search(query, 10), queries)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(workers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start, [each for row in us for each in row]


def main() -> int:
    """Measure and report."""
    given = read_parameters(
        __doc__,
        N=Number(100_000, "documents"),
        WORKERS=Number(4, "threads"),
        QUERIES=Number(2_000, "of each thread"),
    )
    chance = random.Random(1)
    queries: list[Query] = [Or(tuple(map(Term, chance.sample(text.split(), 3)))) for text in texts(given["QUERIES"])]
    with scratch_folder() as folder:
        build_segment(given["N"], folder / "all.qix")
        snapshot = Snapshot([(Segment.open(folder / "all.qix"), None)])
        ask(snapshot, queries, 1)
        one_s, one_us = ask(snapshot, queries, 1)
        all_s, all_us = ask(snapshot, queries, given["WORKERS"])
    figures = {
        "one_thread_queries_per_second": len(one_us) / one_s,
        "one_thread_p99_us": percentile(one_us, 0.99),
        "all_threads_queries_per_second": len(all_us) / all_s,
        "all_threads_p99_us": percentile(all_us, 0.99),
    }
    report("concurrency-bench", given, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
