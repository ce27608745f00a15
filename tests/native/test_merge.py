"""Merging segments: the same answers from one file, without the deleted documents."""

from pathlib import Path
from random import Random
from threading import Thread

import pytest

from jird_native import (
    CorruptSegmentError,
    DocumentOrder,
    MergeControl,
    Segment,
    SegmentBuilder,
    StoppedError,
    Term,
    Tombstones,
    merge_segments,
)
from testkit.index import TextDocument, random_documents, words_of

WORDS = words_of(120)


def write(path: Path, documents: list[TextDocument], order: DocumentOrder = DocumentOrder.ORIGIN) -> Segment:
    builder = SegmentBuilder()
    for doc in documents:
        builder.add(doc.native)
    builder.write(path, sync=False, order=order)
    return Segment.open(path)


@pytest.mark.parametrize("part_order", list(DocumentOrder))
def test_merged_segment_equals_one_built_from_the_same_documents(part_order: DocumentOrder, tmp_path: Path) -> None:
    """To the byte: whatever order the parts have, lists that stream and lists that are sorted first."""
    documents = random_documents(Random(5), Random(6).sample(range(1, 9999), 1500), WORDS, 25)
    parts = [write(tmp_path / str(i), documents[i::3], part_order) for i in range(3)]
    info = merge_segments([(part, None) for part in parts], tmp_path / "merged", sync=False)
    write(tmp_path / "whole", documents)
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (info.doc_count, info.bytes) == (1500, (tmp_path / "whole").stat().st_size)


def test_deleted_documents_leave_nothing_behind(tmp_path: Path) -> None:
    """A merge with tombstones equals building without those documents, to the byte."""
    random = Random(8)
    documents = random_documents(random, range(1, 701), WORDS, 25)
    parts, alive = [], []
    for i in range(2):
        segment = write(tmp_path / str(i), documents[i::2])
        stones = Tombstones(segment.doc_count)
        for doc in documents[i::2]:
            if random.random() < 0.4:
                docid = segment.find(doc.native.page_id)
                assert docid is not None
                stones.add(docid)
            else:
                alive.append(doc)
        parts.append((segment, stones))
    merge_segments(parts, tmp_path / "merged", sync=True)
    write(tmp_path / "alive", alive)
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "alive").read_bytes()


def test_given_order_keeps_documents_as_they_follow_each_other(tmp_path: Path) -> None:
    parts: list[tuple[Segment, Tombstones | None]] = []
    for name, pages in (("a", (7, 3)), ("b", (9, 1))):
        builder = SegmentBuilder()
        for page in pages:
            builder.add_terms(page, b"word", origin_id=page)
        builder.write(tmp_path / name, sync=False, order=DocumentOrder.GIVEN)
        parts.append((Segment.open(tmp_path / name), None))
    merge_segments(parts, tmp_path / "given", sync=False, order=DocumentOrder.GIVEN)
    merge_segments(parts, tmp_path / "origin", sync=False)
    assert Segment.open(tmp_path / "given").page_ids() == [7, 3, 9, 1]
    assert Segment.open(tmp_path / "origin").page_ids() == [1, 3, 7, 9]


def test_page_alive_in_two_parts_is_refused(tmp_path: Path) -> None:
    parts: list[tuple[Segment, Tombstones | None]] = []
    for name in "ab":
        builder = SegmentBuilder()
        builder.add_terms(1, b"word")
        builder.write(tmp_path / name, sync=False)
        parts.append((Segment.open(tmp_path / name), None))
    with pytest.raises(ValueError, match="alive in two"):
        merge_segments(parts, tmp_path / "c", sync=False)
    assert not (tmp_path / "c").exists()


def test_segments_of_different_kinds_are_not_merged(tmp_path: Path) -> None:
    parts: list[tuple[Segment, Tombstones | None]] = []
    for name, weights in (("a", (1, 1, 1, 1, 1)), ("b", (2, 1, 1, 1, 1))):
        builder = SegmentBuilder(field_weights=weights)
        builder.add_terms(ord(name), b"word")
        builder.write(tmp_path / name, sync=False)
        parts.append((Segment.open(tmp_path / name), None))
    with pytest.raises(ValueError, match="differ in field weights"):
        merge_segments(parts, tmp_path / "c", sync=False)
    with pytest.raises(ValueError, match="1 to 1024 segments"):
        merge_segments([], tmp_path / "c", sync=False)


def test_damaged_part_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    """J14, F91: a merge does not carry damage over."""
    documents = random_documents(Random(1), range(1, 40), WORDS, 9)
    good = write(tmp_path / "good", documents)
    data = bytearray((tmp_path / "good").read_bytes())
    data[4200] ^= 1
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(CorruptSegmentError) as caught:
        merge_segments([(good, None), (Segment.open(tmp_path / "bad"), None)], tmp_path / "c", sync=False)
    assert caught.value.path == tmp_path / "bad"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "good"]


def test_merge_of_nothing_alive_is_an_empty_segment(tmp_path: Path) -> None:
    builder = SegmentBuilder()
    builder.add_terms(1, b"word")
    builder.write(tmp_path / "a", sync=False)
    stones = Tombstones(1)
    stones.add(0)
    info = merge_segments([(Segment.open(tmp_path / "a"), stones)], tmp_path / "b", sync=False)
    assert (info.doc_count, info.term_count) == (0, 0)
    assert Segment.open(tmp_path / "b").verify() == []


def test_merged_segment_passes_the_deep_check(tmp_path: Path) -> None:
    """J17: bounds, summaries and positions of what a merge wrote."""
    documents = random_documents(Random(3), range(1, 2501), WORDS, 12)
    parts = [write(tmp_path / str(i), documents[i::4]) for i in range(4)]
    merge_segments([(part, None) for part in parts], tmp_path / "m", sync=False)
    with Segment.open(tmp_path / "m") as segment:
        assert segment.verify() == []
        assert segment.df(Term("w0").term) > 1024


def test_stopped_merge_leaves_nothing_behind(tmp_path: Path) -> None:
    """One byte a second: the merge waits for its budget, until another thread stops it."""
    parts = list[tuple[Segment, None]]()
    for i in range(2):
        builder = SegmentBuilder()
        for page_id in range(1 + i, 2001, 2):
            builder.add_terms(page_id, b" ".join(b"t%d" % ((page_id * 31 + j * j) % 9001) for j in range(1000)))
        builder.write(tmp_path / str(i), sync=False)
        parts.append((Segment.open(tmp_path / str(i)), None))
    control, caught = MergeControl(bytes_per_s=1), list[BaseException]()

    def merge() -> None:
        try:
            merge_segments(parts, tmp_path / "merged", sync=False, control=control)
        except StoppedError as error:
            caught.append(error)

    thread = Thread(target=merge)
    thread.start()
    while control.done == 0 and thread.is_alive():
        thread.join(0.001)
    control.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert (len(caught), control.is_stopped) == (1, True)
    assert 0 < control.done < control.total
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def test_merge_within_its_budget_gives_the_same_bytes_and_shows_its_progress(tmp_path: Path) -> None:
    documents = random_documents(Random(9), range(1, 301), WORDS, 20)
    parts = [(write(tmp_path / str(i), documents[i::2]), None) for i in range(2)]
    control = MergeControl(bytes_per_s=1 << 30, cpu_percent=99)
    assert (control.done, control.total) == (0, 0)
    merge_segments(parts, tmp_path / "steered", sync=False, control=control)
    merge_segments(parts, tmp_path / "free", sync=False)
    assert (tmp_path / "steered").read_bytes() == (tmp_path / "free").read_bytes()
    assert 0 < control.done <= control.total


@pytest.mark.parametrize(("bytes_per_s", "cpu_percent"), [(-1, 100), (0, 0), (0, 101)])
def test_budget_out_of_range_is_refused(bytes_per_s: int, cpu_percent: int) -> None:
    with pytest.raises(ValueError, match="cpu_percent"):
        MergeControl(bytes_per_s=bytes_per_s, cpu_percent=cpu_percent)
