"""What a page or a sitemap names enters the frontier, unless a guard that counts is against it."""

from collections.abc import Iterable

from jird_daemon.crawler.admission import Admission
from jird_daemon.crawler.visit import Target
from jird_daemon.frontier.batch import FrontierBatch
from jird_daemon.frontier.trail import Trails
from jird_daemon.log import get_logger

_log = get_logger("crawler")


def discover_found(batch: FrontierBatch, admission: Admission, target: Target, urls: Iterable[str], depth: int) -> None:
    """Queue what a page names and its run does not know yet.

    The first refusal of each guard in a run is a warning in the log, with the URL; the others are counted.
    """
    newcomers = admission.of(target.run_id).newcomers(Trails(batch.txn, target.run_id), target.origin, depth)
    batch.discover(target.run_id, urls, depth, admit=newcomers.admit)
    if not newcomers.refused:
        return
    known = batch.refused_so_far(target.run_id)
    for name, url in newcomers.examples.items():
        if name not in known:
            _log.warning(
                "trap.found", rule=name, url=url, origin=target.origin, run=target.run_id,
                then="what it leads to is bounded and counted",
            )  # fmt: skip
    batch.count_refused(target.run_id, newcomers.refused)
