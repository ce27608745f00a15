"""Words that no document holds, and words that most hold, asked of an index of N documents."""

import sys

from jird_native import Segment, Snapshot, Term
from measure import report
from stores.filled import ABSENT, COMMON, build_segment, latency_figures, scratch_folder, times_us
from stores.parameters import Number, read_parameters


def main() -> int:
    """Measure and report."""
    given = read_parameters(
        __doc__,
        N=Number(100_000, "documents"),
        ABSENT_ROUNDS=Number(20_000, "queries for a word that is nowhere"),
        COMMON_ROUNDS=Number(2_000, "queries for the commonest word"),
    )
    with scratch_folder() as folder:
        build_segment(given["N"], folder / "all.qix")
        snapshot = Snapshot([(Segment.open(folder / "all.qix"), None)])
        df = snapshot.df(COMMON)
        absent_us = times_us(given["ABSENT_ROUNDS"], lambda: snapshot.search(Term(ABSENT), 10))
        common_us = times_us(given["COMMON_ROUNDS"], lambda: snapshot.search(Term(COMMON), 10))
    figures = {**latency_figures("absent", absent_us), **latency_figures("common", common_us), "common_df": df}
    report("core-query-bench", given, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
