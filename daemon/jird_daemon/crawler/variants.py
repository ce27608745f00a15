"""Pages that stand back for another one, and come forward again when that one turns out to be none (F25).

A page that names another as canonical is kept out of results once that one was admitted to the run. When the canonical
page then redirects, is gone or cannot be fetched, one of them must be found all the same: never neither.
"""

from jird_daemon.store.pages import mark_indexable
from jird_daemon.store.tables import INLINKS, PAGES
from jird_daemon.store.txn import Txn

NOT_CANONICAL = "not canonical"
# Variants of one page that are looked at; a page with more is named by a whole site and is no loss.
VARIANTS_MAX = 100


def restore_variants(txn: Txn, url_id: int, url: str) -> int:
    """Put pages back into results that stood back for this URL; returns how many.

    Args:
        txn: The write transaction.
        url_id: Number of the URL that cannot be found.
        url: The URL.
    """
    variants = []
    for seen, ((_, from_id), _) in enumerate(txn.scan(INLINKS, (url_id, 0), (url_id + 1, 0))):
        if seen == VARIANTS_MAX:
            break
        page = txn.get(PAGES, from_id)
        if page is not None and page.not_indexable_reason == NOT_CANONICAL and page.canonical_url == url:
            variants.append(from_id)
    for from_id in variants:
        mark_indexable(txn, from_id)
    return len(variants)
