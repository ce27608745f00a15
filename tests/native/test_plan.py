"""The planner: which way a query takes, and what the result tells about the work."""

from collections.abc import Iterator

import pytest

from jird_native import And, Field, Or, Query, Segment, SegmentBuilder, Snapshot, Term


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
        (Term("common", fields=frozenset({Field.BODY})), "tree"),
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
