"""What the pool and a parse worker say to each other: frames on a socket pair.

| offset | size | meaning |
|---|---|---|
| 0 | 4 | length of the payload, big-endian |
| 4 | 1 | kind: one of the letters below |
| 5 | length | payload |

The worker may be in the hands of whoever wrote the page, so the pool checks length and kind, and decodes into fixed
types; the worker trusts the pool.
"""

import struct

import msgspec

from jird_daemon.control import ProbeResult
from jird_daemon.extract.document import ParsedDocument, ParseJob

HEADER = struct.Struct(">Ic")
# A body at its limit (16 MiB) with its headers; text, links and pictures at theirs are less than half of that.
FRAME_BYTES_MAX = 64 * 1024 * 1024

JOB = b"J"  # to the worker: ParseJob
PROBE = b"P"  # to the worker: name of a probe, UTF-8; back: ProbeResult
DOCUMENT = b"D"  # back: Parsed
FAILURE = b"F"  # back: Failure; the worker goes on
READY = b"R"  # back, once: Ready

# How a worker ends by itself, beside 0.
EXIT_MEMORY = 12
EXIT_UNCONFINED = 13


class Ready(msgspec.Struct, frozen=True, array_like=True):
    """The worker is confined and waits."""

    measures: tuple[str, ...]


class Parsed(msgspec.Struct, frozen=True, array_like=True):
    """A page, and the most memory that the worker ever had, in KiB; 0 when that is not known."""

    document: ParsedDocument
    peak_memory_kib: int


class Failure(msgspec.Struct, frozen=True, array_like=True):
    """The parser raised an exception on a page."""

    message: str


encode = msgspec.msgpack.Encoder().encode
decode_job = msgspec.msgpack.Decoder(ParseJob).decode
decode_parsed = msgspec.msgpack.Decoder(Parsed).decode
decode_failure = msgspec.msgpack.Decoder(Failure).decode
decode_probe = msgspec.msgpack.Decoder(ProbeResult).decode
decode_ready = msgspec.msgpack.Decoder(Ready).decode


def frame(kind: bytes, payload: bytes) -> bytes:
    """Put a payload into a frame."""
    return HEADER.pack(len(payload), kind) + payload
