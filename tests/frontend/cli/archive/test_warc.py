"""WARC in, as other crawlers write it, and out, as a standard reader reads it."""

import gzip
import io
import zlib

import brotli
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from google.protobuf.timestamp_pb2 import Timestamp

from jird.v1.archive_service_pb2 import ExportedPage, ImportDocument
from jird_cli.archive.found import BODY_BYTES_MAX, Found
from jird_cli.archive.warc_in import WarcReader
from jird_cli.archive.warc_out import WarcWriter

URL = "https://a.test/page"
DATE = "2024-05-06T07:08:09Z"


def record(kind: str, block: bytes, *, url: str = URL, version: str = "1.0", **headers: str) -> bytes:
    """One record, as the standard describes it."""
    lines = {
        "WARC-Type": kind, "WARC-Record-ID": "<urn:uuid:12345678-1234-4234-9234-123456789abc>", "WARC-Date": DATE,
        "WARC-Target-URI": url, "Content-Type": "application/http; msgtype=response",
        **{name.replace("_", "-"): value for name, value in headers.items()}, "Content-Length": str(len(block)),
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"WARC/{version}\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    head = "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", "Content-Type: text/html", *headers))
    return head.encode("latin-1") + b"\r\n" + body


def read(data: bytes) -> list[Found]:
    return list(WarcReader(io.BytesIO(data)))


def document(data: bytes) -> ImportDocument:
    (found,) = read(data)
    assert found.document is not None, found
    return found.document


def test_a_response_is_a_document_with_its_headers() -> None:
    lines = ('ETag: "e"', "Last-Modified: Mon", "X-Robots-Tag: noindex", "Link: <a>; rel=x", "link: <b>", "Server: s")
    found = document(record("response", http(b"<p>words", *lines)))
    assert (found.url, found.body, found.content_type) == (URL, b"<p>words", "text/html")
    assert (found.etag, found.last_modified) == ('"e"', "Mon")
    assert list(found.robots_headers) == ["noindex"]
    assert list(found.link_headers) == ["<a>; rel=x", "<b>"]
    assert found.fetch_time.ToJsonString() == DATE


def test_transfer_and_content_coding_are_undone() -> None:
    packed = gzip.compress(b"<p>words")
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    block = http(chunked, "Transfer-Encoding: chunked", "Content-Encoding: gzip")
    assert document(record("response", block)).body == b"<p>words"


def test_as_wget_writes_it() -> None:
    """URLs in angle brackets; warcinfo, request and metadata around the response."""
    data = (
        record("warcinfo", b"software: Wget/1.21\r\n", Content_Type="application/warc-fields")
        + record("request", b"GET / HTTP/1.1\r\n\r\n", url=f"<{URL}>")
        + record("response", http(b"x"), url=f"<{URL}>")
        + record("resource", b"log", url="metadata://gnu.org/software/wget/warc/wget.log", Content_Type="text/plain")
    )
    found = read(data)
    assert [each.passed_over for each in found] == ["warcinfo", "request", "", "resource of metadata"]
    assert found[2].document is not None
    assert found[2].document.url == URL


def test_as_heritrix_writes_it() -> None:
    """DNS, a truncated body, a revisit that names where the bytes are, one of the same URL."""
    profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    refers = {"WARC_Profile": profile, "WARC_Refers_To_Target_URI": "https://a.test/first"}
    found = read(
        record("response", b"20240506 a.test 1.2.3.4", url="dns:a.test", Content_Type="text/dns")
        + record("response", http(b"half"), WARC_Truncated="length")
        + record("revisit", http(b""), version="1.1", **refers)
        + record("revisit", http(b"", status="304 Not Modified"), WARC_Profile=profile)
    )
    assert [each.passed_over for each in found] == ["response of dns", "truncated by its writer", "", ""]
    assert [each.document.same_as_url for each in found[2:] if each.document] == ["https://a.test/first", URL]


@pytest.mark.parametrize(
    ("status", "is_gone", "passed_over"),
    [
        ("404 Not Found", True, ""),
        ("410 Gone", True, ""),
        ("301 Moved", False, "status 301"),
        ("503", False, "status 503"),
    ],
)
def test_only_content_and_its_end_count(status: str, is_gone: bool, passed_over: str) -> None:
    (found,) = read(record("response", http(b"", status=status)))
    assert found.passed_over == passed_over
    assert (found.document is not None and found.document.is_gone) == is_gone


def test_what_cannot_be_decoded_is_passed_over() -> None:
    (found,) = read(record("response", http(b"\x28\xb5\x2f\xfd", "Content-Encoding: zstd")))
    assert found.passed_over == "content coding zstd"


def test_a_bomb_is_read_to_the_limit_only() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    found = read(record("response", http(bomb, "Content-Encoding: gzip")) + record("response", http(b"next")))
    assert f"more than {BODY_BYTES_MAX:,} bytes" in found[0].fault
    assert found[1].document is not None
    assert found[1].document.body == b"next"


@pytest.mark.parametrize("cut", [10, 60, 300, 400])
def test_a_file_that_breaks_off_ends_with_a_fault(cut: int) -> None:
    whole = record("response", http(b"first"))
    found = read(whole + record("response", http(b"x" * 300))[:cut])
    assert found[0].document is not None
    assert found[0].document.body == b"first"
    assert len(found) == 2
    assert found[1].fault or (found[1].document is not None and len(found[1].document.body) < 300)


def test_garbage_after_a_record_ends_with_a_fault() -> None:
    found = read(record("response", http(b"first")) + b"no record at all\r\n" * 50)
    assert [bool(each.document) for each in found] == [True, False]
    assert "its rest was not read" in found[1].fault


def test_a_date_that_is_none_is_a_fault_of_its_record_alone() -> None:
    found = read(record("response", http(b"x"), WARC_Date="last May") + record("response", http(b"y")))
    assert "WARC-Date" in found[0].fault
    assert found[1].document is not None


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_date_outside_the_calendar_is_a_fault_of_its_record_alone(date: str) -> None:
    found = read(record("response", http(b"x"), WARC_Date=date) + record("response", http(b"y")))
    assert "WARC-Date" in found[0].fault
    assert found[1].document is not None


def test_brotli_is_passed_over_and_the_rest_is_read() -> None:
    packed = record("response", http(brotli.compress(b"<p>words"), "Content-Encoding: br"))
    found = read(packed + record("response", http(b"y")))
    assert found[0].passed_over == "content coding br"
    assert found[1].document is not None
    assert found[1].document.body == b"y"


def page(**fields: object) -> ExportedPage:
    base = {
        "url": URL, "content": b"<p>W\xc3\xb6rter", "content_type": "text/html; charset=utf-8", "etag": '"e"',
        "content_time": Timestamp(seconds=1_700_000_000, nanos=5_000_000), "robots_headers": ["noarchive"],
        "first_seen_time": Timestamp(seconds=1_600_000_000), "last_seen_time": Timestamp(seconds=1_700_000_100),
    }  # fmt: skip
    return ExportedPage(**{**base, **fields})  # type: ignore[arg-type]


def written(*pages: ExportedPage, is_compressed: bool = False) -> bytes:
    stream = io.BytesIO()
    writer = WarcWriter(stream, is_compressed=is_compressed)
    for each in pages:
        writer.write(each)
    writer.end()
    return stream.getvalue()


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_standard_reader_reads_what_is_written(is_compressed: bool) -> None:
    data = written(page(), page(content=b""), page(url="https://a.test/2"), is_compressed=is_compressed)
    records = []
    for each in ArchiveIterator(io.BytesIO(data), verify_digests=True):
        records.append((each.headers["WARC-Type"], each.record_date.isoformat(), each.reader.read()))
        if each.record_type == WarcRecordType.response:
            assert each.http_headers.get("Content-Type") == "text/html; charset=utf-8"
            assert each.http_headers.get("X-Robots-Tag") == "noarchive"
            assert each.headers.get("WARC-Payload-Digest", "").startswith("sha1:")
    kinds = [kind for kind, _, _ in records]
    assert kinds == ["warcinfo", "response", "metadata", "response", "metadata"]
    assert records[1][1:] == ("2023-11-14T22:13:20.005000+00:00", "<p>Wörter".encode())
    assert b"jird-first-seen: 2020-09-13T12:26:40Z" in records[2][2]


def test_each_record_is_a_member_of_its_own() -> None:
    """So that readers can go to a record without those before it."""
    data, members = written(page(), is_compressed=True), 0
    while data:
        unpacker = zlib.decompressobj(31)
        assert unpacker.decompress(data).startswith(b"WARC/1.1\r\n")
        data, members = unpacker.unused_data, members + 1
    assert members == 3


def test_what_was_exported_can_be_imported() -> None:
    found = [each.document for each in read(written(page())) if each.document is not None]
    assert [(each.url, each.body, each.etag) for each in found] == [(URL, "<p>Wörter".encode(), '"e"')]
    assert list(found[0].robots_headers) == ["noarchive"]
    assert found[0].fetch_time.ToJsonString() == "2023-11-14T22:13:20.005Z"
