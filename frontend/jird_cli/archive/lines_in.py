"""JSON Lines in: a document a line; the format is described in docs/archive.md."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO

import msgspec

from jird.v1.archive_service_pb2 import ImportDocument
from jird_cli.archive.found import BODY_BYTES_MAX, END, Found

# A text of the largest size with every character written as an escape of six bytes would be longer; nobody writes so.
LINE_BYTES_MAX = 2 * BODY_BYTES_MAX
_HTML = "text/html; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"


class _Line(msgspec.Struct):
    url: str = ""
    title: str | None = None
    text: str | None = None
    html: str | None = None
    language: str | None = None
    date: str | float | None = None  # ISO 8601, or seconds since 1970
    fetched: str | float | None = None
    gone: bool = False
    end: bool = False
    records: int | None = None


class LinesReader:
    """Reads a stream of lines; blank ones do not count as documents, and keep their number."""

    def __init__(self, stream: BinaryIO) -> None:
        """Take a stream of UTF-8 whose readline takes a limit."""
        self._stream = stream
        self._decode = msgspec.json.Decoder(_Line).decode
        self._records = 0

    def __iter__(self) -> Iterator[Found]:
        """Give a Found for each line that is not blank."""
        number = 0
        while True:
            number += 1
            place = f"line {number}"
            try:
                line = self._stream.readline(LINE_BYTES_MAX + 1)
            except (EOFError, OSError) as error:
                yield Found(place, fault=f"the file breaks off: {error}")
                return
            if not line:
                return
            if len(line) > LINE_BYTES_MAX and not line.endswith(b"\n"):
                self._skip_rest()
                yield Found(place, fault=f"longer than {LINE_BYTES_MAX:,} bytes")
                continue
            line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not line.isspace():
                yield self._read(place, line)

    def _skip_rest(self) -> None:
        while (piece := self._stream.readline(LINE_BYTES_MAX)) and not piece.endswith(b"\n"):
            pass

    def _read(self, place: str, line: bytes) -> Found:
        try:
            found = self._decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return Found(place, fault=str(error))
        except RecursionError:
            return Found(place, fault="nested too deeply")
        if found.end:
            return self._end(place, found)
        self._records += 1
        try:
            return Found(place, _document(found))
        except ValueError as error:
            return Found(place, fault=str(error))

    def _end(self, place: str, found: _Line) -> Found:
        if found.records is not None and found.records != self._records:
            return Found(place, fault=f"the file says that it has {found.records} records; {self._records} were read")
        return Found(place, passed_over=END)


def _document(line: _Line) -> ImportDocument:
    if not line.url:
        raise ValueError('no "url"')
    document = ImportDocument(url=line.url, is_gone=line.gone)
    if line.fetched is not None:
        document.fetch_time.FromDatetime(_moment(line.fetched, "fetched"))
    if line.gone:
        return document
    body = line.html if line.html is not None else line.text
    if body is None:
        raise ValueError('neither "text" nor "html"')
    document.body = body.encode()
    if len(document.body) > BODY_BYTES_MAX:
        raise ValueError(f"{len(document.body):,} bytes, at most {BODY_BYTES_MAX:,}")
    document.content_type = _TEXT if line.html is None else _HTML
    document.title = line.title or ""
    document.language = line.language or ""
    if line.date is not None:
        document.published_time.FromDatetime(_moment(line.date, "date"))
    return document


def _moment(value: str | float, name: str) -> datetime:
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        message = f'"{name}" is neither a date of ISO 8601 nor seconds since 1970: {str(value)[:64]}'
        raise ValueError(message) from None
