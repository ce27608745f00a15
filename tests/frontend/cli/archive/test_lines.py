"""JSON Lines in and out: what a line means, and that nothing in a file is silently lost."""

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from jird.v1.archive_service_pb2 import ExportedPage
from jird_cli.archive import lines_in
from jird_cli.archive.found import Found
from jird_cli.archive.lines_in import LinesReader
from jird_cli.archive.lines_out import LinesWriter
from jird_cli.archive.source import open_source
from jird_cli.failure import FailureError


def read(data: bytes) -> list[Found]:
    return list(LinesReader(io.BytesIO(data)))


def test_a_line_is_a_document() -> None:
    line = {"url": "https://a.test/", "title": "T", "text": "Wörter", "language": "de", "date": "2020-01-02T03:04:05Z"}
    (found,) = read(json.dumps(line).encode() + b"\n")
    document = found.document
    assert document is not None
    assert (document.url, document.title, document.language) == ("https://a.test/", "T", "de")
    assert (document.body.decode(), document.content_type) == ("Wörter", "text/plain; charset=utf-8")
    assert document.published_time.ToJsonString() == "2020-01-02T03:04:05Z"
    assert not document.HasField("fetch_time")


def test_html_decides_and_what_is_not_known_is_left_alone() -> None:
    (found,) = read(b'{"url":"https://a.test/","text":"t","html":"<p>h","date":1577934245.5,"more":{"x":[1]}}')
    assert found.document is not None
    assert (found.document.body, found.document.content_type) == (b"<p>h", "text/html; charset=utf-8")
    assert found.document.published_time.ToJsonString() == "2020-01-02T03:04:05.500Z"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "malformed"),
        (b'{"url": 7}', "url"),
        (b'{"text": "x"}', 'no "url"'),
        (b'{"url": "https://a.test/"}', 'neither "text" nor "html"'),
        (b'{"url": "https://a.test/", "text": ["x"]}', "text"),
        (b'{"url": "https://a.test/", "text": "x", "date": "yesterday"}', "ISO 8601"),
        (b'{"url": "https://a.test/", "text": "x", "date": 1e300}', "ISO 8601"),
        (b'{"url": "https://a.test/", "text": "\xff"}', "utf-8"),
        (b'{"url": "https://a.test/", "text": "\\ud800"}', ""),
        (b"[]", "object"),
        (b'{"url": "https://a.test/", "text": "x"', "truncated"),
        (b'{"end": true, "records": 7}', "says that it has 7 records; 1 were read"),
    ],
)
def test_a_bad_line_is_told_by_its_number_and_the_rest_goes_on(line: bytes, reason: str) -> None:
    good = b'{"url": "https://a.test/", "text": "x"}'
    found = read(b"\n" + good + b"\n" + line + b"\r\n" + good)
    assert [each.place for each in found] == ["line 2", "line 3", "line 4"]
    assert [bool(each.document) for each in found] == [True, False, True]
    assert reason.lower() in found[1].fault.lower()
    assert found[1].fault


def test_a_line_without_end_is_passed_over_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_in, "LINE_BYTES_MAX", 100)
    good = b'{"url": "https://a.test/", "text": "x"}'
    found = read(b"x" * 1_000 + b"\n" + good + b"\n" + b"y" * 350)
    assert [each.fault for each in found] == ["longer than 100 bytes", "", "longer than 100 bytes"]


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    assert len(read(data)) <= data.count(b"\n") + 1


def exported(number: int, **fields: object) -> ExportedPage:
    base = {
        "url": f"https://a.test/{number}", "id": bytes([number]) * 16, "title": "T", "text": f"words {number}",
        "language": "en", "text_digest": b"\1" * 64, "is_searchable": True,
        "first_seen_time": Timestamp(seconds=1_700_000_000), "last_seen_time": Timestamp(seconds=1_700_000_100),
        "content_time": Timestamp(seconds=1_700_000_050), "fetch_time": Timestamp(seconds=1_700_000_200),
    }  # fmt: skip
    return ExportedPage(**{**base, **fields})  # type: ignore[arg-type]


def written(*pages: ExportedPage) -> list[dict[str, object]]:
    stream = io.BytesIO()
    writer = LinesWriter(stream)
    for page in pages:
        writer.write(page)
    writer.end()
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_pages_tombstones_and_a_count() -> None:
    page, gone, end = written(exported(1), exported(2, is_searchable=False, not_searchable_reason="noindex"))
    assert page["id"] == "01" * 16
    assert (page["text"], page["fetched"]) == ("words 1", "2023-11-14T22:14:10Z")
    assert gone == {
        "id": "02" * 16, "url": "https://a.test/2", "gone": True, "reason": "noindex",
        "fetched": "2023-11-14T22:16:40Z",
    }  # fmt: skip
    assert (end["records"], end["documents"], end["tombstones"]) == (2, 1, 1)


def test_the_digest_is_that_of_the_content_and_not_of_order_or_time() -> None:
    later = {"last_seen_time": Timestamp(seconds=1_800_000_000), "content_time": Timestamp(seconds=1_800_000_000)}
    digest = written(exported(1), exported(2))[-1]["digest"]
    assert written(exported(2, **later), exported(1))[-1]["digest"] == digest
    assert written(exported(2), exported(1, title="U"))[-1]["digest"] != digest
    assert written(exported(1))[-1]["digest"] != digest


def test_what_was_exported_can_be_imported() -> None:
    stream = io.BytesIO()
    writer = LinesWriter(stream)
    writer.write(exported(1, published_time=Timestamp(seconds=1_600_000_000)))
    writer.write(exported(2, is_searchable=False))
    writer.end()
    page, gone, end = read(stream.getvalue())
    assert page.document is not None
    assert (page.document.title, page.document.language, page.document.body) == ("T", "en", b"words 1")
    assert page.document.published_time.seconds == 1_600_000_000
    assert page.document.fetch_time.seconds == 1_700_000_050
    assert gone.document is not None
    assert gone.document.is_gone
    assert (end.fault, end.passed_over) == ("", "end")


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    return tmp_path / "file"


@pytest.mark.parametrize("is_compressed", [False, True])
def test_the_first_bytes_tell_format_and_compression(path: Path, is_compressed: bool) -> None:
    line = b'{"url": "https://a.test/", "text": "x"}\n'
    path.write_bytes(gzip.compress(line[:10]) + gzip.compress(line[10:]) if is_compressed else line)
    with open_source(str(path)) as source:
        (found,) = source.reader("auto")
        assert source.percent == 100
    assert found.document is not None


def test_a_compressed_file_that_breaks_off_says_so_and_gives_what_it_has(path: Path) -> None:
    lines = b"".join(b'{"url": "https://a.test/%d", "text": "%d"}\n' % (n, n * 7_919) for n in range(5_000))
    path.write_bytes(gzip.compress(lines)[:-2_000])
    with open_source(str(path)) as source:
        found = list(source.reader("auto"))
    assert sum(each.document is not None for each in found) > 1_000
    assert [each.fault for each in found if each.document is None] == [found[-1].fault]
    assert "breaks off" in found[-1].fault


def test_a_file_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(FailureError, match="No such file"), open_source(str(tmp_path / "none")):
        pass
    (tmp_path / "z").write_bytes(b"\x28\xb5\x2f\xfdxxxx")
    with pytest.raises(FailureError, match="zstd"), open_source(str(tmp_path / "z")):
        pass


def test_deep_nesting_is_a_fault_of_its_line_alone() -> None:
    deep = b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    found = read(deep + b'{"url": "https://a.test/", "text": "x"}\n')
    assert found[0].fault == "nested too deeply"
    assert found[1].document is not None
