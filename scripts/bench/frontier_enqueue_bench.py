"""URLS pass a run's rules and are discovered in one transaction, new ones first, then ROUNDS times the same again."""

import sys
import time

from jird_daemon.crawler.admission import NO_RULES, Admission, make_url_policy
from jird_daemon.frontier.batch import FrontierBatch, SeenRows
from jird_daemon.frontier.runs import RunPlan, RunScope, start_run
from jird_daemon.frontier.trail import Trails
from jird_daemon.store import Store
from jird_daemon.store.tables import Scope
from jird_settings import load
from measure import report
from stores.filled import latency_figures, scratch_folder, times_us
from stores.parameters import Number, read_parameters

HOSTS = 100
NOW_S = 1_750_000_000.0


def main() -> int:
    """Measure and report."""
    given = read_parameters(__doc__, URLS=Number(50_000, "discovered"), ROUNDS=Number(10, "repetitions"))
    count = given["URLS"]
    urls = [f"https://host{number % HOSTS}.test/page/{number}" for number in range(count)]
    settings = load(None, {})
    rules = Admission(make_url_policy(settings), settings.crawl).make(RunScope.open(), NO_RULES, 3)
    with scratch_folder() as folder:
        store, seen = Store.open(folder), SeenRows()
        with store.write() as txn:
            run_id = start_run(txn, RunPlan((urls[0],), 3, count, Scope.OPEN, 2 * count), NOW_S, 10).run_id

        def enqueue() -> int:
            with store.write() as txn:
                batch = FrontierBatch(txn, seen, NOW_S)
                newcomers = rules.newcomers(Trails(txn, run_id), "https://host0.test", 1)
                found = rules.select("https://host0.test", urls, 1)
                added = batch.discover(run_id, found.urls, 1, admit=newcomers.admit)
                batch.flush()
            batch.committed()
            return added

        start = time.perf_counter()
        added = enqueue()
        new_s = time.perf_counter() - start
        assert added >= count - 1, f"{added} of {count} URLs were new"
        known_us = times_us(given["ROUNDS"], enqueue)
        store.close()
    figures = {
        "new_urls_per_second": count / new_s,
        "known_urls_per_second": count * len(known_us) / (sum(known_us) / 1e6),
        **latency_figures("known_batch", known_us),
    }
    report("frontier-enqueue-bench", {**given, "hosts": HOSTS}, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
