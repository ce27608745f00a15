"""An open segment: pages and rows, terms by prefix, the file's life."""

import os
import threading
from pathlib import Path

import pytest

from jird_native import (
    CorruptSegmentError,
    DocumentInput,
    Namespace,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
)


def doc(page_id: int, body: str = "word", origin_id: int = 1, **columns: int) -> DocumentInput:
    rest = {"language": 0, "date_s": 0, "static_rank": 0, "flags": 0} | columns
    return DocumentInput(page_id, origin_id, fields=("", "", "", "", body), keywords=(), **rest)


def segment_of(path: Path, *documents: DocumentInput) -> Segment:
    builder = SegmentBuilder()
    for document in documents:
        builder.add(document)
    builder.write(path, sync=False)
    return Segment.open(path)


def test_document_table_gives_back_every_column(tmp_path: Path) -> None:
    """J15: fixed-width columns, addressed by docid."""
    columns = {"language": (ord("d") << 8) | ord("e"), "date_s": -5, "static_rank": 65535, "flags": 3}
    segment = segment_of(tmp_path / "a", doc(1 << 60, "ein Wort", 0xFFFFFFFF, **columns), doc(2, "x", 7))
    docid = segment.find(1 << 60)
    assert docid is not None
    row = segment.document(docid)
    assert (row.page_id, row.origin_id, row.language, row.date_s) == (1 << 60, 0xFFFFFFFF, columns["language"], -5)
    assert (row.static_rank, row.flags, row.length) == (65535, 3, 2)


def test_documents_lie_by_origin_then_page(tmp_path: Path) -> None:
    segment = segment_of(tmp_path / "a", doc(9, origin_id=1), doc(3, origin_id=2), doc(4, origin_id=1))
    assert segment.page_ids() == [4, 9, 3]
    assert [segment.find(page) for page in (4, 9, 3)] == [0, 1, 2]
    assert segment.find(5) is None


def test_row_beyond_the_documents_is_a_value_error(tmp_path: Path) -> None:
    segment = segment_of(tmp_path / "a", doc(1))
    for docid in (-1, 1):
        with pytest.raises(ValueError, match="docid"):
            segment.document(docid)


def test_terms_with_a_prefix_come_by_falling_frequency(tmp_path: Path) -> None:
    documents = [doc(page, "common comb" if page < 9 else "common comet zebra") for page in range(1, 11)]
    segment = segment_of(tmp_path / "a", *documents)
    assert segment.terms("com") == [("common", 10), ("comb", 8), ("comet", 2)]
    assert segment.terms("com", limit=1) == [("common", 10)]
    assert segment.terms("") == [("common", 10), ("comb", 8), ("comet", 2), ("zebra", 2)]
    assert segment.terms("x") == []


def test_namespaces_do_not_mix(tmp_path: Path) -> None:
    builder = SegmentBuilder()
    builder.add(DocumentInput(1, 1, 0, 0, 0, 0, ("", "", "", "", "docs"), ((Namespace.HOST, "docs"),)))
    builder.add(DocumentInput(2, 1, 0, 0, 0, 0, ("", "", "", "", ""), ((Namespace.HOST, "docs"),)))
    builder.write(tmp_path / "a", sync=False)
    segment = Segment.open(tmp_path / "a")
    assert (segment.df("docs"), segment.df("docs", Namespace.HOST), segment.df("docs", Namespace.SITE)) == (1, 2, 0)
    assert segment.terms("d", namespace=Namespace.HOST) == [("docs", 2)]
    assert Snapshot([(segment, None)]).search(Term("docs", Namespace.HOST), 9).page_ids == [2, 1]


def test_every_term_is_found_and_no_other(tmp_path: Path) -> None:
    """Blocks of the dictionary hold 16 keys; keys that share their first eight bytes are told apart."""
    words = [f"sharedprefix{i:03d}" for i in range(0, 400, 2)] + ["a", "b", "zz"]
    segment = segment_of(tmp_path / "a", doc(1, " ".join(words)))
    assert all(segment.df(word) == 1 for word in words)
    missing = [f"sharedprefix{i:03d}" for i in range(1, 400, 2)] + ["", "0", "sharedprefix", "zzz"]
    assert all(segment.df(word) == 0 for word in missing)
    assert len(segment.terms("sharedprefix", limit=1000)) == 200


def test_empty_segment_answers(tmp_path: Path) -> None:
    segment = segment_of(tmp_path / "a")
    assert (segment.doc_count, segment.page_ids(), segment.terms(""), segment.verify()) == (0, [], [], [])
    assert Snapshot([(segment, None)]).search(Term("word"), 5).page_ids == []


def test_replaced_or_removed_file_goes_on_answering(tmp_path: Path) -> None:
    """F93: a mapped file is never truncated; replacing it by a rename leaves the mapping as it was."""
    segment = segment_of(tmp_path / "a", doc(1, "old"))
    segment_of(tmp_path / "a", doc(2, "new")).close()
    os.unlink(tmp_path / "a")
    assert Snapshot([(segment, None)]).search(Term("old"), 5).page_ids == [1]
    assert segment.verify() == []


def test_segment_file_is_read_only(tmp_path: Path) -> None:
    """F93: nobody writes into a mapped file by accident."""
    segment_of(tmp_path / "a", doc(1))
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o444


def test_close_unmaps_the_file_once_no_snapshot_holds_it(tmp_path: Path) -> None:
    """J35: no mapping is left in /proc/self/maps."""
    segment = segment_of(tmp_path / "unique-name", doc(1))
    snapshot = Snapshot([(segment, None)])
    segment.close()
    assert (snapshot.search(Term("word"), 1).page_ids, snapshot.df("word")) == ([1], 1)
    assert "unique-name" in Path("/proc/self/maps").read_text()
    del snapshot
    assert "unique-name" not in Path("/proc/self/maps").read_text()
    with pytest.raises(ValueError, match="closed"):
        segment.find(1)


def test_threads_share_a_segment_and_a_snapshot(tmp_path: Path) -> None:
    """J32: searches hold no lock; all see the same."""
    segment = segment_of(tmp_path / "a", *(doc(page, f"word w{page % 7}") for page in range(1, 3000)))
    snapshot, wrong = Snapshot([(segment, None)]), []

    def search() -> None:
        for number in range(50):
            pages = snapshot.search(Term(f"w{number % 7}"), 5).page_ids
            if [page % 7 for page in pages] != [number % 7] * 5:
                wrong.append(pages)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_opening_reads_no_postings_into_memory(tmp_path: Path) -> None:
    """J15, J16: anonymous memory at open does not grow with the file."""
    builder = SegmentBuilder()
    for page in range(1, 3000):
        builder.add_terms(page, " ".join(f"t{page * 7919 % 5003 + i}" for i in range(100)).encode())
    info = builder.write(tmp_path / "a", sync=False)
    del builder
    before = anonymous_bytes()
    segment = Segment.open(tmp_path / "a")
    assert anonymous_bytes() - before < info.bytes / 4
    assert segment.doc_count == 2999


def anonymous_bytes() -> int:
    fields = Path("/proc/self/status").read_text().split()
    return int(fields[fields.index("RssAnon:") + 1]) * 1024


def test_background_check_finds_a_bad_chunk(tmp_path: Path) -> None:
    """F91: chunks are hashed one by one without a query."""
    segment_of(tmp_path / "a", doc(1)).close()
    data = bytearray((tmp_path / "a").read_bytes())
    data[4096] ^= 1
    (tmp_path / "b").write_bytes(data[:4096] + (tmp_path / "a").read_bytes()[4096:4096] + data[4096:])
    with pytest.raises(CorruptSegmentError), Segment.open(tmp_path / "b") as segment:
        segment.check_chunks(0, segment.info.chunk_count)
