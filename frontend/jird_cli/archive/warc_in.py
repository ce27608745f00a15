"""WARC in (ISO 28500, versions 1.0 and 1.1), read by warcio: files of other crawlers, wget and Heritrix among them.

Responses with content become documents, with the headers that they came with; a 404 or 410 says that the page is gone;
a revisit stands for bytes that came before it. Everything else (requests, metadata, redirects, DNS) is passed over and
counted.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException

from jird.v1.archive_service_pb2 import ImportDocument
from jird_cli.archive.found import BODY_BYTES_MAX, Found

_GONE = frozenset({"404", "410"})
_CONTENT = frozenset({"200", "203"})
# Heritrix writes "identity" as well as nothing.
_UNCODED = frozenset({"", "identity", "none"})
# warcio says that it knows "br" too, but calls what the brotli package does not have.
_DECODED = frozenset({"gzip", "deflate"})
# What a stream that is damaged makes warcio or the decompression raise.
_BROKEN = (ArchiveLoadFailed, StatusAndHeadersParserException, EOFError, OSError, ValueError, KeyError, AttributeError)


class WarcReader:
    """Reads the records of a stream that is not compressed any more."""

    def __init__(self, stream: BinaryIO) -> None:
        """Take the stream, at the beginning of the first record."""
        self._stream = stream

    def __iter__(self) -> Iterator[Found]:
        """Give a Found for each record; a file that breaks off or breaks the format ends with a fault."""
        number = 0
        try:
            records = iter(ArchiveIterator(self._stream))
            while True:
                number += 1
                record = next(records, None)
                if record is None:
                    return
                yield _read(f"record {number}", record)
        except _BROKEN as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            yield Found(f"record {number}", fault=f"the file is broken here, its rest was not read: {reason}")


def _read(place: str, record: Any) -> Found:
    url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip().strip("<>")
    if not record.rec_type:
        return Found(place, fault="a record without WARC-Type")
    if record.rec_type not in ("response", "resource", "revisit"):
        return Found(place, passed_over=record.rec_type[:20])
    if not url.lower().startswith(("http://", "https://")):
        return Found(place, passed_over=f"{record.rec_type} of {url.partition(':')[0][:20] or 'no URL'}")
    if record.rec_headers.get_header("WARC-Segment-Number") not in (None, "1"):
        return Found(place, passed_over="segment")
    if record.rec_headers.get_header("WARC-Truncated"):
        return Found(place, passed_over="truncated by its writer")
    document = ImportDocument(url=url)
    try:
        document.fetch_time.FromDatetime(_moment(record.rec_headers.get_header("WARC-Date") or ""))
    except (ValueError, OverflowError) as error:  # the first and last day of all, in another zone
        return Found(place, fault=f"WARC-Date: {error}")
    if record.rec_type == "revisit":
        document.same_as_url = (record.rec_headers.get_header("WARC-Refers-To-Target-URI") or url).strip("<>")
        return Found(place, document)
    return _with_content(place, document, record)


def _with_content(place: str, document: ImportDocument, record: Any) -> Found:
    headers = record.http_headers
    if record.rec_type == "resource" or headers is None:
        document.content_type = record.rec_headers.get_header("Content-Type") or ""
    else:
        status = headers.get_statuscode()
        if status in _GONE:
            document.is_gone = True
            return Found(place, document)
        if status not in _CONTENT:
            return Found(place, passed_over=f"status {status[:3]}")
        coding = (headers.get_header("Content-Encoding") or "").strip().lower()
        if coding not in _UNCODED and coding not in _DECODED:
            return Found(place, passed_over=f"content coding {coding[:20]}")
        _take_headers(document, headers)
    document.body = _read_body(record)
    if len(document.body) > BODY_BYTES_MAX:
        return Found(place, fault=f"{document.url}: more than {BODY_BYTES_MAX:,} bytes")
    return Found(place, document)


def _read_body(record: Any) -> bytes:
    """The payload without transfer and content coding, at most a byte more than is allowed."""
    stream, pieces, size = record.content_stream(), [], 0
    while size <= BODY_BYTES_MAX and (piece := stream.read(BODY_BYTES_MAX + 1 - size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _take_headers(document: ImportDocument, headers: Any) -> None:
    document.content_type = _text(headers.get_header("Content-Type"))
    document.etag = _text(headers.get_header("ETag"))
    document.last_modified = _text(headers.get_header("Last-Modified"))
    for name, value in headers.headers:
        if name.lower() == "x-robots-tag":
            document.robots_headers.append(_text(value))
        elif name.lower() == "link":
            document.link_headers.append(_text(value))


def _text(value: str | None) -> str:
    """A header's value as protobuf takes it: without what is no text."""
    return (value or "").encode("utf-8", "replace").decode()


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text.strip())
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
