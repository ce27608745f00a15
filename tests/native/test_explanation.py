"""What is said of a score is what the score is made of."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from jird_native import (
    And,
    Field,
    Filter,
    Namespace,
    Not,
    Or,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
    Tombstones,
    phrase_of,
)
from testkit.index import QueryMaker, random_documents, words_of

WORDS = words_of(60)
DELETED = 7


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    folder, random = tmp_path_factory.mktemp("index"), Random(5)
    parts: list[tuple[Segment, Tombstones | None]] = []
    for number, pages in enumerate((range(1, 301), range(301, 341))):
        builder = SegmentBuilder()
        for doc in random_documents(random, list(pages), WORDS, 40):
            builder.add(doc.native)
        builder.write(folder / f"{number}.qix", sync=False)
        segment = Segment.open(folder / f"{number}.qix")
        stones = Tombstones(segment.doc_count)
        docid = segment.find(DELETED)
        if docid is not None:
            stones.add(docid)
        parts.append((segment, stones))
    yield Snapshot(parts)
    for segment, _ in parts:
        segment.close()


def test_explained_score_is_the_score_of_the_search(snapshot: Snapshot) -> None:
    maker = QueryMaker(Random(8), WORDS)
    explained = 0
    for _ in range(150):
        query = maker.any()
        result = snapshot.search(query, 400)
        for page_id, score in list(zip(result.page_ids, result.scores, strict=True))[:5]:
            found = snapshot.explain(query, page_id)
            assert found is not None
            assert (found.matches, found.score) == (True, score)
            explained += 1
        hits = set(result.page_ids)
        for page_id in set(range(1, 341)) - hits - {DELETED} if result.exact else ():
            missed = snapshot.explain(query, page_id)
            assert missed is not None
            assert (missed.matches, missed.score) == (False, 0.0)
    assert explained > 300


def test_parts_that_count_add_up(snapshot: Snapshot) -> None:
    query = Or(tuple(Term(word) for word in WORDS[:6]))
    result = snapshot.search(query, 10)
    for page_id, score in zip(result.page_ids, result.scores, strict=True):
        found = snapshot.explain(query, page_id)
        assert found is not None
        parts = [node for node in found.nodes if node.counts and node.matches]
        assert sum(part.score for part in parts) == pytest.approx(score, rel=1e-12)
        for part in parts:
            assert isinstance(part.node, Term)
            assert part.df == snapshot.df(part.node.term)
            assert 0 < part.score < part.idf
            assert part.tf >= 1


def test_nodes_are_those_of_the_query_in_its_order(snapshot: Snapshot) -> None:
    title = Term(WORDS[1], fields=frozenset({Field.TITLE}))
    query = And((
        Or((Term(WORDS[0]), title)),
        phrase_of([WORDS[2], WORDS[3]]),
        Filter(Term("docs.test", Namespace.SITE)),
        Not(Term(WORDS[4])),
    ))  # fmt: skip
    found = snapshot.explain(query, 1)
    assert found is not None
    kinds = [(type(node.node).__name__, node.depth, node.counts) for node in found.nodes]
    assert kinds == [
        ("And", 0, False), ("Or", 1, False), ("Term", 2, True), ("Term", 2, True), ("Phrase", 1, True),
        ("Term", 2, False), ("Term", 2, False), ("Filter", 1, False), ("Term", 2, False), ("Not", 1, False),
        ("Term", 2, False),
    ]  # fmt: skip
    assert found.nodes[3].node == title


def test_page_that_is_deleted_or_unknown_has_no_explanation(snapshot: Snapshot) -> None:
    assert snapshot.explain(Term(WORDS[0]), DELETED) is None
    assert snapshot.explain(Term(WORDS[0]), 99_999) is None


def test_bad_query_is_refused_as_in_a_search(snapshot: Snapshot) -> None:
    with pytest.raises(ValueError, match="weight"):
        snapshot.explain(replace(Term("a"), weight=float("nan")), 1)
