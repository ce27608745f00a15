"""Terms and Ors of terms on an index of many ranges: what is skipped is never missed.

A posting list of 1,024 documents and more has range bounds, and windows hold up to four ranges; documents that are
alike stand together, as pages of a site do, so that bounds differ from range to range. The oracle scores every one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from jird_native import FIELD_WEIGHTS, DocumentOrder, Or, Query, Segment, SegmentBuilder, Snapshot, Term, Tombstones
from jird_native._qix import lib
from testkit.index import words_of
from testkit.oracle import Oracle, OracleDocument

SIZES = (9000, 3500, 1, 130)
"""Documents of each segment; the second and last have tombstones."""
WORDS = words_of(200)
QUERIES = 80
"""In each of the runs, of which there are four."""
WEIGHTS = (1.0, 1.0, 1.0, 1.0, 0.3, 40.0, 1e6, 1e-7, 1e-30)


@dataclass(frozen=True, slots=True)
class Index:
    """The same documents as segments and in the oracle's hands."""

    parts: list[tuple[Segment, Tombstones | None]]
    oracle: Oracle


def words_of_document(random: Random, topic: int) -> list[str]:
    """A few words, common ones or the topic's; now and then hundreds of one word, or thousands that pad it."""
    words = []
    for _ in range(random.choice((1, 2, 4, 8, 12))):
        rank = int(len(WORDS) ** random.random()) - 1 if random.random() < 0.6 else 20 + topic * 3 + random.randrange(6)
        words += [WORDS[min(rank, len(WORDS) - 1)]] * (1 + int(random.expovariate(0.9)))
    if random.random() < 0.004:
        words += [random.choice(words)] * random.choice((130, 254, 255, 256, 300, 700))
    if random.random() < 0.02:
        words += ["pad"] * random.choice((20, 60, 250, 1100))
    return words


def write(path: Path, documents: list[OracleDocument]) -> Segment:
    builder = SegmentBuilder()
    for doc in documents:
        builder.add_terms(doc.page_id, " ".join(term for _, _, term, _ in doc.tokens).encode())
    builder.write(path, sync=False, order=DocumentOrder.GIVEN)
    return Segment.open(path)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder, random = tmp_path_factory.mktemp("top"), Random(8)
    pages = random.sample(range(1, 50_000), sum(SIZES))
    parts: list[tuple[Segment, Tombstones | None]] = []
    everything: list[OracleDocument] = []
    for number, size in enumerate(SIZES):
        documents = []
        for docid in range(size):
            words = words_of_document(random, docid // 200 % 50)
            documents.append(OracleDocument(pages.pop(), [(4, at, word, True) for at, word in enumerate(words)]))
            if documents and random.random() < 0.3:  # alike to the last bit, so that page ids decide
                documents[-1] = replace(documents[-1], tokens=random.choice(documents[-50:]).tokens)
        segment = write(folder / f"{number}.qix", documents)
        stones = Tombstones(size) if number % 2 else None
        if stones is not None:
            for docid in random.sample(range(size), size // 8):
                stones.add(docid)
                documents[docid] = replace(documents[docid], is_deleted=True)
        parts.append((segment, stones))
        everything += documents
    yield Index(parts, Oracle(everything, FIELD_WEIGHTS))
    for segment, _ in parts:
        segment.close()


def query_of(random: Random) -> Query:
    def term() -> Term:
        word = WORDS[int(len(WORDS) ** random.random()) - 1] if random.random() < 0.97 else "nowhere"
        return Term(word, weight=random.choice(WEIGHTS))

    return (
        Or(tuple(term() for _ in range(random.choice((1, 2, 2, 2, 3, 4, 5, 9))))) if random.random() < 0.8 else term()
    )


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("parts", [slice(0, 4), slice(0, 1)])
def test_terms_and_ors_give_what_scoring_every_document_gives(index: Index, parts: slice, portable: bool) -> None:
    """J8, J22, J24, J26, J27, J28: four segments with tombstones, and one with stored thresholds in force."""
    chosen = index.parts[parts]
    count = sum(segment.doc_count for segment, _ in chosen)
    oracle = index.oracle if parts.stop == 4 else Oracle(index.oracle.documents[:count], FIELD_WEIGHTS)
    snapshot, random = Snapshot(chosen), Random(parts.stop * 2 + portable)
    lib.qix_use_portable(portable)
    plans = set()
    for _ in range(QUERIES):
        query, k = query_of(random), random.choice((1, 2, 10, 10, 10, 11, 100, 1000, 20_000))
        result = snapshot.search(query, k)
        pages, scores, matches = oracle.search(query, k)
        assert (result.page_ids, result.scores) == (pages, scores), f"{query} k={k}"
        assert result.match_count == matches if result.exact else len(pages) <= result.match_count <= matches, query
        plans.add(result.plan)
    lib.qix_use_portable(False)
    assert plans == {"term", "or"}


def test_common_terms_are_mostly_skipped(index: Index) -> None:
    """J26: stored thresholds and bounds leave a part of the postings to decode."""
    snapshot = Snapshot(index.parts[:1])
    results = [snapshot.search(Term(word), 10) for word in WORDS[:10]]
    assert all(result.exact for result in results)
    assert sum(r.postings_decoded for r in results) < sum(r.postings_total for r in results) * 3 // 4
    pairs = [snapshot.search(Or((Term(word), Term(WORDS[60]))), 10) for word in WORDS[:10]]
    assert not all(result.exact for result in pairs)


def test_list_whose_blocks_are_longer_than_a_window_is_asked_about_each_document(tmp_path: Path) -> None:
    """J26: a block of a word that every fortieth document has reaches over more than a window of 4,096 documents."""
    random, documents = Random(3), []
    for page in range(1, 12_001):
        words = ["often"] * (1 + page % 3) + ["seldom"] * (random.random() < 1 / 40) + ["pad"] * random.randrange(9)
        documents.append(OracleDocument(page, [(4, at, word, True) for at, word in enumerate(words)]))
    oracle = Oracle(documents, FIELD_WEIGHTS)
    with write(tmp_path / "a", documents) as segment:
        for weight in (0.01, 0.05, 0.2, 1.0):
            for k in (10, 300, 3000):
                query = Or((Term("often"), Term("seldom", weight=weight)))
                result = Snapshot([(segment, None)]).search(query, k)
                assert (result.page_ids, result.scores) == oracle.search(query, k)[:2]
