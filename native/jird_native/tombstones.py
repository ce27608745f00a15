"""Deleted documents of a segment: a bitmap beside it, since the segment itself never changes.

The stored form: magic "QIXT" (4 bytes), document count (4, little endian), SHA-256 of the count and of what follows
(32), then ceil(count / 8) bytes in which bit docid % 8 of byte docid // 8 is set for a deleted document.
"""

from hashlib import sha256
from typing import Self

MAGIC = b"QIXT"
HEADER_BYTES = 40


class Tombstones:
    """Which docids of a segment of `doc_count` documents are deleted. One thread at a time changes it."""

    __slots__ = ("_bits", "count", "doc_count")

    def __init__(self, doc_count: int) -> None:
        self.doc_count = doc_count
        self.count = 0
        self._bits = bytearray((doc_count + 7) // 8)

    def add(self, docid: int) -> bool:
        """Delete a document; False if it was deleted before. ValueError unless 0 <= docid < doc_count."""
        if not 0 <= docid < self.doc_count:
            raise ValueError(f"docid is {docid}; it must be 0 to {self.doc_count - 1}")
        mask = 1 << (docid & 7)
        if self._bits[docid >> 3] & mask:
            return False
        self._bits[docid >> 3] |= mask
        self.count += 1
        return True

    def __contains__(self, docid: int) -> bool:
        return 0 <= docid < self.doc_count and bool(self._bits[docid >> 3] & 1 << (docid & 7))

    def copy(self) -> Self:
        """An independent copy."""
        other = type(self)(self.doc_count)
        other._bits[:] = self._bits
        other.count = self.count
        return other

    def bitmap(self) -> bytes:
        """The bits alone."""
        return bytes(self._bits)

    def to_bytes(self) -> bytes:
        """The stored form, checksummed."""
        size = self.doc_count.to_bytes(4, "little")
        return MAGIC + size + sha256(size + self._bits).digest() + self._bits

    @classmethod
    def from_bytes(cls, data: bytes, doc_count: int) -> Self:
        """Read the stored form.

        Raises:
            ValueError: It is damaged, or for a segment of another size.
        """
        size, digest, bits = data[4:8], data[8:HEADER_BYTES], data[HEADER_BYTES:]
        if data[:4] != MAGIC or len(data) < HEADER_BYTES or sha256(size + bits).digest() != digest:
            raise ValueError("tombstones are damaged")
        if int.from_bytes(size, "little") != doc_count or len(bits) != (doc_count + 7) // 8:
            raise ValueError(f"tombstones are for {int.from_bytes(size, 'little')} documents, expected {doc_count}")
        stones = cls(doc_count)
        stones._bits[:] = bits
        stones.count = int.from_bytes(bits, "little").bit_count()
        return stones
