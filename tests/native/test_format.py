"""The format: its digests and constants computed apart from C, and files of earlier days that must still open."""

import os
from pathlib import Path
from random import Random

from jird_native import (
    FIELD_WEIGHTS,
    FORMAT_VERSION,
    And,
    DocumentInput,
    Filter,
    Namespace,
    Or,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
    phrase_of,
)
from testkit import qix_file
from testkit.oracle import Oracle, OracleDocument, stored_length

COMPAT = Path(__file__).parents[1] / "compat"


def golden_documents() -> list[list[bytes]]:
    """600 documents of words that any version of Python draws alike."""
    state, documents = 12345, []
    for _ in range(600):
        words = []
        for _ in range(3 + state % 17):
            state = (state * 1103515245 + 12345) % (1 << 31)
            words.append(b"w%d" % ((state >> 16) % (1 + (state >> 8) % 50)))
        documents.append(words)
    return documents


def write_golden(path: Path) -> None:
    """What tests/compat/qix_v5.qix was written with."""
    builder = SegmentBuilder()
    for page, words in enumerate(golden_documents(), start=1):
        builder.add_terms(page * 3, words, origin_id=page % 4)
    host = ((Namespace.HOST, "golden.test"),)
    builder.add(DocumentInput(2000, 9, 0x656E, 1_700_000_000, 7, 1, ("Title w1", "w2", "w3", "w4", "w1 w2"), host))
    builder.write(path, sync=False)


def test_file_of_this_format_version_still_opens_and_answers() -> None:
    """J21: tests/compat holds a file of each format version; what it answers is known from the oracle."""
    documents = [
        OracleDocument(page * 3, [(4, at, word.decode(), True) for at, word in enumerate(words)])
        for page, words in enumerate(golden_documents(), start=1)
    ]
    fields = ("title w1", "w2", "w3", "w4", "w1 w2")
    tokens = [(place, at, word, True) for place, text in enumerate(fields) for at, word in enumerate(text.split())]
    documents.append(OracleDocument(2000, tokens, [(Namespace.HOST, "golden.test")]))
    oracle = Oracle(documents, FIELD_WEIGHTS)
    with Segment.open(COMPAT / f"qix_v{FORMAT_VERSION}.qix") as segment:
        assert segment.verify() == []
        row = segment.document(segment.find(2000) or 0)
        assert (row.origin_id, row.language, row.date_s, row.static_rank, row.flags) == (9, 0x656E, 1_700_000_000, 7, 1)
        for query in (
            Term("w1"),
            Or((Term("w0"), Term("w7"), Term("w40"))),
            And((Term("w1"), Term("w2"))),
            phrase_of(["w1", "w0"]),
            And((Term("w1"), Filter(Term("golden.test", Namespace.HOST)))),
        ):
            result = Snapshot([(segment, None)]).search(query, 25)
            assert (result.page_ids, result.scores) == oracle.search(query, 25)[:2]


def test_writer_still_writes_the_same_bytes(tmp_path: Path) -> None:
    """J21: fixed byte order; a change of the bytes is a change of the format and needs a new version."""
    write_golden(tmp_path / "now")
    now, then = (tmp_path / "now").read_bytes(), (COMPAT / f"qix_v{FORMAT_VERSION}.qix").read_bytes()
    assert now[:16] == then[:16]
    assert now[qix_file.HEADER_BYTES :] == then[qix_file.HEADER_BYTES :]


def test_digests_equal_those_computed_in_python(tmp_path: Path) -> None:
    """J16, J18: every chunk of 1 MiB, and the root over header and digest table, in a file of several chunks."""
    builder, random = SegmentBuilder(), Random(1)
    for page in range(1, 1500):
        builder.add_terms(page, [b"%d" % random.randrange(1 << 20) for _ in range(100)])
    info = builder.write(tmp_path / "a", sync=False)
    data = (tmp_path / "a").read_bytes()
    assert info.chunk_count >= 2
    assert data[qix_file.HEADER_BYTES + qix_file.payload_bytes(data) :] == qix_file.digest_table(data)
    assert data[qix_file.ROOT] == qix_file.root_digest(data)
    assert qix_file.repaired(data) == data


def test_bad_chunk_is_found_by_the_query_that_needs_it_and_named(tmp_path: Path) -> None:
    """J14, J16: the rest of the file goes on answering; verify finds the chunk."""
    builder, random = SegmentBuilder(), Random(1)
    for page in range(1, 1500):
        builder.add_terms(page, [b"%d" % random.randrange(1 << 20) for _ in range(100)] + [b"zzz"])
    builder.write(tmp_path / "a", sync=False)
    data = bytearray((tmp_path / "a").read_bytes())
    where = qix_file.section(bytes(data), "RANGE_BOUNDS")
    data[where.stop - 1] ^= 1
    (tmp_path / "b").write_bytes(data)
    chunk = (where.stop - 1 - qix_file.HEADER_BYTES) // qix_file.CHUNK_BYTES
    with Segment.open(tmp_path / "b") as segment:
        assert segment.find(77) is not None
        faults = segment.verify()
    assert [fault.offset for fault in faults] == [qix_file.HEADER_BYTES + chunk * qix_file.CHUNK_BYTES]
    assert faults[0].reason == "digest of the 1 MiB chunk is wrong"


def test_header_fields_are_where_the_format_says(sample: bytes) -> None:
    header = (Path(__file__).parents[2] / "native" / "qix" / "qix_format.h").read_text()
    assert sample[:16].hex(" ").upper() in " ".join(header.replace("*", " ").split())
    listed = header[header.index("QIX_PAGE_IDS = 1") : header.index("QIX_SECTION_END")].replace(" = 1", "")
    assert [name.strip().removeprefix("QIX_") for name in listed.split(",")[:-1]] == list(qix_file.SECTIONS)


def test_stored_lengths_are_exact_below_40_and_have_four_bits_above(tmp_path: Path) -> None:
    """The table of C, seen through scores that depend on the stored length alone, and the oracle's."""
    lengths = [*range(1, 60), 100, 257, 1000, 4095, 4096, 40_000]
    builder = SegmentBuilder()
    for page, length in enumerate(lengths, start=1):
        builder.add_terms(page, b"word " + b"pad " * (length - 1))
    builder.write(tmp_path / "a", sync=False)
    with Segment.open(tmp_path / "a") as segment:
        codes = (tmp_path / "a").read_bytes()[qix_file.section((tmp_path / "a").read_bytes(), "LENGTH_CODES")]
        result = Snapshot([(segment, None)]).search(Term("word"), 100)
        score = dict(zip(result.page_ids, result.scores, strict=True))
    stored = [stored_length(length) for length in lengths]
    assert stored[:42] == [*range(1, 41), 40, 42]
    for page in range(1, len(lengths)):
        assert (codes[page - 1] == codes[page]) == (stored[page - 1] == stored[page])
        assert (score[page] == score[page + 1]) == (stored[page - 1] == stored[page])


def test_example_of_the_format_is_what_is_written(tmp_path: Path) -> None:
    """The tail block of qix_format.h: docids 3, 4, 9 with frequencies 1, 5, 1."""
    builder = SegmentBuilder(with_positions=False)
    times = {3: 1, 4: 5, 9: 1}
    for docid in range(10):
        builder.add_terms(docid + 1, b"x " * times.get(docid, 0))
    builder.write(tmp_path / "a", sync=False)
    data = (tmp_path / "a").read_bytes()
    assert data[qix_file.section(data, "POSTINGS")].hex(" ") == "07 00 05 09"


if __name__ == "__main__":
    target = COMPAT / f"qix_v{FORMAT_VERSION}.qix"
    write_golden(target)
    os.chmod(target, 0o644)
