"""A page with LINKS links stored ROUNDS times, half of its links new each time."""

import sys

from jird_daemon.store import Store
from jird_daemon.store.pages import store_page
from jird_daemon.store.tables import Link
from measure import report
from stores.filled import each_us, latency_figures, scratch_folder
from stores.parameters import Number, read_parameters
from testkit.pages import make_page, page_url


def main() -> int:
    """Measure and report."""
    given = read_parameters(__doc__, LINKS=Number(1_000, "of the page"), ROUNDS=Number(50, "times that it changes"))
    count = given["LINKS"]
    with scratch_folder() as folder:
        store = Store.open(folder)

        def change(number: int) -> None:
            first = number * (count // 2)
            links = tuple(Link(page_url(link), f"link {link}") for link in range(first, first + count))
            with store.write() as txn:
                store_page(txn, make_page(page_url(0), f"version {number}", links=links))

        us = each_us(change, range(given["ROUNDS"]))
        store.close()
    figures = {**latency_figures("replace", us), "links_per_second": count * len(us) / (sum(us) / 1e6)}
    report("link-replacement-bench", given, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
