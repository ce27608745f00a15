"""A mapped index of CAPACITY_N generated documents: build, open, CAPACITY_ROUNDS of every query."""

import random
import sys

from engines.large import measure_large
from measure import report
from stores.parameters import Number, read_parameters


def main() -> int:
    """Measure and report."""
    given = read_parameters(
        __doc__,
        CAPACITY_N=Number(1_000_000, "documents"),
        CAPACITY_ROUNDS=Number(5, "times that each query runs"),
        TOKENS=Number(100, "of a document, on average"),
    )
    seed = random.randrange(1 << 31)
    parameters, figures = measure_large(given["CAPACITY_N"], given["TOKENS"], seed, given["CAPACITY_ROUNDS"])
    report("mmap-capacity-bench", {**given, **parameters}, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
