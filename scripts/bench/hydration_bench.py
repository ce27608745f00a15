"""LIMIT ranked page numbers of N read from the store as results with snippets, ROUNDS times."""

import random
import sys

from jird_daemon.index.hydrate import make_hits
from jird_daemon.index.query import parse_query
from jird_daemon.store import Store
from measure import report
from stores.filled import COMMON, fill, latency_figures, pages, scratch_folder, times_us
from stores.parameters import Number, read_parameters


def main() -> int:
    """Measure and report."""
    given = read_parameters(
        __doc__, N=Number(10_000, "pages"), LIMIT=Number(10, "results"), ROUNDS=Number(1_000, "times")
    )
    chance, terms = random.Random(1), parse_query(COMMON).terms
    with scratch_folder() as folder:
        store = Store.open(folder)
        fill(store, pages(given["N"]))
        limit = min(given["LIMIT"], given["N"])

        def hydrate() -> None:
            ranked = [(page, 1.0) for page in chance.sample(range(1, given["N"] + 1), limit)]
            hits, _ = make_hits(store, ranked, limit, terms)
            assert len(hits) == limit, f"{len(hits)} of {limit} pages are there"

        us = times_us(given["ROUNDS"], hydrate)
        store.close()
    report("hydration-bench", given, {**latency_figures("hydrate", us), "us_per_result": sum(us) / len(us) / limit})
    return 0


if __name__ == "__main__":
    sys.exit(main())
