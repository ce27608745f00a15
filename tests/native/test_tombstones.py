"""Deleted documents: the bitmap, its stored form, and its use in a search."""

from pathlib import Path

import pytest

from jird_native import Segment, SegmentBuilder, Snapshot, Term, Tombstones


def test_bits_survive_storing() -> None:
    stones = Tombstones(21)
    assert [stones.add(docid) for docid in (0, 7, 8, 20, 7)] == [True, True, True, True, False]
    again = Tombstones.from_bytes(stones.to_bytes(), 21)
    assert again.count == 4
    assert [docid for docid in range(22) if docid in again] == [0, 7, 8, 20]


@pytest.mark.parametrize("docid", [-1, 21])
def test_docid_outside_the_segment_is_refused(docid: int) -> None:
    with pytest.raises(ValueError, match="0 to 20"):
        Tombstones(21).add(docid)


def test_any_changed_byte_of_the_stored_form_is_refused() -> None:
    """F91: a damaged bitmap would hide or revive pages."""
    data = Tombstones(100).to_bytes()
    for offset in range(len(data)):
        damaged = data[:offset] + bytes((data[offset] ^ 1,)) + data[offset + 1 :]
        with pytest.raises(ValueError, match="damaged"):
            Tombstones.from_bytes(damaged, 100)
    for end in range(0, len(data), 7):
        with pytest.raises(ValueError, match="damaged"):
            Tombstones.from_bytes(data[:end], 100)
    with pytest.raises(ValueError, match="for 100 documents, expected 99"):
        Tombstones.from_bytes(data, 99)


def test_snapshot_keeps_the_deletions_it_was_made_with(tmp_path: Path) -> None:
    """J33: a reader sees one state, whatever is deleted meanwhile."""
    builder = SegmentBuilder()
    for page in (1, 2, 3):
        builder.add_terms(page, b"word")
    builder.write(tmp_path / "a", sync=False)
    segment, stones = Segment.open(tmp_path / "a"), Tombstones(3)
    before = Snapshot([(segment, stones)])
    stones.add(1)
    after = Snapshot([(segment, stones)])
    copy = stones.copy()
    copy.add(0)
    assert before.search(Term("word"), 9).page_ids == [1, 2, 3]
    assert after.search(Term("word"), 9).page_ids == [1, 3]
    assert (before.document_count, after.document_count, stones.count) == (3, 2, 1)


def test_tombstones_of_another_segment_are_refused(tmp_path: Path) -> None:
    builder = SegmentBuilder()
    builder.add_terms(1, b"word")
    builder.write(tmp_path / "a", sync=False)
    stones = Tombstones(8)
    stones.add(3)
    with pytest.raises(ValueError, match="for 8 documents, expected 1"):
        Snapshot([(Segment.open(tmp_path / "a"), stones)])
