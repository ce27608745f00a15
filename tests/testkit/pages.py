"""Pages for the store and an index that follows it, for tests that need no crawl."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jird_daemon.control import View
from jird_daemon.index.searcher import Searcher
from jird_daemon.index.writer import IndexWriter
from jird_daemon.store import Store
from jird_daemon.store.pages import FetchedPage, retire_page, store_page
from jird_daemon.store.text_pile import TextPile, encode_pile, pile_digest
from jird_settings.tables import Index

TIMEOUT_S = 30.0
# Quick to seal, and no checkpoint or merge that a test did not ask for.
QUIET = Index(seal_interval_ms=10, checkpoint_every=1_000_000, merge_segments=1_000, max_overlay_documents=1_000_000)


def page_url(number: int) -> str:
    """URL of a numbered page."""
    return f"https://example.org/{number}"


def make_page(url: str, text: str, time_s: float = 1000.0, **fields: Any) -> FetchedPage:
    """A page as the crawler hands it to the store."""
    pile = TextPile(text)
    return FetchedPage(url, time_s, encode_pile(pile), pile_digest(pile), **fields)


class IndexedStore:
    """A store, an index writer that follows it, and a searcher that uses each view, in one process."""

    def __init__(self, state_dir: Path, settings: Index = QUIET, **options: Any) -> None:
        self.state_dir = state_dir
        self.index_dir = state_dir / "index"
        self.store = Store.open(state_dir)
        self.damage: list[tuple[str, str]] = []
        self.searcher = Searcher(self.store, self.index_dir, on_damage=self._report)
        self.writer = IndexWriter(self.store, self.index_dir, settings, self._show, **options)
        self.first_view = self.writer.open()

    def put(self, *pages: FetchedPage) -> View:
        """Store pages in one transaction, and wait until they can be found."""
        with self.store.write() as txn:
            for page in pages:
                store_page(txn, page)
        return self.settle()

    def put_texts(self, texts: dict[int, str]) -> View:
        """Store numbered pages, and wait until they can be found."""
        return self.put(*(make_page(page_url(number), text) for number, text in texts.items()))

    def commit_texts(self, texts: dict[int, str]) -> View:
        """Store numbered pages, and wait until they can be found, whatever is being merged."""
        with self.store.write() as txn:
            for number, text in texts.items():
                store_page(txn, make_page(page_url(number), text))
            generation = txn.number("index_generation")
        self.writer.notify()
        return self.writer.wait_until(lambda view: view.generation >= generation, TIMEOUT_S)

    def retire(self, *numbers: int) -> View:
        """Let numbered pages be gone, and wait until they cannot be found."""
        with self.store.write() as txn:
            for number in numbers:
                retire_page(txn, page_url(number), 2000.0, http_status=404)
        return self.settle()

    def settle(self) -> View:
        """Wait until all that is committed can be searched, and nothing is being merged or made again."""
        with self.store.read() as txn:
            generation = txn.number("index_generation")
        self.writer.notify()
        self.writer._loop.call(lambda: None)  # what was reported before has been heard
        return self.writer.wait_until(
            lambda view: view.generation >= generation and not view.is_rebuilding and not view.is_merging, TIMEOUT_S
        )

    def find(self, query: str, limit: int = 100) -> list[str]:
        """URLs that a query finds, in order."""
        return [hit.url for hit in self.searcher.search(query, limit, 0, show_duplicates=True).hits]

    def found(self, query: str) -> set[int]:
        """Numbers of the pages that a query finds."""
        return {int(url.rpartition("/")[2]) for url in self.find(query)}

    def files(self) -> set[str]:
        """Names in the index folder."""
        return {path.name for path in self.index_dir.iterdir()}

    def close(self) -> None:
        """Stop in order."""
        try:
            self.writer.close()
        finally:
            self.searcher.close()
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _show(self, view: View) -> None:
        self.searcher.set_view(view)
        self.writer.acknowledge(view.sequence)

    def _report(self, name: str, reason: str) -> None:
        self.damage.append((name, reason))
        self.writer.report_damage(name, reason)
