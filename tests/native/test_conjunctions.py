"""Conjunctions and phrases, over lists from a handful of documents to all of them, against scoring every document."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from jird_native import (
    FIELD_WEIGHTS,
    And,
    Field,
    Filter,
    Namespace,
    Not,
    Or,
    Phrase,
    Query,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
    Tombstones,
)
from testkit.index import HOSTS, random_documents, words_of
from testkit.oracle import Oracle, OracleDocument

WORDS = words_of(120)
"""Few, so that most pairs of them meet in some document."""
SIZES = (5200, 700)
"""The first has lists of more than sixteen blocks, whose best blocks are walked first."""
QUERIES = 300


@dataclass(frozen=True, slots=True)
class Index:
    """Two segments, a tenth of the first deleted, and the oracle over the same documents."""

    snapshot: Snapshot
    oracle: Oracle


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder, random = tmp_path_factory.mktemp("conjunctions"), Random(7)
    pages = random.sample(range(1, 50_000), sum(SIZES))
    parts: list[tuple[Segment, Tombstones | None]] = []
    documents: list[OracleDocument] = []
    for number, size in enumerate(SIZES):
        some = random_documents(random, [pages.pop() for _ in range(size)], WORDS, 22)
        builder = SegmentBuilder()
        for doc in some:
            builder.add(doc.native)
        builder.write(folder / f"{number}.qix", sync=False)
        segment = Segment.open(folder / f"{number}.qix")
        stones = Tombstones(size) if number == 0 else None
        for doc in some:
            is_deleted = stones is not None and random.random() < 0.1
            if stones is not None and is_deleted:
                docid = segment.find(doc.native.page_id)
                assert docid is not None
                stones.add(docid)
            documents.append(replace(doc.oracle, is_deleted=is_deleted))
        parts.append((segment, stones))
    yield Index(Snapshot(parts), Oracle(documents, FIELD_WEIGHTS))
    for segment, _ in parts:
        segment.close()


def word(random: Random) -> str:
    return WORDS[min(int(len(WORDS) ** random.random()) - 1, len(WORDS) - 1)]


def terms(random: Random, count: int) -> list[Query]:
    return [Term(word(random), weight=random.choice((1.0, 1.0, 2.5))) for _ in range(count)]


def phrase(random: Random, fields: frozenset[Field] | None = None) -> Phrase:
    """Two or three words, at times the same one, at times with a gap or at the same place."""
    first = word(random)
    words = [(first, 0), (random.choice((first, word(random), word(random))), random.choice((1, 1, 1, 2, 0)))]
    if random.random() < 0.3:
        words.append((word(random), words[-1][1] + 1))
    return Phrase(tuple(words), fields)


def mixed(random: Random) -> And:
    """What queries of people become: words, phrases, filters, fields and exclusions together."""
    children: list[Query] = [
        Or(tuple(terms(random, 3))),
        phrase(random),
        Term(word(random), fields=frozenset({random.choice((Field.TITLE, Field.BODY))})),
        *terms(random, 1),
    ]
    wanted = random.sample(children, random.randrange(1, 4))
    wanted.append(Filter(Term(random.choice(HOSTS), Namespace.HOST)))
    if random.random() < 0.5:
        wanted.insert(random.randrange(len(wanted)), Not(random.choice((Term(word(random)), phrase(random)))))
    return And(tuple(wanted))


MAKERS: dict[str, Callable[[Random], Query]] = {
    "and2": lambda random: And(tuple(terms(random, 2))),
    "and3": lambda random: And(tuple(terms(random, 3))),
    "phrase": phrase,
    "field phrase": lambda random: phrase(random, frozenset({Field.TITLE, Field.BODY})),
    "mixed": mixed,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_conjunctions_and_phrases_give_what_scoring_every_document_gives(index: Index, kind: str) -> None:
    """J26, J27, J28: documents, scores to the last bit and order, over two segments with tombstones, for any k."""
    random, found = Random(kind), 0
    for _ in range(QUERIES // len(MAKERS)):
        query, k = MAKERS[kind](random), random.choice((1, 5, 10, 10, 100, 10_000))
        result = index.snapshot.search(query, k)
        pages, scores, matches = index.oracle.search(query, k)
        assert (result.page_ids, result.scores) == (pages, scores), f"{query} k={k}"
        assert result.match_count == matches if result.exact else len(pages) <= result.match_count <= matches, query
        assert result.plan == "and"
        found += bool(pages)
    assert found > QUERIES // len(MAKERS) // 4


def long_documents(path: Path, texts: list[str]) -> Segment:
    builder = SegmentBuilder(max_tokens=1_000_000)
    for page, text in enumerate(texts, start=1):
        builder.add_terms(page, text.encode())
    builder.write(path, sync=False)
    return Segment.open(path)


def test_phrase_of_words_that_are_thousands_of_times_in_a_document(tmp_path: Path) -> None:
    """J27: more places than are compared at once, in one document, in one of the words, and in a block together."""
    texts = ["a b " * 5000, "a " * 5000 + "b", "b " * 5000 + "a b"] + ["a c b " * 300 + "a b " * n for n in range(40)]
    documents = [
        OracleDocument(page, [(4, at, term, True) for at, term in enumerate(text.split())])
        for page, text in enumerate(texts, start=1)
    ]
    oracle = Oracle(documents, FIELD_WEIGHTS)
    with long_documents(tmp_path / "long.qix", texts) as segment:
        snapshot = Snapshot([(segment, None)])
        for words in ("a b", "b a", "a c", "c b", "a a", "b b"):
            query = Phrase(tuple((term, at) for at, term in enumerate(words.split())))
            result = snapshot.search(query, 50)
            assert (result.page_ids, result.scores) == oracle.search(query, 50)[:2], words


def test_phrase_around_a_rare_word_among_hundreds_of_another(tmp_path: Path) -> None:
    """J27: the frequent word's places are read from the rare one's first to its last, however far apart they may be."""
    random = Random(3)
    texts = []
    for n in range(300):
        words = ["a" if random.random() < 0.97 else "c" for _ in range(3 * n + 1)]
        for at in random.sample(range(len(words)), min(len(words), random.randrange(1, 4))):
            words[at] = "x"
        texts.append(" ".join(words))
    documents = [
        OracleDocument(page, [(4, at, term, True) for at, term in enumerate(text.split())])
        for page, text in enumerate(texts, start=1)
    ]
    oracle = Oracle(documents, FIELD_WEIGHTS)
    gaps = [[("a", 0), ("x", 200)], [("x", 0), ("a", 200)], [("a", 0), ("x", 130), ("a", 260)]]
    rows = [list(zip(words.split(), range(9), strict=False)) for words in ("x a a", "a x a", "a a x", "a a", "x x")]
    with long_documents(tmp_path / "rare.qix", texts) as segment:
        snapshot = Snapshot([(segment, None)])
        for query in (Phrase(tuple(words)) for words in gaps + rows):
            result = snapshot.search(query, 100)
            assert (result.page_ids, result.scores) == oracle.search(query, 100)[:2], query
            assert result.page_ids or query.terms[-1] == ("x", 1), query


def test_filter_of_a_filter_selects_what_the_inner_one_does(index: Index) -> None:
    """J26: alone and beside a word, on a host, a phrase, and a word in a field."""
    random = Random(9)
    body = frozenset({Field.BODY})
    for inner in (Term(HOSTS[0], Namespace.HOST), phrase(random), Term(WORDS[0], fields=body)):
        for query in (Filter(Filter(inner)), And((Term(WORDS[1]), Filter(Filter(Filter(inner)))))):
            result = index.snapshot.search(query, 10_000)
            assert (result.page_ids, result.scores) == index.oracle.search(query, 10_000)[:2], query
            assert result.page_ids, query


def test_blocks_that_cannot_win_are_not_decoded(tmp_path: Path) -> None:
    """J26, J28: the ten best of two common words lie in one block; the count then says that it is a lower bound."""
    texts = ["a b " * (20 if 4000 <= n < 4010 else 1) + "pad " * (1 if 4000 <= n < 4010 else 90) for n in range(6000)]
    with long_documents(tmp_path / "best.qix", texts) as segment:
        result = Snapshot([(segment, None)]).search(And((Term("a"), Term("b"))), 10)
    assert result.page_ids == list(range(4001, 4011))
    assert result.blocks_decoded < result.blocks_total // 2
    assert not result.exact
