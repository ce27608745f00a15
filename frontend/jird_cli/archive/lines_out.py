"""JSON Lines out: a page a line, a tombstone for one that can no longer be found, and a line that counts them."""

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from jird.v1.archive_service_pb2 import ExportedPage

_DIGEST_BYTES = 32
_TIMES = ("first_seen", "last_seen", "fetched")


class LinesWriter:
    """Writes one export; `end` must be called last."""

    needs_text, needs_content = True, False

    def __init__(self, stream: BinaryIO) -> None:
        """Take the stream."""
        self._stream = stream
        self._encode = msgspec.json.Encoder().encode
        self._digest = 0
        self.documents = 0
        self.tombstones = 0

    def write(self, page: "ExportedPage") -> None:
        """Write a page."""
        record = _document(page) if page.is_searchable else _tombstone(page)
        if page.is_searchable:
            self.documents += 1
        else:
            self.tombstones += 1
        # A sum, so that the order in which pages were found does not matter, nor when.
        timeless = self._encode({name: value for name, value in record.items() if name not in _TIMES})
        self._digest += int.from_bytes(blake2b(timeless, digest_size=_DIGEST_BYTES).digest(), "big")
        self._stream.write(self._encode(record) + b"\n")

    @property
    def counts(self) -> dict[str, int]:
        """How many of what were written."""
        return {"documents": self.documents, "tombstones": self.tombstones}

    def end(self) -> None:
        """Write the last line."""
        digest = self._digest % (1 << 8 * _DIGEST_BYTES)
        record = {
            "end": True,
            "records": self.documents + self.tombstones,
            "documents": self.documents,
            "tombstones": self.tombstones,
            "digest": digest.to_bytes(_DIGEST_BYTES, "big").hex(),
        }
        self._stream.write(self._encode(record) + b"\n")


def _document(page: "ExportedPage") -> dict[str, Any]:
    record: dict[str, Any] = {"id": page.id.hex(), "url": page.url, "title": page.title}
    optional = {
        "description": page.description,
        "language": page.language,
        "date": _moment(page.published_time) if page.HasField("published_time") else "",
        "media_type": page.media_type,
        "duplicate": page.is_duplicate,
    }
    record |= {name: value for name, value in optional.items() if value}
    record["first_seen"] = _moment(page.first_seen_time)
    record["last_seen"] = _moment(page.last_seen_time)
    record["fetched"] = _moment(page.content_time)
    record["text_digest"] = page.text_digest.hex()
    record["text"] = page.text
    return record


def _tombstone(page: "ExportedPage") -> dict[str, Any]:
    return {
        "id": page.id.hex(),
        "url": page.url,
        "gone": True,
        "reason": page.not_searchable_reason,
        "fetched": _moment(page.fetch_time),
    }


def _moment(time: "Timestamp") -> str:
    return str(time.ToJsonString())
