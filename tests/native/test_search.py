"""Every way through the engine gives what scoring every document gives: documents, scores to the last bit, order."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from jird_native import (
    FIELD_WEIGHTS,
    And,
    DocumentOrder,
    Or,
    Query,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
    Tombstones,
    merge_segments,
)
from testkit import qix_file
from testkit.index import QueryMaker, TextDocument, random_documents, words_of
from testkit.oracle import Oracle, OracleDocument

SIZES = (3000, 900, 200, 40)
"""Documents of each segment: three ranges with range bounds, one list of ten blocks, short lists, tail blocks alone."""
WORDS = words_of(300)
PARAMETERS = ((1.2, 0.75), (0.4, 0.0), (2.0, 1.0), (0.0, 0.5))
QUERIES = 400
"""In each of two runs over segments and a half of it in each of four over their merge: 1,600 in all."""


@dataclass(frozen=True, slots=True)
class Index:
    """The same documents four times: as segments, merged, as one segment, and in the oracle's hands."""

    parts: list[tuple[Segment, Tombstones | None]]
    merged: list[tuple[Segment, Tombstones | None]]
    documents: list[OracleDocument]


def write(documents: list[TextDocument], path: Path, order: DocumentOrder) -> Segment:
    builder = SegmentBuilder()
    for doc in documents:
        builder.add(doc.native)
    builder.write(path, sync=False, order=order)
    return Segment.open(path)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder, random = tmp_path_factory.mktemp("index"), Random(20)
    pages = random.sample(range(1, 100_000), sum(SIZES))
    parts: list[tuple[Segment, Tombstones | None]] = []
    all_documents: list[OracleDocument] = []
    for number, size in enumerate(SIZES):
        documents = random_documents(random, [pages.pop() for _ in range(size)], WORDS, 60 if size < 3000 else 25)
        order = DocumentOrder.GIVEN if number == 1 else DocumentOrder.ORIGIN
        segment = write(documents, folder / f"{number}.qix", order)
        stones = Tombstones(size) if number != 2 else None
        for doc in documents:
            is_deleted = stones is not None and random.random() < 0.1
            if stones is not None and is_deleted:
                docid = segment.find(doc.native.page_id)
                assert docid is not None
                stones.add(docid)
            all_documents.append(replace(doc.oracle, is_deleted=is_deleted))
        parts.append((segment, stones))
    merge_segments(parts, folder / "merged.qix", sync=False)
    yield Index(parts, [(Segment.open(folder / "merged.qix"), None)], all_documents)
    for segment, _ in parts:
        segment.close()


def queries(seed: int, count: int) -> list[Query]:
    maker = QueryMaker(Random(seed), WORDS)
    kinds = (maker.any, maker.plain_or, lambda: Term(maker.word()), maker.phrase)
    return [kinds[i % len(kinds)]() for i in range(count)]


def compare(snapshot: Snapshot, oracle: Oracle, seed: int, count: int) -> int:
    """Run the queries on both; gives how many found something."""
    random, found = Random(seed + 1), 0
    for query in queries(seed, count):
        k = random.choice((1, 3, 10, 10, 100, 10_000))
        result = snapshot.search(query, k)
        pages, scores, matches = oracle.search(query, k)
        assert (result.page_ids, result.scores) == (pages, scores), f"{query} k={k}"
        assert result.match_count == matches if result.exact else len(pages) <= result.match_count <= matches, query
        found += bool(pages)
    return found


@pytest.mark.parametrize(("k1", "b"), PARAMETERS[:2])
def test_top_k_of_four_segments_with_tombstones_equals_scoring_every_document(
    index: Index, k1: float, b: float
) -> None:
    """J22, J24, J26, J27, J28: queries of every kind over four segments, with shared statistics."""
    oracle = Oracle(index.documents, FIELD_WEIGHTS, k1, b)
    assert compare(Snapshot(index.parts, k1, b), oracle, int(k1 * 10), QUERIES) > QUERIES // 2


@pytest.mark.parametrize(("k1", "b"), PARAMETERS)
def test_top_k_of_the_merged_segment_equals_scoring_every_live_document(index: Index, k1: float, b: float) -> None:
    """J26, J28, J31: pairs and range bounds are safe under other parameters than they were written with."""
    oracle = Oracle([doc for doc in index.documents if not doc.is_deleted], FIELD_WEIGHTS, k1, b)
    assert compare(Snapshot(index.merged, k1, b), oracle, int(k1 * 10) + 5, QUERIES // 2) > QUERIES // 4


def test_score_does_not_depend_on_the_segment_a_document_lies_in(index: Index, tmp_path: Path) -> None:
    """J27: statistics are shared, so that how documents are cut into segments changes nothing."""
    live = [(segment, None) for segment, _ in index.parts]
    merge_segments(live, tmp_path / "one.qix", sync=False)
    with Segment.open(tmp_path / "one.qix") as one:
        for query in queries(99, 100):
            apart, together = Snapshot(live).search(query, 50), Snapshot([(one, None)]).search(query, 50)
            assert (apart.page_ids, apart.scores) == (together.page_ids, together.scores)


def test_blocks_that_cannot_win_are_skipped_and_the_count_says_so(index: Index) -> None:
    """J26, J28: fewer postings are decoded than the lists hold, and match_count is then a lower bound."""
    snapshot = Snapshot(index.merged)
    query = Or((Term(WORDS[0]), Term(WORDS[250])))
    postings = sum(snapshot.df(term.term) for term in query.children if isinstance(term, Term))
    result = snapshot.search(query, 1)
    assert result.postings_decoded < postings // 2
    assert not result.exact
    assert snapshot.search(query, 10_000).exact


def test_current_block_bound_is_not_used_beyond_its_block(tmp_path: Path) -> None:
    """J29: the best document lies behind a block whose own bound is low, in the list of the rarer term."""
    builder = SegmentBuilder()
    for page in range(1, 2001):
        builder.add_terms(page, b"common " * (1 if page < 1900 else 20) + b"pad " * (40 if page < 1900 else 1))
    for page in range(2001, 2400):
        builder.add_terms(page, b"rare " * (30 if page == 2300 else 1) + b"pad " * (1 if page == 2300 else 60))
    builder.write(tmp_path / "a.qix", sync=False)
    with Segment.open(tmp_path / "a.qix") as segment:
        result = Snapshot([(segment, None)]).search(Or((Term("common"), Term("rare"))), 1)
    assert result.page_ids == [2300]


def first_block_kind(pages: set[int], path: Path) -> int:
    """Kind of the first block of a long list of these documents (native/qix/qix_format.h)."""
    builder = SegmentBuilder()
    for page in range(1, max(pages) + 1):
        builder.add_terms(page, b"word" if page in pages else b"")
    builder.write(path, sync=False)
    data = path.read_bytes()
    return data[qix_file.section(data, "POSTINGS").start + 32 + 20 * -(-len(pages) // 128)]


def test_dense_sparse_and_short_lists_answer_alike(tmp_path: Path) -> None:
    """J23: bitmaps, packed blocks and tail blocks hold the same kind of documents; conjunctions seek in each."""
    random, pages = Random(11), range(1, 2001)
    lists = {"dense": {p for p in pages if random.random() < 0.5}, "sparse": {p for p in pages if p % 7 == 0}}
    lists["short"] = set(range(180, 2001, 180))
    assert [first_block_kind(lists[word], tmp_path / word) for word in ("dense", "sparse")] == [1, 0]
    builder, documents = SegmentBuilder(), []
    for page in pages:
        words = [word for word, of in lists.items() if page in of]
        builder.add_terms(page, [word.encode() for word in words])
        documents.append(OracleDocument(page, [(4, at, word, True) for at, word in enumerate(words)]))
    builder.write(tmp_path / "all", sync=False)
    oracle = Oracle(documents, FIELD_WEIGHTS)
    with Segment.open(tmp_path / "all") as segment:
        for words in (["dense", "sparse"], ["dense", "short"], ["sparse", "short"], list(lists)):
            children = tuple(Term(word) for word in words)
            for query in (And(children), Or(children)):
                for k in (1, 10, 2000):
                    result = Snapshot([(segment, None)]).search(query, k)
                    assert (result.page_ids, result.scores) == oracle.search(query, k)[:2]


def test_equal_scores_come_by_ascending_page_id_on_every_run(tmp_path: Path) -> None:
    """J24: ties break by page id, whatever order the documents have in the segments."""
    parts: list[tuple[Segment, Tombstones | None]] = []
    for name, pages in (("a", (9, 2, 700)), ("b", (5, 1, 80))):
        builder = SegmentBuilder()
        for page in pages:
            builder.add_terms(page, b"same words here")
        builder.write(tmp_path / name, sync=False, order=DocumentOrder.GIVEN)
        parts.append((Segment.open(tmp_path / name), None))
    for query in (Term("same"), Or((Term("same"), Term("words")))):
        for _ in range(3):
            assert Snapshot(parts).search(query, 4).page_ids == [1, 2, 5, 9]


def test_no_segment_gives_no_hit() -> None:
    result = Snapshot([]).search(Term("w0"), 10)
    assert (result.page_ids, result.match_count, result.exact) == ([], 0, True)
