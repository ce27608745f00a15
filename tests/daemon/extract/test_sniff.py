"""What bodies are, and what they are called: the header brings them into the index, bytes only keep them out (F87)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.extract.document import ParseJob, ParseKind
from jird_daemon.extract.page import parse_page
from jird_daemon.extract.sniff import SNIFF_BYTES, sniff

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
ZIP = b"PK\x03\x04\x14\x00\x00\x00\x00\x00" + bytes(16) + b"\x08\x00\x00\x00"
ODT = ZIP + b"mimetypeapplication/vnd.oasis.opendocument.textPK\x03\x04"
XLSX = b"PK\x03\x04\x14\x00\x06\x00\x08\x00" + bytes(16) + b"\x13\x00\x00\x00[Content_Types].xmlPK..xl/workbook.xml"
NOW_S = 1_796_000_000.0


@pytest.mark.parametrize(
    ("content_type", "head", "actual"),
    [
        # F87.
        ("application/msword", b"just words\n", "text/plain"),
        ("text/plain", b"<!DOCTYPE html><p>x", "text/plain"),
        ("application/zip", XLSX, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("application/zip", ODT, "application/vnd.oasis.opendocument.text"),
        ("application/octet-stream", b"  <!doctype HTML><p>x", "text/html"),
        ("application/octet-stream", b"%PDF-1.7\n", "application/pdf"),
        ("application/octet-stream", b"\x00\x01\x02\x03rest", "application/octet-stream"),
        ("", b"<html>", "text/html"),
        ("", b"<htmlx>", "text/plain"),
        ("", b"words", "text/plain"),
        ("", b"\xef\xbb\xbfwords\x00", "text/plain"),
        ("", b"a\x00b", "application/octet-stream"),
        ("", b"<?xml version='1.0'?><rss version='2.0'>", "application/rss+xml"),
        ("", b"<?xml version='1.0'?><x/>", "text/xml"),
        ("unknown/unknown", b"RIFF\x00\x00\x00\x00WEBPVP", "image/webp"),
        ("text/html; charset=utf-8", PNG, "image/png"),
        ("text/html", b"GIF89a", "image/gif"),
        ("text/html", b"BM is how bitmaps begin, and this text", "text/html"),
        ("text/html", b"%PDF-1.4", "application/pdf"),
        ("text/html", b"<p>a\x00b", "text/html"),
        ("text/html", b"<?xml version='1.0'?><!-- c --><!DOCTYPE x>\n<feed xmlns='x'>", "application/atom+xml"),
        ("text/html", b"<!-- <rss > --><html>", "text/html"),
        ("text/plain", b"\x1f\x8b\x08\x00\x00", "application/gzip"),
        ("text/plain", b"BM is a text, too", "text/plain"),
        ("text/plain", b"a\x00b\x00", "application/octet-stream"),
        ("text/plain; charset=UTF-8", b"a\x00b\x00", "application/octet-stream"),
        ("text/plain; charset=utf-8", b"a stray \x00 in a text", "text/plain"),
        ("text/plain; charset=utf-16le", b"a\x00b\x00", "text/plain"),
        ("text/plain; charset=utf-8", PNG, "image/png"),
        ("text/plain", b"\xff\xfea\x00", "text/plain"),
        ("application/xhtml+xml", PNG, "image/png"),
        ("application/pdf", b"<html><p>Not found", "application/pdf"),
        ("image/png", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("image/svg+xml", b"<svg>", "image/svg+xml"),
        ("application/json", b"{}", "application/json"),
        ("video/mp4", b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
        ("application/vnd.ms-excel", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
        ("text/html", b"", "text/html"),
        ("", b"", "application/octet-stream"),
    ],
)
def test_types(content_type: str, head: bytes, actual: str) -> None:
    """F87."""
    assert sniff(content_type, head).actual == actual


def test_a_conflict_says_both() -> None:
    assert sniff("text/html", PNG).conflict == "sent as text/html, is image/png"
    assert sniff("", b"<html>").conflict == "sent without a Content-Type, is text/html"
    assert sniff("TEXT/HTML; charset=x", b"<html>").conflict == ""


@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "application/xhtml+xml", "application/pdf"])
def test_what_is_not_what_it_is_called_is_not_indexed(content_type: str) -> None:
    document = parse_page(ParseJob("https://a.test/", PNG, content_type), NOW_S)
    assert (document.kind, document.media_type) == (ParseKind.UNKNOWN_TYPE, "image/png")
    assert document.message == f"sent as {content_type}, is image/png"


def test_a_feed_that_is_called_a_page_is_read_for_links() -> None:
    feed = (
        b"<?xml version='1.0'?><rss version='2.0'><channel><item><link>https://a.test/1</link></item></channel></rss>"
    )
    document = parse_page(ParseJob("https://a.test/feed", feed, "text/html"), NOW_S)
    assert (document.kind, document.media_type) == (ParseKind.SITEMAP, "application/rss+xml")
    assert document.sitemap is not None
    assert [location.url for location in document.sitemap.locations] == ["https://a.test/1"]


@given(st.text(max_size=40), st.binary(max_size=300))
def test_bytes_never_bring_a_document_in_that_is_not_called_one(content_type: str, body: bytes) -> None:
    """J155."""
    sniffed = sniff(content_type, body)
    document = parse_page(ParseJob("https://a.test/", body, content_type), NOW_S)
    if sniffed.declared not in ("text/html", "application/xhtml+xml", "text/plain", "application/pdf"):
        assert document.kind is not ParseKind.DOCUMENT


@pytest.mark.parametrize("piece", [b"<!--a-->", b"<!x>", b"<?x?>", b"<!--", b"\n", b" <!", b"PK\x03\x04"])
def test_what_may_stand_before_a_first_element_is_read_once_each(piece: bytes) -> None:
    """Were it tried in every combination, this would meet the test's deadline."""
    assert sniff("text/html", piece * SNIFF_BYTES).actual in ("text/html", "application/zip")
