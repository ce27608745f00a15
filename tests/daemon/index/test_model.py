"""Whatever is stored, retired, merged, made durable, made again or killed, a search finds what a plain model says."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jird_daemon.index.documents import all_documents
from jird_daemon.index.query import parse_query
from jird_daemon.store.pages import mark_not_indexable, touch_page
from jird_native import FIELD_WEIGHTS, tokenize
from jird_settings.tables import Index
from testkit.oracle import Oracle, OracleDocument
from testkit.pages import IndexedStore, make_page, page_url

WORDS = ("apples", "pears", "plums", "cherries")
PAGES = 8
# Everything happens often: seals at once, merges of two segments, a checkpoint every few pages.
SETTINGS = Index(seal_interval_ms=10, checkpoint_every=5, merge_segments=2, max_overlay_documents=6)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
pages = st.integers(0, PAGES - 1)
steps = st.one_of(
    st.tuples(st.just("store"), st.dictionaries(pages, texts, min_size=1, max_size=4)),
    st.tuples(st.just("store"), st.dictionaries(pages, texts, min_size=1, max_size=4)),
    st.tuples(st.sampled_from(["retire", "touch", "noindex"]), pages),
    st.tuples(st.sampled_from(["checkpoint", "compact", "rebuild", "restart", "kill", "no manifest"]), st.none()),
)


class Run:
    """An index and the model beside it: the text of each page that can be found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lives = 0
        self.model: dict[int, str] = {}
        self.index = IndexedStore(folder / "0", SETTINGS)

    def do(self, kind: str, argument: dict[int, str] | int | None) -> None:
        """One step, in the index and in the model."""
        if kind == "store":
            assert isinstance(argument, dict)
            self.index.put(*(make_page(page_url(page), text) for page, text in argument.items()))
            self.model |= argument
        elif isinstance(argument, int):
            self.change(kind, argument)
        elif kind in ("checkpoint", "compact", "rebuild"):
            getattr(self.index.writer, kind)()
        else:
            self.reopen(kind)
        self.index.settle()

    def change(self, kind: str, page: int) -> None:
        """A page answers otherwise than with content."""
        if kind == "retire":
            self.index.retire(page)
            self.model.pop(page, None)
            return
        with self.index.store.write() as txn:
            if kind == "noindex":
                mark_not_indexable(txn, page_url(page), 2.0, reason="noindex", http_status=200, exit_code=171)
                self.model.pop(page, None)
            elif page in self.model:
                touch_page(txn, page_url(page), 2.0)

    def reopen(self, kind: str) -> None:
        """Stop in order, or go on from a copy of the files as they are at this moment, as after kill -9."""
        self.lives += 1
        old, new = self.index.state_dir, self.folder / str(self.lives)
        if kind == "kill":
            self.index.writer._loop.call(lambda: shutil.copytree(old, new))
        self.index.close()
        if kind != "kill":
            shutil.copytree(old, new)
        if kind == "no manifest":
            (new / "index" / "MANIFEST").unlink(missing_ok=True)
        shutil.rmtree(old)
        self.index = IndexedStore(new, SETTINGS)

    def check(self) -> None:
        """Sets of pages agree for every word, and counts do."""
        for word in WORDS:
            assert self.index.found(word) == {page for page, text in self.model.items() if word in text.split()}
        assert self.index.searcher.status().document_count == len(self.model)
        assert self.index.writer.verify() == ()

    def check_ranking(self) -> None:
        """After a compaction, order and scores are those of scoring every document from its tokens."""
        self.index.writer.compact()
        documents = []
        for _, document in all_documents(self.index.store, 200_000):
            if document is not None:
                tokens = [
                    (field, token.position, token.term, token.primary)
                    for field, text in enumerate(document.fields)
                    for token in tokenize(text)
                ]
                documents.append(OracleDocument(document.page_id, tokens, document.keywords))
        oracle = Oracle(documents, FIELD_WEIGHTS)
        for query in (*WORDS, "apples pears", '"apples pears"', "plums AND NOT cherries"):
            tree = parse_query(query).tree
            assert tree is not None
            hits = self.index.searcher.search(query, PAGES, 0, show_duplicates=True).hits
            expected = oracle.search(tree, PAGES)
            assert ([hit.page_id for hit in hits], [hit.score for hit in hits]) == expected[:2]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=3, max_size=12))
def test_searches_find_what_a_plain_model_says(chosen: list[tuple[str, dict[int, str] | int | None]]) -> None:
    """J11-J14, J26, J73, J173: no order of steps loses a page, shows one twice, or brings one back."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder))
        try:
            for kind, argument in chosen:
                run.do(kind, argument)
                run.check()
            run.check_ranking()
        finally:
            run.index.close()
