"""A page of LIMIT results from OFFSET on, as the daemon makes it, ROUNDS times; pages have BODY_PREFIX characters."""

import random
import sys

from measure import report
from stores.filled import each_us, fill, latency_figures, scratch_folder, texts, wait_until_indexed
from stores.parameters import Number, read_parameters
from testkit.pages import IndexedStore, make_page, page_url

CHARS_A_TOKEN = 5


def main() -> int:
    """Measure and report."""
    given = read_parameters(
        __doc__,
        N=Number(5_000, "pages"),
        LIMIT=Number(10, "results"),
        OFFSET=Number(20, "results before them", least=0),
        ROUNDS=Number(500, "times"),
        BODY_PREFIX=Number(10_000, "characters of each page", least=100),
    )
    prefix = given["BODY_PREFIX"]
    bodies = [text[:prefix] for text in texts(given["N"], tokens=min(4_000, max(10, prefix // CHARS_A_TOKEN)))]
    chance = random.Random(1)
    queries = [" ".join(chance.sample(chance.choice(bodies).split(), 2)) for _ in range(given["ROUNDS"])]
    with scratch_folder() as folder, IndexedStore(folder) as index:
        fill(index.store, (make_page(page_url(number), body) for number, body in enumerate(bodies)))
        wait_until_indexed(index)
        index.writer.compact()
        us = each_us(lambda query: index.searcher.search(query, given["LIMIT"], given["OFFSET"]), queries)
    report("search-page-bench", given, latency_figures("page", us))
    return 0


if __name__ == "__main__":
    sys.exit(main())
