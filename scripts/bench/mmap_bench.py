"""A mapped segment of N documents: what opening, the first queries and the later ones cost in time and memory."""

import os
import random
import sys

from jird_native import Or, Segment, Snapshot, Term
from measure import memory_bytes, report
from stores.filled import build_segment, each_us, latency_figures, scratch_folder, texts, times_us
from stores.parameters import Number, read_parameters

QUERIES = 1_000
OPENS = 20


def main() -> int:
    """Measure and report."""
    given = read_parameters(__doc__, N=Number(100_000, "documents"))
    chance = random.Random(1)
    words = [chance.sample(text.split(), 2) for text in texts(QUERIES)]
    queries = [Or((Term(first), Term(second))) for first, second in words]
    with scratch_folder() as folder:
        build_segment(given["N"], folder / "all.qix")
        open_us = times_us(OPENS, lambda: Segment.open(folder / "all.qix").close())
        before = memory_bytes([os.getpid()])
        segment = Segment.open(folder / "all.qix")
        snapshot = Snapshot([(segment, None)])
        rounds = {}
        for name in ("first", "second"):
            rounds[name] = each_us(lambda query: snapshot.search(query, 10), queries)
        memory, size = memory_bytes([os.getpid()]) - before, segment.bytes
    figures = {
        "open_min_us": min(open_us),
        "first_query_us": rounds["first"][0],
        **latency_figures("first_round", rounds["first"]),
        **latency_figures("second_round", rounds["second"]),
        "file_mb": size / 1e6,
        "anonymous_memory_mb": memory / 1e6,
    }
    report("mmap-bench", {**given, "queries": QUERIES}, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
