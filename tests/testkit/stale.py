"""A store as an older release might have left it, which read every page otherwise than today's code does."""

from pathlib import Path

from jird_daemon.store import Store
from jird_daemon.store.pages import FetchedPage, store_page
from jird_daemon.store.tables import PAGES, URLS
from jird_daemon.store.text_pile import TextPile, encode_pile, pile_digest

# Pages of one transaction.
BATCH = 500


def read_otherwise(state_dir: Path) -> int:
    """Give every page with stored bytes other words and another title, and no links; returns how many there are.

    The daemon must not be running.
    """
    with Store.open(state_dir) as store:
        with store.read() as txn:
            url_ids = [url_id for url_id, page in txn.scan(PAGES) if page.content_digest and page.is_indexable]
        for start in range(0, len(url_ids), BATCH):
            _rewrite(store, url_ids[start : start + BATCH])
    return len(url_ids)


def _rewrite(store: Store, url_ids: list[int]) -> None:
    with store.write() as txn:
        for url_id in url_ids:
            page, url = txn.get(PAGES, url_id), txn.get(URLS, url_id)
            assert page is not None
            assert url is not None
            pile = TextPile(f"otherwise {url_id}")
            fetched = FetchedPage(
                url=url.url,
                fetch_time_s=page.fetch_time_s,
                pile_bytes=encode_pile(pile),
                pile_digest=pile_digest(pile),
                content=txn.get_blob(page.content_digest),
                title="otherwise",
                media_type=page.media_type,
                content_type=page.content_type,
                etag=page.etag,
                last_modified=page.last_modified,
                given=page.given,
            )
            store_page(txn, fetched, is_derived=True)
