"""N pages stored in a synced transaction each, then as many in batches, as a crawl at full speed commits them."""

import sys
import time

from jird_daemon.store import Store
from jird_daemon.store.pages import FetchedPage, store_page
from measure import report
from stores.filled import each_us, fill, latency_figures, pages, scratch_folder
from stores.parameters import Number, read_parameters


def main() -> int:
    """Measure and report."""
    given = read_parameters(__doc__, N=Number(1_000, "pages"))
    count = given["N"]
    with scratch_folder() as folder:
        store = Store.open(folder)

        def ingest(page: FetchedPage) -> None:
            with store.write() as txn:
                store_page(txn, page)

        us = each_us(ingest, list(pages(count)))
        batch = list(pages(count, first=count))
        start = time.perf_counter()
        fill(store, iter(batch))
        batch_s = time.perf_counter() - start
        store.close()
    figures = {
        **latency_figures("transaction", us),
        "pages_per_second": count / (sum(us) / 1e6),
        "pages_per_second_in_batches": count / batch_s,
    }
    report("ingest-transaction-bench", given, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
