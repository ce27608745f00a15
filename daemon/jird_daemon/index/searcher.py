"""Searching, in the process that serves: the view in use, and what is asked of it.

A search takes the view that is in use when it begins and keeps it to its end; a newer view is swapped in beside it
and never waits (J32, J33). Nothing of the view is held while results are read from the store (J34).

Threads: everything may be called from any thread.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from jird_daemon.control import SegmentRef, View
from jird_daemon.errors import CorruptManifestError, InternalError, NotReadyError
from jird_daemon.index.explaining import QueryExplanation, explain_query
from jird_daemon.index.hydrate import ImageHit, SearchHit, collect_images, make_hits
from jird_daemon.index.manifest import read_manifest
from jird_daemon.index.opened_view import OpenedView, UnusableSegmentError, without_segments
from jird_daemon.index.query import ParsedQuery, parse_query
from jird_daemon.index.spelling import THIN_HITS, corrected_query
from jird_daemon.index.suggest import suggest
from jird_daemon.store import Store
from jird_native import CorruptSegmentError, Namespace, SearchResult

T = TypeVar("T")

# J159: results are taken from the first so many candidates.
SEARCH_WINDOW = 100_000
# Near words of each segment that are compared by how common they are.
_NEAR_TERMS = 16
# Candidates beyond the page that is asked for: to know whether there is a next one, and to fill the page when some have
# vanished from the store since.
_SPARE_CANDIDATES = 17
# Pages that are looked at for pictures; those without any are passed over.
_IMAGE_PAGES_MAX = 5_000
# Chunks of 1 MiB that one call checks in the background: about a millisecond each.
_CHUNKS_A_CALL = 64


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of a ranking."""

    query: str  # as it was understood, for showing
    hits: list[SearchHit]
    has_more: bool
    match_count: int
    match_count_exact: bool
    generation: int  # of the view that answered
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImagePage:
    """One page of pictures."""

    images: list[ImageHit]
    has_more: bool


@dataclass(frozen=True, slots=True)
class SearcherStatus:
    """What can be searched now; `view` is None while nothing can."""

    view: View | None
    query_engine: str
    document_count: int
    term_count: int
    term_count_exact: bool  # else an upper bound: terms of several segments, or of deleted documents, are counted
    segment_count: int
    volatile_segment_count: int
    segment_bytes: int
    total_length: int


class Searcher:
    """The index as serve sees it."""

    def __init__(
        self,
        store: Store,
        index_dir: Path,
        *,
        k1: float = 1.2,
        b: float = 0.75,
        images_per_page: int = 20,
        on_damage: Callable[[str, str], None] = lambda name, reason: None,
    ) -> None:
        """No view is in use before the first `set_view` or `open_published`.

        Args:
            store: To read results from.
            index_dir: The index folder.
            k1: BM25: how soon more of the same word stops counting.
            b: BM25: how much long pages are held back.
            images_per_page: Pictures of one page that a picture search shows.
            on_damage: Told the name of a damaged segment and what is wrong, from whichever thread met it; the writer
                must learn of it.
        """
        self._store = store
        self._folder = index_dir
        self._k1 = k1
        self._b = b
        self._images_per_page = images_per_page
        self._on_damage = on_damage
        self._opened: OpenedView | None = None
        self._swap = threading.Lock()
        self._checked: dict[str, int] = {}  # chunks of a segment that the background check has passed

    def open_published(self) -> View | None:
        """Use what the manifest names, until the writer shows a view; None when there is nothing that can be used."""
        try:
            manifest = read_manifest(self._folder)
        except CorruptManifestError:
            return None  # the writer meets it too, and makes the index again
        if manifest is None:
            return None
        refs = tuple(SegmentRef(entry.name, entry.tombstones) for entry in manifest.segments)
        try:
            self.set_view(View(0, manifest.generation, manifest.generation, refs))
        except NotReadyError:
            return None  # the writer has published a newer one meanwhile, and will show it
        return self.view

    @property
    def view(self) -> View | None:
        """The view in use."""
        opened = self._opened
        return opened.view if opened is not None else None

    def set_view(self, view: View) -> None:
        """Open a view and use it from now on. A damaged segment is reported and left out.

        Raises:
            NotReadyError: A file of it is missing: it is the view of a writer that is gone. The old one stays in use.
        """
        usable = view
        while True:
            known = self._opened.by_name() if self._opened is not None else {}
            try:
                opened = OpenedView.open(self._folder, usable, known, self._k1, self._b)
                break
            except UnusableSegmentError as error:
                if error.is_missing:
                    raise NotReadyError(f"view {view.sequence}: {error}", "VIEW_GONE") from error
                self._on_damage(error.name, error.reason)
                usable = without_segments(usable, {error.name})
        with self._swap:
            self._opened = opened

    def search(self, text: str, limit: int, offset: int, *, show_duplicates: bool = False) -> SearchPage:
        """One page of the exact ranking.

        Args:
            text: The query as typed.
            limit: Results wanted, at least 1.
            offset: Rank of the first, from 0.
            show_duplicates: Also show pages that another one stands for, and those that say nearly the same.

        Raises:
            InvalidQueryError: The query is too long or not text.
            NotReadyError: No view is in use yet.
        """
        parsed = parse_query(text)
        wanted = offset + limit + _SPARE_CANDIDATES
        while True:
            generation, result = self._rank(parsed, min(wanted, SEARCH_WINDOW))
            ranked = list(zip(result.page_ids, result.scores, strict=True))
            hits, has_more = make_hits(
                self._store, ranked, limit, parsed.terms, offset=offset, show_duplicates=show_duplicates
            )
            # So many have vanished that the page is short: look further down.
            is_cut = len(result.page_ids) == wanted < SEARCH_WINDOW
            if has_more or not is_cut:
                break
            wanted *= 4
        notices = parsed.notices
        if offset == 0 and len(hits) < THIN_HITS:
            notices += self._on_view(lambda opened: _spelling_notices(opened, parsed))
        return SearchPage(parsed.text, hits, has_more, result.match_count, result.exact, generation, notices)

    def search_images(self, text: str, limit: int, offset: int) -> ImagePage:
        """One page of the pictures of pages that match, in the order of their ranks. Errors as `search`."""
        parsed = parse_query(text)
        _, result = self._rank(parsed, _IMAGE_PAGES_MAX)
        with self._store.read() as txn:
            images, has_more = collect_images(
                txn, result.page_ids, parsed.terms, limit=limit, offset=offset, images_per_page=self._images_per_page
            )
        return ImagePage(images, has_more)

    def suggest(self, text: str, limit: int) -> list[str]:
        """Whole queries that complete `text`, most frequent last word first. Errors as `search`."""

        def list_terms(prefix: str, count: int, namespace: Namespace) -> list[tuple[str, int]]:
            return self._on_view(lambda opened: opened.terms(prefix, count, namespace))

        return suggest(text, list_terms, limit)

    def explain(self, text: str, limit: int, page_id: int | None = None) -> QueryExplanation:
        """How a query is answered, and why its first hits, or one page, score as they do. Errors as `search`."""
        parsed = parse_query(text)
        return self._on_view(lambda opened: explain_query(opened, parsed, limit, page_id))

    def status(self) -> SearcherStatus:
        """What can be searched now."""
        opened = self._opened
        if opened is None:
            return SearcherStatus(None, "empty", 0, 0, True, 0, 0, 0, 0)
        segments = opened.segments
        return SearcherStatus(
            view=opened.view,
            query_engine=opened.query_engine,
            document_count=opened.snapshot.document_count,
            term_count=sum(each.segment.term_count for each in segments),
            term_count_exact=len(segments) <= 1 and not any(each.tombstones for each in segments),
            segment_count=len(segments),
            volatile_segment_count=sum(each.ref.is_volatile for each in segments),
            segment_bytes=sum(each.segment.bytes for each in segments),
            total_length=opened.snapshot.total_length,
        )

    def check_chunks(self) -> bool:
        """Hash some bytes of the view that no query has used yet, for a task in the background.

        Returns:
            Whether there is more to check. Damage is reported, and its segment left out, as when a search meets it.
        """
        opened = self._opened
        for each in opened.segments if opened is not None else ():
            first = self._checked.get(each.ref.name, 0)
            if first < each.segment.info.chunk_count:
                self._checked[each.ref.name] = first + _CHUNKS_A_CALL
                try:
                    each.segment.check_chunks(first, _CHUNKS_A_CALL)
                except CorruptSegmentError as error:
                    assert opened is not None
                    self._leave_out(opened, error)
                return True
        in_use = opened.by_name() if opened is not None else {}
        self._checked = {name: count for name, count in self._checked.items() if name in in_use}
        return False

    def close(self) -> None:
        """Let the view go; its files are unmapped when the last search that uses them has ended."""
        with self._swap:
            self._opened = None

    def _rank(self, parsed: ParsedQuery, k: int) -> tuple[int, SearchResult]:
        tree = parsed.tree
        if tree is None:
            return self._on_view(lambda opened: (opened.view.generation, SearchResult([], [], 0, True, 0)))
        return self._on_view(lambda opened: (opened.view.generation, opened.snapshot.search(tree, k)))

    def _on_view(self, work: Callable[[OpenedView], T]) -> T:
        """Work on the view in use; a segment that turns out to be damaged is left out, and the work done again."""
        opened = self._opened
        while True:
            if opened is None:
                raise NotReadyError("the index is being opened")
            try:
                return work(opened)
            except CorruptSegmentError as error:
                opened = self._leave_out(opened, error)

    def _leave_out(self, opened: OpenedView, error: CorruptSegmentError) -> OpenedView:
        name = error.path.name
        if name not in opened.by_name():
            raise InternalError(f"damage in {name}, which the view does not name") from error
        self._on_damage(name, f"offset {error.offset}: {error.reason}")
        rest = opened.without(name)
        with self._swap:
            if self._opened is opened:
                self._opened = rest
        return rest


def _spelling_notices(opened: OpenedView, parsed: ParsedQuery) -> tuple[str, ...]:
    """What the query may have been meant to be, as a sentence, if it seems mistyped."""

    def list_near(term: str, max_edits: int) -> list[tuple[str, int]]:
        return opened.near_terms(term, max_edits, _NEAR_TERMS)

    corrected = corrected_query(parsed.text, parsed.terms, opened.snapshot.df, list_near)
    return (f"did you mean: {corrected}",) if corrected else ()
