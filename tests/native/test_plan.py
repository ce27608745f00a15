"""The planner: which way a query takes, and what the result tells about the work."""

from collections.abc import Iterator
from math import log
from pathlib import Path
from struct import unpack_from

import pytest

from jird_native import And, Field, Or, Query, Segment, SegmentBuilder, Snapshot, Term, merge_segments
from testkit import qix_file


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    path, builder = tmp_path_factory.mktemp("plan") / "a.qix", SegmentBuilder()
    for page in range(1, 401):
        builder.add_terms(page, b"common" + b" rare" * (page % 200 == 0))
    builder.write(path, sync=False)
    with Segment.open(path) as segment:
        yield Snapshot([(segment, None)])


@pytest.mark.parametrize(
    ("query", "plan"),
    [
        (Term("common"), "term"),
        (Term("common", fields=frozenset({Field.BODY})), "and"),
        (Or((Term("common"), And((Term("rare"), Term("common"))))), "or tree"),
    ],
)
def test_planner_picks_the_way_that_fits_the_query(snapshot: Snapshot, query: Query, plan: str) -> None:
    """J26: all plans give the same hits, so that the plan can only be seen in the result's figures."""
    assert snapshot.search(query, 3).plan == plan


def test_result_says_how_much_of_the_lists_was_decoded(snapshot: Snapshot) -> None:
    """J26: four blocks of a list of 400 postings; the rare list is one block of two."""
    result = snapshot.search(Term("common"), 400)
    assert (result.postings_total, result.blocks_total) == (400, 4)
    assert (result.postings_decoded, result.blocks_decoded) == (400, 4)
    both = snapshot.search(Or((Term("common"), Term("rare"))), 1)
    assert (both.postings_total, both.blocks_total) == (402, 5)


def test_list_header_says_what_its_tenth_best_posting_reaches(tmp_path: Path) -> None:
    """J26: the k-th best is within a step below the true one, survives a merge, and no k above df has one."""
    builder = SegmentBuilder()
    for page in range(1, 501):
        builder.add_terms(page, b"word " * (page % 50 + 1) + b"pad " * (page % 7))
    builder.write(tmp_path / "a", sync=False)
    with Segment.open(tmp_path / "a") as segment:
        merge_segments([(segment, None)], tmp_path / "b", sync=False)
        df = segment.df("word")
        scores = Snapshot([(segment, None)]).search(Term("word"), 100).scores
    idf = log(1 + (500 - df + 0.5) / (df + 0.5))
    for name in ("a", "b"):
        _, kth = kth_best((tmp_path / name).read_bytes())  # of "pad" and of "word"
        for value, score in zip(kth, (scores[9], scores[99], 0.0), strict=True):
            assert score / idf - 1 / 4000 <= value / 65535 <= score / idf


def kth_best(data: bytes) -> list[tuple[int, int, int]]:
    """The k-th best of every long list, by key (native/qix/qix_format.h)."""
    postings, found = data[qix_file.section(data, "POSTINGS")], []
    terms, at, start = data[qix_file.section(data, "TERMS")], 0, 0
    while at < len(terms):
        at += 2 + terms[at + 1]  # shared and suffix bytes are small here
        numbers = []
        for _ in range(3):
            value = shift = 0
            while True:
                byte = terms[at]
                value |= (byte & 127) << shift
                at, shift = at + 1, shift + 7
                if byte < 128:
                    break
            numbers.append(value)
        if numbers[0] >= 128:
            found.append(unpack_from("<3H", postings, start + 8))
        start += numbers[1]
    return found
