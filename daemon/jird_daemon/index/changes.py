"""The store's list of index changes: what to index since a generation, and forgetting what a checkpoint covers."""

from dataclasses import dataclass

from jird_daemon.store import Store
from jird_daemon.store.pages import DOCUMENT_COUNT, INDEX_GENERATION
from jird_daemon.store.tables import INDEX_CHANGES, META

# META: changes up to this generation may be gone.
PRUNED_KEY = "index_pruned"
# Rows deleted in one transaction: some milliseconds, since the crawl waits for it.
_PRUNED_A_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Changes:
    """Pages changed after one generation and up to another."""

    page_ids: tuple[int, ...]  # each once, in the order of its last change
    generation: int  # that is reached with them
    is_last: bool  # nothing more was there to read


def read_changes(store: Store, after: int, limit: int) -> Changes:
    """Changes after a generation: at most `limit` pages, and as many more as share the last one's generation."""
    pages: dict[int, None] = {}
    reached = after
    with store.read() as txn:
        for (generation, page_id), _ in txn.scan(INDEX_CHANGES, (after + 1, 0)):
            if generation != reached and len(pages) >= limit:
                return Changes(tuple(pages), reached, is_last=False)
            pages.pop(page_id, None)
            pages[page_id] = None
            reached = generation
        return Changes(tuple(pages), max(reached, txn.number(INDEX_GENERATION)), is_last=True)


def store_generation(store: Store) -> tuple[int, int]:
    """The store's index generation, and the one up to which its changes may be gone."""
    with store.read() as txn:
        return txn.number(INDEX_GENERATION), txn.get(META, PRUNED_KEY) or 0


def count_documents(store: Store) -> tuple[int, int]:
    """The store's index generation, and how many pages can be found at it."""
    with store.read() as txn:
        return txn.number(INDEX_GENERATION), txn.number(DOCUMENT_COUNT)


def prune_changes(store: Store, generation: int) -> None:
    """Forget the changes up to a generation that a published manifest covers."""
    while True:
        with store.write() as txn:
            keys = []
            for key, _ in txn.scan(INDEX_CHANGES, None, (generation + 1, 0)):
                keys.append(key)
                if len(keys) >= _PRUNED_A_BATCH:
                    break
            if not keys:
                return
            for key in keys:
                txn.delete(INDEX_CHANGES, key)
            txn.put(META, PRUNED_KEY, max(txn.get(META, PRUNED_KEY) or 0, keys[-1][0]))
