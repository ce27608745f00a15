"""WARC out (ISO 28500, WARC/1.1), written by warcio: a response for each page whose bytes are stored.

jird keeps an answer's bytes and those of its headers that it needs, so the header block is made again from these, and
the body is without content coding. No request records: what was sent was not kept, and would have to be made up. A
metadata record beside each response says so, and what jird knows of the page's life.
"""

from importlib.metadata import version
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from jird.v1.archive_service_pb2 import ExportedPage


class WarcWriter:
    """Writes one export; `end` must be called last."""

    needs_text, needs_content = False, True

    def __init__(self, stream: BinaryIO, *, is_compressed: bool) -> None:
        """Take the stream, and whether each record is to be a member of gzip.

        Args:
            stream: Where it goes.
            is_compressed: For a name that ends in .gz.
        """
        self._writer: Any = WARCWriter(stream, gzip=is_compressed, warc_version="1.1")
        self.documents = 0
        self.without_content = 0
        self._writer.write_record(self._writer.create_warcinfo_record(None, _about()))

    def write(self, page: "ExportedPage") -> None:
        """Write a page; one without stored bytes is counted."""
        if not page.content:
            self.without_content += 1
            return
        self.documents += 1
        response = self._writer.create_warc_record(
            page.url,
            "response",
            payload=BytesIO(page.content),
            length=len(page.content),
            http_headers=StatusAndHeaders("200 OK", _headers(page), protocol="HTTP/1.1"),
            warc_headers_dict={"WARC-Date": _moment(page)},
        )
        self._writer.write_record(response)
        about = _fields(_about_page(page))
        metadata = self._writer.create_warc_record(
            page.url,
            "metadata",
            payload=BytesIO(about),
            length=len(about),
            warc_content_type="application/warc-fields",
            warc_headers_dict={
                "WARC-Date": _moment(page),
                "WARC-Concurrent-To": response.rec_headers.get_header("WARC-Record-ID"),
            },
        )
        self._writer.write_record(metadata)

    @property
    def counts(self) -> dict[str, int]:
        """How many of what were written, or could not be."""
        return {"documents": self.documents, "without stored bytes": self.without_content}

    def end(self) -> None:
        """Nothing is left to write: every record is whole."""


def _about() -> dict[str, str]:
    """What a warcinfo record says of the file."""
    return {
        "software": f"jird/{version('jird')}",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "description": "pages exported from jird; HTTP headers are made from those that were kept",
    }


def _headers(page: "ExportedPage") -> list[tuple[str, str]]:
    """The header lines that were kept, and the length of the body as it is here."""
    lines = [
        ("Content-Type", page.content_type or page.media_type),
        ("Content-Length", str(len(page.content))),
        ("ETag", page.etag),
        ("Last-Modified", page.last_modified),
        *(("X-Robots-Tag", value) for value in page.robots_headers),
        *(("Link", value) for value in page.link_headers),
    ]
    return [(name, value) for name, value in lines if value]


def _about_page(page: "ExportedPage") -> dict[str, str]:
    return {
        "jird-headers": "made from those that were kept",
        "jird-first-seen": page.first_seen_time.ToJsonString(),
        "jird-last-seen": page.last_seen_time.ToJsonString(),
        "jird-not-searchable": page.not_searchable_reason,
    }


def _fields(fields: dict[str, str]) -> bytes:
    """The form of application/warc-fields; empty values are left out."""
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value).encode()


def _moment(page: "ExportedPage") -> str:
    return str(page.content_time.ToJsonString())
