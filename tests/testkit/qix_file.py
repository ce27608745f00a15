"""QIX files taken apart in Python, without the reader: sections found, bytes changed, digests put right again.

Offsets are those of native/qix/qix_format.h.
"""

from hashlib import sha256
from pathlib import Path
from struct import pack_into, unpack_from

HEADER_BYTES = 4096
CHUNK_BYTES = 1 << 20
ROOT = slice(32, 64)
SECTIONS = (
    "PAGE_IDS",
    "PAGE_ORDER",
    "LENGTHS",
    "LENGTH_CODES",
    "STATIC_RANKS",
    "ORIGINS",
    "LANGUAGES",
    "DATES",
    "FLAGS",
    "POSTINGS",
    "POSITIONS",
    "TERMS",
    "TERM_INDEX",
    "RANGE_BOUNDS",
)


def payload_bytes(data: bytes) -> int:
    """Bytes between the header and the digest table."""
    return int(unpack_from("<Q", data, 24)[0])


def section(data: bytes, name: str) -> slice:
    """Where a section lies."""
    offset, size = unpack_from("<QQ", data, 192 + 24 * SECTIONS.index(name) + 8)
    return slice(offset, offset + size)


def digest_table(data: bytes) -> bytes:
    """The digests of all chunks, as they should be."""
    end = HEADER_BYTES + payload_bytes(data)
    starts = range(HEADER_BYTES, end, CHUNK_BYTES)
    return b"".join(sha256(data[start : min(start + CHUNK_BYTES, end)]).digest() for start in starts)


def root_digest(data: bytes) -> bytes:
    """The digest in the header, as it should be."""
    header = bytearray(data[:HEADER_BYTES])
    header[ROOT] = bytes(32)
    return sha256(header + data[HEADER_BYTES + payload_bytes(data) :]).digest()


def repaired(data: bytes) -> bytes:
    """The same bytes with right digests, as if a writer had made them so."""
    fixed = bytearray(data)
    fixed[HEADER_BYTES + payload_bytes(data) :] = digest_table(data)
    fixed[ROOT] = root_digest(bytes(fixed))
    return bytes(fixed)


def with_bytes(data: bytes, offset: int, new: bytes) -> bytes:
    """The file with some bytes replaced, and right digests."""
    changed = bytearray(data)
    changed[offset : offset + len(new)] = new
    return repaired(bytes(changed))


def with_u32(data: bytes, offset: int, value: int) -> bytes:
    """The file with a 32-bit number replaced, and right digests."""
    raw = bytearray(4)
    pack_into("<I", raw, 0, value)
    return with_bytes(data, offset, bytes(raw))


def write(path: Path, data: bytes) -> Path:
    """Put bytes in a file; gives its path."""
    path.write_bytes(data)
    return path
