"""Damaged segments: refused at open, or at the latest by the query or the check that meets the damage; never served."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from jird_native import (
    FORMAT_VERSION,
    CorruptSegmentError,
    FormatVersionError,
    Or,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
    phrase_of,
)
from testkit import qix_file

QUERIES = (
    Term("w0"),
    Term("w150"),
    Or((Term("w0"), Term("w3"), Term("w199"))),
    phrase_of(["w0", "w1"]),
)


def answers(segment: Segment) -> list[list[int]]:
    snapshot = Snapshot([(segment, None)])
    return [snapshot.search(query, 20).page_ids for query in QUERIES]


@pytest.fixture(scope="module")
def expected(sample_path: Path) -> list[list[int]]:
    with Segment.open(sample_path) as segment:
        assert segment.verify() == []
        return answers(segment)


def outcome(path: Path, expected: list[list[int]]) -> str:
    """What becomes of a damaged file: "open", "query" or "verify" is where it is found."""
    try:
        segment = Segment.open(path)
    except (CorruptSegmentError, FormatVersionError):
        return "open"
    with segment:
        try:
            assert answers(segment) == expected, "a damaged file was served"
        except CorruptSegmentError:
            return "query"
        assert segment.verify() != [], "damage was not found"
        return "verify"


def test_any_flipped_bit_of_the_header_is_refused_at_open(sample: bytes, tmp_path: Path) -> None:
    """J14, J16, J19, F91: every bit of the header and the section table, and of each digest's bytes one."""
    table = qix_file.HEADER_BYTES + qix_file.payload_bytes(sample)
    places = [(offset, bit) for offset in (*range(600), 1000, 4095) for bit in range(8)]
    places += [(offset, offset % 8) for offset in range(table, len(sample))]
    path = tmp_path / "a.qix"
    path.write_bytes(sample)
    with path.open("r+b", buffering=0) as file:
        for offset, bit in places:
            os.pwrite(file.fileno(), bytes((sample[offset] ^ 1 << bit,)), offset)
            with pytest.raises((CorruptSegmentError, FormatVersionError)):
                Segment.open(path)
            os.pwrite(file.fileno(), sample[offset : offset + 1], offset)
    with Segment.open(path) as segment:
        assert segment.verify() == []


@pytest.mark.parametrize("name", qix_file.SECTIONS)
def test_changed_byte_of_a_section_is_never_served(
    name: str, sample: bytes, expected: list[list[int]], tmp_path: Path
) -> None:
    """J14, F91: a bit flipped at sampled places of each section, its first and last byte among them, each bit once."""
    where, random = qix_file.section(sample, name), Random(name)
    offsets = {where.start, where.stop - 1, *(random.randrange(where.start, where.stop) for _ in range(10))}
    for i, offset in enumerate(offsets):
        damaged = sample[:offset] + bytes((sample[offset] ^ 1 << i % 8,)) + sample[offset + 1 :]
        assert outcome(qix_file.write(tmp_path / f"{offset}.qix", damaged), expected) in ("open", "query", "verify")


def test_file_cut_short_anywhere_is_refused_at_open(sample: bytes, tmp_path: Path) -> None:
    """J19: at every section's bounds and beside them, and at random places."""
    random = Random(2)
    ends = {0, 1, 7, 4095, 4096, len(sample) - 1, *(random.randrange(len(sample)) for _ in range(20))}
    for name in qix_file.SECTIONS:
        where = qix_file.section(sample, name)
        ends |= {where.start, where.stop, where.start + 1, where.stop - 1}
    for end in ends:
        with pytest.raises(CorruptSegmentError):
            Segment.open(qix_file.write(tmp_path / f"{end}.qix", sample[:end]))


def test_file_with_bytes_after_its_end_is_refused_at_open(sample: bytes, tmp_path: Path) -> None:
    with pytest.raises(CorruptSegmentError, match="another length"):
        Segment.open(qix_file.write(tmp_path / "a.qix", sample + b"\0"))


def test_random_bytes_are_refused_at_open(sample: bytes, tmp_path: Path) -> None:
    random = Random(3)
    for size in (1, 100, 4096, 10_000):
        with pytest.raises(CorruptSegmentError):
            Segment.open(qix_file.write(tmp_path / f"{size}.qix", random.randbytes(size)))
        with pytest.raises(CorruptSegmentError):
            Segment.open(qix_file.write(tmp_path / f"{size}m.qix", sample[:64] + random.randbytes(size + 4096)))


def test_other_format_version_is_named(sample: bytes, tmp_path: Path) -> None:
    path = qix_file.write(tmp_path / "a.qix", qix_file.with_u32(sample, 8, FORMAT_VERSION + 1))
    message = f"format version {FORMAT_VERSION + 1}, expected {FORMAT_VERSION}"
    with pytest.raises(FormatVersionError, match=message) as caught:
        Segment.open(path)
    assert (caught.value.found, caught.value.path) == (FORMAT_VERSION + 1, path)


def test_error_names_file_offset_and_reason(sample: bytes, tmp_path: Path) -> None:
    where = qix_file.section(sample, "POSTINGS")
    damaged = sample[: where.start] + bytes((sample[where.start] ^ 1,)) + sample[where.start + 1 :]
    path = qix_file.write(tmp_path / "a.qix", damaged)
    with Segment.open(path) as segment, pytest.raises(CorruptSegmentError) as caught:
        answers(segment)
    assert caught.value.path == path
    assert caught.value.offset == qix_file.HEADER_BYTES
    assert caught.value.reason == "digest of the 1 MiB chunk is wrong"


def test_damage_in_one_part_names_that_part(sample: bytes, sample_path: Path, tmp_path: Path) -> None:
    where = qix_file.section(sample, "POSTINGS")
    damaged = sample[: where.start] + bytes((sample[where.start] ^ 1,)) + sample[where.start + 1 :]
    path = qix_file.write(tmp_path / "a.qix", damaged)
    with Segment.open(sample_path) as good, Segment.open(path) as bad, pytest.raises(CorruptSegmentError) as caught:
        Snapshot([(good, None), (bad, None)]).search(Term("w0"), 3)
    assert caught.value.path == path


def change_ordinal(data: bytes) -> bytes:
    return qix_file.with_u32(data, qix_file.section(data, "PAGE_ORDER").start, 999_999)


def change_page(data: bytes) -> bytes:
    return qix_file.with_bytes(data, qix_file.section(data, "PAGE_IDS").start, bytes(8))


def change_length(data: bytes) -> bytes:
    return qix_file.with_u32(data, qix_file.section(data, "LENGTHS").start, 5_000_000)


def change_length_code(data: bytes) -> bytes:
    return qix_file.with_bytes(data, qix_file.section(data, "LENGTH_CODES").start, b"\xff")


def change_total(data: bytes) -> bytes:
    return qix_file.with_bytes(data, 72, b"\x01\0\0\0\0\0\0\0")


def change_doc_count(data: bytes) -> bytes:
    return qix_file.with_u32(data, 68, 2_499)


def change_term_count(data: bytes) -> bytes:
    return qix_file.with_bytes(data, 80, b"\xff" * 8)


def claim_a_billion_terms(data: bytes) -> bytes:
    return qix_file.with_bytes(data, 80, (10**9).to_bytes(8, "little"))


def move_section(data: bytes) -> bytes:
    return qix_file.with_bytes(data, 192 + 24 * 9 + 8, (1 << 63).to_bytes(8, "little"))


def stretch_section(data: bytes) -> bytes:
    return qix_file.with_bytes(data, 192 + 24 * 9 + 16, b"\xff" * 8)


def change_term_index(data: bytes) -> bytes:
    return qix_file.with_bytes(data, qix_file.section(data, "TERM_INDEX").start + 32 + 16, b"\xff" * 8)


@pytest.mark.parametrize(
    "change",
    [
        change_ordinal,
        change_page,
        change_length,
        change_length_code,
        change_total,
        change_doc_count,
        change_term_count,
        claim_a_billion_terms,
        move_section,
        stretch_section,
        change_term_index,
    ],
)
def test_wrong_structure_with_right_digests_is_refused_at_open(
    change: Callable[[bytes], bytes], sample: bytes, tmp_path: Path
) -> None:
    """J15, J17, J19: what a writer with a fault, or an attacker, could have made."""
    with pytest.raises(CorruptSegmentError):
        Segment.open(qix_file.write(tmp_path / "a.qix", change(sample)))


LIST_HEADER = 32


def first_list(data: bytes, path: Path) -> tuple[int, int]:
    """File offset and block count of the list of w0, the first key: a long one."""
    with Segment.open(path) as segment:
        return qix_file.section(data, "POSTINGS").start, -(-segment.df("w0") // 128)


@pytest.mark.parametrize(
    ("what", "row", "new", "reason"),
    [
        ("last docid of a block", 0, b"\xff\xff\xff\x7f", "last document of a block is not its summary's"),
        ("offset of a block", 4, b"\xff\xff\xff\x7f", "block offsets leave the list"),
        ("offset of a block's positions", 8, b"\xff\xff\xff\x7f", "position"),
        ("pairs of a block", 12, b"\x01\xff" * 4, "impact pairs do not cover a posting"),
    ],
)
def test_wrong_block_summary_with_right_digests_is_found(
    what: str, row: int, new: bytes, reason: str, sample: bytes, sample_path: Path, tmp_path: Path
) -> None:
    """J17, J19: the summaries that skipping trusts."""
    start, blocks = first_list(sample, sample_path)
    changed = qix_file.with_bytes(sample, start + LIST_HEADER + row * blocks, new)
    with Segment.open(qix_file.write(tmp_path / "a.qix", changed)) as segment:
        faults = segment.verify()
    assert any(reason in fault.reason for fault in faults), f"{what}: {faults}"


def test_wrong_range_bound_with_right_digests_is_found(sample: bytes, tmp_path: Path) -> None:
    start = qix_file.section(sample, "RANGE_BOUNDS").start
    changed = qix_file.with_bytes(sample, start, b"\x01")
    with Segment.open(qix_file.write(tmp_path / "a.qix", changed)) as segment:
        assert [fault.reason for fault in segment.verify()] == ["range bound is not above the scores of its range"]


def test_posting_beyond_the_documents_is_found_by_query_and_check(tmp_path: Path) -> None:
    """J15, J19: a docid that is not below the document count."""
    builder = SegmentBuilder(with_positions=False)
    builder.add_terms(1, b"word")
    builder.write(tmp_path / "a.qix", sync=False)
    data = (tmp_path / "a.qix").read_bytes()
    changed = qix_file.with_bytes(data, qix_file.section(data, "POSTINGS").start, b"\x7f")
    with Segment.open(qix_file.write(tmp_path / "b.qix", changed)) as segment:
        with pytest.raises(CorruptSegmentError, match="docid is not below the document count"):
            Snapshot([(segment, None)]).search(Term("word"), 1)
        assert [fault.reason for fault in segment.verify()] == ["docid is not below the document count"]


def test_random_change_with_right_digests_never_crashes(sample: bytes, tmp_path: Path) -> None:
    """J19: the bounds checks behind the digests hold by themselves. Wrong answers are possible; crashes are not."""
    random, path = Random(7), tmp_path / "a.qix"
    lists = [
        qix_file.section(sample, name) for name in ("POSTINGS", "POSITIONS", "TERMS", "TERM_INDEX", "RANGE_BOUNDS")
    ]
    found = 0
    for _ in range(150):
        changed = bytearray(sample)
        for _ in range(random.randrange(1, 4)):
            where = random.choice(lists)
            changed[random.randrange(where.start, where.stop)] = random.randrange(256)
        path.unlink(missing_ok=True)
        try:
            with Segment.open(qix_file.write(path, qix_file.repaired(bytes(changed)))) as segment:
                found += segment.verify() != []
                answers(segment)
        except CorruptSegmentError:
            found += 1
    assert found > 75
