"""A site that has lost much of what it had has an outage, not a clearing-out: its pages stay (F71).

Lost is what answers "not found", and what leads to the one page to which the page lost before it led: a login, a notice
of maintenance. A site that moves leads from each page to another.

Pages that go one by one are retired at once (J173). When an origin has lost, within a day, more than a quarter of the
pages that could be found there, further losses are held: the page stays in results as it was, the log says so, and the
operator is warned once. An origin that still answers so a day later is believed; one that shows half of its pages again
has recovered.
"""

from msgspec.structs import replace

from jird_daemon.frontier.batch import FrontierBatch
from jird_daemon.log import get_logger
from jird_daemon.store.pages import document_count
from jird_daemon.store.tables import ORIGIN_HEALTH, OriginHealth

# One page in so many may go in a day.
LOSSES_SHARE = 4
# Fewer are an ordinary tidying-up. A site that is smaller than this can be emptied by an outage, and comes back whole
# with its next crawl.
LOSSES_MIN = 5
# Losses are counted over a day, and an outage that lasts as long is taken for the site's will.
WINDOW_S = 86_400.0

_log = get_logger("outage")


def note_alive(batch: FrontierBatch, origin_id: int) -> None:
    """Count a page that was there, if its origin is thought to be out of order."""
    health = batch.txn.get(ORIGIN_HEALTH, origin_id)
    if health is None or health.outage_since_s is None:
        return
    alive = health.alive + 1
    if alive * 2 > document_count(batch.txn, origin_id):
        _log.info("origin.recovered", origin=origin_id, alive=alive)
        batch.txn.delete(ORIGIN_HEALTH, origin_id)
    else:
        batch.txn.put(ORIGIN_HEALTH, origin_id, replace(health, alive=alive))


def is_redirect_held(batch: FrontierBatch, origin_id: int, origin: str, to_url: str) -> bool:
    """Count a page that could be found and now leads elsewhere; whether it must stay all the same."""
    target = to_url.partition("?")[0]  # a login is told where to return to
    health = _health(batch, origin_id)
    if health.target != target:
        batch.txn.put(ORIGIN_HEALTH, origin_id, replace(health, target=target))
        return False
    return is_held(batch, origin_id, origin)


def is_held(batch: FrontierBatch, origin_id: int, origin: str) -> bool:
    """Count a page that could be found and now is not there; whether it must stay all the same."""
    health = _health(batch, origin_id)
    health = replace(health, lost=health.lost + 1)
    had = document_count(batch.txn, origin_id) + health.lost - 1
    # Once it is one, it does not end because a login is found under many addresses.
    is_suspect = health.outage_since_s is not None or health.lost > max(LOSSES_MIN, had // LOSSES_SHARE)
    if is_suspect and health.outage_since_s is None:
        health = replace(health, outage_since_s=batch.now_s, alive=0)
        _log.warning("origin.outage", origin=origin, lost=health.lost, had=had, then="its other pages are kept")
    is_kept = is_suspect and health.outage_since_s is not None and batch.now_s - health.outage_since_s < WINDOW_S
    batch.txn.put(ORIGIN_HEALTH, origin_id, replace(health, lost=health.lost - 1) if is_kept else health)
    return is_kept


def _health(batch: FrontierBatch, origin_id: int) -> OriginHealth:
    """What is known of the origin. The losses of another day are forgotten, unless they were an outage's."""
    health = batch.txn.get(ORIGIN_HEALTH, origin_id)
    if health is None:
        return OriginHealth(window_s=batch.now_s)
    if health.outage_since_s is None and not 0 <= batch.now_s - health.window_s < WINDOW_S:
        return OriginHealth(window_s=batch.now_s)
    return health
