"""What becomes of documents: which words count, what is refused, how the file comes into its place."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from jird_native import (
    And,
    DocumentInput,
    Field,
    Filter,
    Namespace,
    Not,
    Or,
    Query,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
    phrase_of,
    tokenize,
)


def doc(page_id: int, title: str = "", body: str = "", *keywords: str) -> DocumentInput:
    hosts = tuple((Namespace.HOST, keyword) for keyword in keywords)
    return DocumentInput(page_id, 1, 0, 0, 0, 0, (title, "", "", "", body), hosts)


def built(path: Path, builder: SegmentBuilder) -> Segment:
    builder.write(path, sync=False)
    return Segment.open(path)


def search(segment: Segment, query: Query) -> list[int]:
    return Snapshot([(segment, None)]).search(query, 10).page_ids


def test_only_the_first_tokens_are_indexed_title_first(tmp_path: Path) -> None:
    """J157: the limit counts words of all fields, the title's before the body's."""
    builder = SegmentBuilder(max_tokens=4, field_weights=(1, 1, 1, 1, 1))
    builder.add(doc(1, "one two", "three four five six"))
    segment = built(tmp_path / "a", builder)
    assert [segment.df(word) for word in ["one", "two", "three", "four", "five", "six"]] == [1, 1, 1, 1, 0, 0]
    assert segment.total_length == 4


def test_alternates_do_not_count_towards_length(tmp_path: Path) -> None:
    """A word with an accent is found by its folded form too, and is one word long."""
    builder = SegmentBuilder()
    builder.add(doc(1, "", "café"))
    segment = built(tmp_path / "a", builder)
    assert (segment.df("café"), segment.df("cafe"), segment.total_length) == (1, 1, 1)


def test_every_script_is_found_by_the_tokens_of_a_query(tmp_path: Path) -> None:
    texts = {1: "Grüße aus München", 2: "全文検索エンジン", 3: "поисковая система", 4: "ค้นหาข้อความ"}
    builder = SegmentBuilder()
    for page, text in texts.items():
        builder.add(doc(page, "", text))
    segment = built(tmp_path / "a", builder)
    for page, text in texts.items():
        words = [token.term for token in tokenize(text) if token.primary]
        assert search(segment, And(tuple(Term(word) for word in words))) == [page]


def test_terms_as_bytes_and_as_a_sequence_give_the_same_segment(tmp_path: Path) -> None:
    words = [b"alpha", b"beta", b"gamma", b"beta"]
    builders = SegmentBuilder(), SegmentBuilder()
    builders[0].add_terms(1, words)
    builders[1].add_terms(1, b"  alpha beta\tgamma\nbeta ")
    for name, builder in zip("ab", builders, strict=True):
        builder.write(tmp_path / name, sync=False)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert search(Segment.open(tmp_path / "a"), phrase_of(["gamma", "beta"])) == [1]


def test_same_documents_give_the_same_bytes(tmp_path: Path) -> None:
    """J21: nothing of the process, such as the hash's seed, is in the file."""
    for name in "ab":
        builder = SegmentBuilder()
        for page in range(1, 300):
            builder.add(doc(page, f"title {page % 7}", " ".join(f"w{page * i % 91}" for i in range(40)), "a.test"))
        builder.write(tmp_path / name, sync=False)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_page_added_twice_is_refused_and_the_builder_goes_on(tmp_path: Path) -> None:
    builder = SegmentBuilder()
    builder.add(doc(1, "", "first"))
    with pytest.raises(ValueError, match="page_id was added before"):
        builder.add(doc(1, "", "second"))
    builder.add(doc(2, "", "third"))
    segment = built(tmp_path / "a", builder)
    assert (segment.doc_count, segment.df("first"), segment.df("second"), segment.df("third")) == (2, 1, 0, 1)


@pytest.mark.parametrize("keyword", [(Namespace.WORD, "x"), (Namespace.HOST, ""), (Namespace.HOST, "x" * 513)])
def test_bad_keyword_is_refused(keyword: tuple[Namespace, str]) -> None:
    with pytest.raises(ValueError, match="keyword"):
        SegmentBuilder().add(DocumentInput(1, 1, 0, 0, 0, 0, ("",) * 5, (keyword,)))


def test_page_id_zero_and_bad_options_are_refused() -> None:
    with pytest.raises(ValueError, match="page_id"):
        SegmentBuilder().add(doc(0))
    with pytest.raises(ValueError, match="max_tokens"):
        SegmentBuilder(max_tokens=0)
    with pytest.raises(ValueError, match="field weights"):
        SegmentBuilder(field_weights=(0, 1, 1, 1, 1))
    with pytest.raises(OverflowError):
        SegmentBuilder().add(DocumentInput(1, 1 << 32, 0, 0, 0, 0, ("",) * 5, ()))


def test_memory_is_seen_to_grow(tmp_path: Path) -> None:
    builder = SegmentBuilder()
    before = builder.memory_bytes
    for page in range(1, 400):
        builder.add_terms(page, " ".join(f"{page}x{i}" for i in range(100)).encode())
    assert builder.doc_count == 399
    assert builder.memory_bytes - before > 399 * 100 * 40


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """J20: the old file stays in service, and nothing is left beside it."""
    builder = SegmentBuilder()
    for page in range(1, 200):
        builder.add_terms(page, " ".join(f"{page}x{i}" for i in range(50)).encode())
    path = tmp_path / "a"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OSError, match="write"):
            builder.write(path, sync=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a"])
    builder.write(path, sync=True)
    with Segment.open(path) as segment:
        assert (segment.doc_count, segment.verify()) == (199, [])


def test_missing_folder_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SegmentBuilder().write(tmp_path / "missing" / "a", sync=False)


WRITE_AND_MEASURE = """
import resource, sys
from jird_native import SegmentBuilder
builder = SegmentBuilder()
for page in range(1, 9000):
    builder.add_terms(page, " ".join(f"t{(page * 31 + i * i) % 9001}" for i in range(300)).encode())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
info = builder.write(sys.argv[1], sync=False)
print(info.bytes, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_peak_memory_of_writing_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """J20: output goes through bounded chunks; what is large goes through unlinked files."""
    run = subprocess.run(
        [sys.executable, "-c", WRITE_AND_MEASURE, tmp_path / "a"], check=True, capture_output=True, text=True
    )
    written, grown = map(int, run.stdout.split())
    assert written > 7_000_000
    assert grown < 5_000_000
    assert os.listdir(tmp_path) == ["a"]


def test_weighted_fields_make_up_frequency_and_length(tmp_path: Path) -> None:
    builder = SegmentBuilder(field_weights=(5, 1, 1, 1, 2))
    builder.add(doc(1, "word", "word word"))
    builder.add(doc(2, "other", "word word"))
    segment = built(tmp_path / "a", builder)
    assert segment.total_length == 18
    assert search(segment, Term("word")) == [1, 2]
    assert search(segment, Term("word", fields=frozenset({Field.TITLE}))) == [1]


def test_segment_without_positions_refuses_phrases_and_fields(tmp_path: Path) -> None:
    builder = SegmentBuilder(with_positions=False)
    builder.add_terms(1, b"one two")
    segment = built(tmp_path / "a", builder)
    assert search(segment, Term("one")) == [1]
    for query in (phrase_of(["one", "two"]), Term("one", fields=frozenset({Field.BODY}))):
        with pytest.raises(ValueError, match="without positions"):
            search(segment, query)
    assert segment.verify() == []


def deep(levels: int) -> Query:
    query: Query = Term("w")
    for _ in range(levels):
        query = Or((query,))
    return query


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (Or(()), "And and Or need a child"),
        (And((Not(Term("w")),)), "And and Or need a child"),
        (Or((Not(Term("w")), Term("v"))), "Not stands only within And"),
        (Not(Term("w")), "Not stands only within And"),
        (Or(tuple(Term(f"w{i}") for i in range(300))), "at most 256 nodes"),
        (deep(16), "at most 16 deep"),
        (deep(5000), "at most 16 deep"),
        (phrase_of([]), "1 to 32 terms"),
        (phrase_of(["w"] * 33), "1 to 32"),
        (Term("w", weight=0.0), "weight"),
        (Term("w", weight=float("nan")), "weight"),
        (Term("w", fields=frozenset()), "fields"),
        (Term("w" * 70_000), "bytes"),
    ],
)
def test_query_beyond_the_bounds_is_refused(query: Query, reason: str, tmp_path: Path) -> None:
    """J158: C takes 256 nodes, 16 deep, whatever the parser sends."""
    builder = SegmentBuilder()
    builder.add_terms(1, b"w")
    with built(tmp_path / "a", builder) as segment, pytest.raises(ValueError, match=reason):
        search(segment, query)


@pytest.mark.parametrize("k", [0, 100_001])
def test_k_beyond_its_bounds_is_refused(k: int, tmp_path: Path) -> None:
    """J159: at most 100,000 results of one search."""
    builder = SegmentBuilder()
    builder.add_terms(1, b"w")
    with built(tmp_path / "a", builder) as segment, pytest.raises(ValueError, match="k must be 1 to 100000"):
        Snapshot([(segment, None)]).search(Term("w"), k)


def test_filter_alone_gives_all_its_documents_with_score_zero(tmp_path: Path) -> None:
    builder = SegmentBuilder()
    for page in (1, 2, 3):
        builder.add(doc(page, "", "text", "a.test" if page != 2 else "b.test"))
    result = Snapshot([(built(tmp_path / "a", builder), None)]).search(Filter(Term("a.test", Namespace.HOST)), 10)
    assert (result.page_ids, result.scores, result.exact) == ([1, 3], [0.0, 0.0], True)
