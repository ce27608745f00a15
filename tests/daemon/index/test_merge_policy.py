"""Which segments are merged."""

from hypothesis import given, settings
from hypothesis import strategies as st

from jird_daemon.index.merge_policy import SegmentSize, changed_since_base, choose_merge


def choose(*counts: int, changed: int = 0) -> tuple[int, ...]:
    sizes = [SegmentSize(count) for count in counts]
    return choose_merge(sizes, changed, merge_segments=8, max_overlay_documents=1_000)


def test_eight_like_segments_are_merged_and_seven_are_not() -> None:
    """J91: reaching 8 segments schedules a merge."""
    assert choose(*[100] * 7) == ()
    assert choose(*[100] * 8) == tuple(range(8))


def test_thousand_changed_documents_schedule_a_merge() -> None:
    """J91: so do 1,000 changed documents."""
    assert choose(500, 500, changed=999) == ()
    assert choose(500, 500, changed=1_000) == (0, 1)


def test_large_base_is_left_alone_when_small_segments_merge() -> None:
    """Only an explicit compaction rewrites everything."""
    assert choose(1_000_000, *[100] * 7) == tuple(range(1, 8))
    assert choose(1_000_000, 100, changed=5_000) == ()


def test_mostly_deleted_segment_is_rewritten_by_itself() -> None:
    sizes = [SegmentSize(10_000), SegmentSize(900, 1_100)]
    assert choose_merge(sizes, 0, merge_segments=8, max_overlay_documents=1_000) == (1,)
    assert choose_merge([SegmentSize(4, 6)], 0, merge_segments=8, max_overlay_documents=1_000) == ()


@settings(max_examples=30)
@given(st.lists(st.integers(1, 400), min_size=300, max_size=300))
def test_number_of_segments_and_of_copies_stays_small(seals: list[int]) -> None:
    """Write work of a growing index: each document is copied a few times, whatever sizes come in.

    Segments of fewer than 64 documents count as 64: to merge one costs about as much.
    """
    counts: list[int] = []
    copied = since = 0
    for seal in seals:
        counts.append(seal)
        since += seal
        sizes = [SegmentSize(count) for count in counts]
        while chosen := choose_merge(sizes, since, merge_segments=8, max_overlay_documents=1_000):
            merged = sum(counts[index] for index in chosen)
            counts = [count for index, count in enumerate(counts) if index not in chosen] + [merged]
            sizes = [SegmentSize(count) for count in counts]
            copied, since = copied + merged, 0
        assert len(counts) <= 16
    assert copied <= 12 * sum(max(seal, 64) for seal in seals)


def test_changed_documents_are_counted_from_the_largest_segment() -> None:
    assert changed_since_base([]) == 0
    assert changed_since_base([SegmentSize(1_000, 5), SegmentSize(10), SegmentSize(3)]) == 18
