"""Blob volumes: append-only files of compressed page bodies and texts.

A volume is a file `blobs/NNNNNNNN.vol`. Its records lie one behind the other, without gaps; numbers are little-endian:

| offset | size | meaning |
|---|---|---|
| 0 | 4 | magic, b"JBR1" |
| 4 | 4 | CRC-32 of everything behind this field, data included |
| 8 | 4 | stored bytes: length of the data |
| 12 | 4 | raw bytes: length before compression |
| 16 | 32 | BLAKE2b-32 of the raw bytes: the blob's name |
| 48 | stored bytes | one zstd frame |

LMDB names the records: a volume is only read where the `blobs` table points, and what lies beyond the length in the
`volumes` table was never committed. So a torn tail is no damage; it is cut off at the next open, or written over.

Volumes are read with pread and never mapped, so that a file cut short by someone else gives an error, not SIGBUS (F93).
"""

import os
import struct
import threading
import zlib
from collections import OrderedDict
from collections.abc import Container
from hashlib import blake2b
from pathlib import Path

import zstandard

from jird_daemon.errors import CorruptBlobError
from jird_daemon.store.tables import Blob

MAGIC = b"JBR1"
DIGEST_BYTES = 32
# Level 3 compresses pages to a fifth at 400 MB/s; level 9 wins a tenth of that again at a fifth of the speed.
ZSTD_LEVEL = 3
# A volume is rewritten as a whole when most of it is dead: small enough for that to be short, large enough that a
# hundred gigabytes are a few hundred files.
VOLUME_BYTES_MAX = 256 * 1024 * 1024
# A body is at most some tens of megabytes (crawl.max_body_bytes); lengths are u32 in the record.
RAW_BYTES_MAX = 1 << 30
# Open files that a reader keeps.
_OPEN_VOLUMES_MAX = 16

_HEADER = struct.Struct("<4sIII32s")
HEADER_BYTES = _HEADER.size
_CHECKED_FROM = 8


def blob_digest(data: bytes) -> bytes:
    """Name of a blob: BLAKE2b over its raw bytes, 32 bytes long."""
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def volume_path(folder: Path, volume: int) -> Path:
    """File of a volume below the blobs folder."""
    return folder / f"{volume:08d}.vol"


def volume_number(path: Path) -> int | None:
    """Number of a volume's file; None when the name is not one of ours."""
    return int(path.stem) if path.suffix == ".vol" and path.stem.isdecimal() and len(path.stem) == 8 else None


class _Decompressors(threading.local):
    """One for each thread: making one takes four times as long as a page's text takes to decompress."""

    def __init__(self) -> None:
        self.mine = zstandard.ZstdDecompressor()


_decompressors = _Decompressors()


def encode_record(digest: bytes, data: bytes, compressor: zstandard.ZstdCompressor) -> bytes:
    """Lay out one record of a volume.

    Raises:
        ValueError: `data` is longer than RAW_BYTES_MAX.
    """
    if len(data) > RAW_BYTES_MAX:
        raise ValueError(f"blob of {len(data)} bytes; at most {RAW_BYTES_MAX} can be stored")
    body = compressor.compress(data)
    tail = _HEADER.pack(MAGIC, 0, len(body), len(data), digest)[_CHECKED_FROM:] + body
    return MAGIC + struct.pack("<I", zlib.crc32(tail)) + tail


def decode_record(record: bytes, digest: bytes, place: str) -> bytes:
    """Check one record and return its raw bytes.

    Args:
        record: The bytes that the `blobs` table names.
        digest: The name that the record must bear.
        place: Volume and offset, for the message.

    Raises:
        CorruptBlobError: The bytes are not that record.
    """
    if len(record) < HEADER_BYTES:
        raise CorruptBlobError(f"{place}: {len(record)} bytes, expected a header of {HEADER_BYTES}")
    magic, checksum, stored_bytes, raw_bytes, named = _HEADER.unpack_from(record)
    if magic != MAGIC:
        raise CorruptBlobError(f"{place}: magic {magic!r}, expected {MAGIC!r}")
    if stored_bytes != len(record) - HEADER_BYTES:
        raise CorruptBlobError(f"{place}: {stored_bytes} bytes of data, expected {len(record) - HEADER_BYTES}")
    found = zlib.crc32(memoryview(record)[_CHECKED_FROM:])
    if found != checksum:
        raise CorruptBlobError(f"{place}: checksum {found:08x}, expected {checksum:08x}")
    if named != digest:
        raise CorruptBlobError(f"{place}: holds blob {named.hex()}, expected {digest.hex()}")
    try:
        data = _decompressors.mine.decompress(record[HEADER_BYTES:], max_output_size=max(raw_bytes, 1))
    except zstandard.ZstdError as error:
        raise CorruptBlobError(f"{place}: {error}") from error
    if len(data) != raw_bytes:
        raise CorruptBlobError(f"{place}: {len(data)} bytes after decompression, expected {raw_bytes}")
    return data


class VolumeReader:
    """Reads records; safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: OrderedDict[int, int] = OrderedDict()  # volume to descriptor, least recently used first
        self._lock = threading.Lock()

    def read(self, digest: bytes, blob: Blob) -> bytes:
        """Return the raw bytes of a blob.

        Raises:
            CorruptBlobError: The record is missing, cut short or damaged.
        """
        place = f"blob volume {blob.volume:08d} at {blob.offset}"
        try:
            with self._lock:
                record = os.pread(self._descriptor(blob.volume), blob.stored_bytes, blob.offset)
        except OSError as error:
            raise CorruptBlobError(f"{place}: {error.strerror}") from error
        if len(record) != blob.stored_bytes:
            raise CorruptBlobError(f"{place}: {len(record)} bytes are there, expected {blob.stored_bytes}")
        return decode_record(record, digest, place)

    def forget_removed(self) -> None:
        """Close volumes whose files were removed, so that the disk gets their room back."""
        with self._lock:
            self._close_removed()

    def close(self) -> None:
        """Close every file."""
        with self._lock:
            for descriptor in self._files.values():
                os.close(descriptor)
            self._files.clear()

    def _close_removed(self) -> None:
        for volume, descriptor in list(self._files.items()):
            if os.fstat(descriptor).st_nlink == 0:
                os.close(descriptor)
                del self._files[volume]

    def _descriptor(self, volume: int) -> int:
        descriptor = self._files.get(volume)
        if descriptor is None:
            # A collection moves blobs to new volumes: that is when old ones are found to be gone.
            self._close_removed()
            if len(self._files) >= _OPEN_VOLUMES_MAX:
                os.close(self._files.popitem(last=False)[1])
            descriptor = os.open(volume_path(self._folder, volume), os.O_RDONLY | os.O_CLOEXEC)
            self._files[volume] = descriptor
        self._files.move_to_end(volume)
        return descriptor


class VolumeWriter:
    """Appends records to the last volume; used by the one write transaction that is open.

    Nothing here is durable before `sync`. Afterwards the transaction commits the lengths (`end`), or forgets them
    with `roll_back`, and the bytes are written over by the next.
    """

    def __init__(self, folder: Path, volume: int, end: int, *, volume_bytes_max: int = VOLUME_BYTES_MAX) -> None:
        """Go on behind what was committed.

        Args:
            folder: The blobs folder.
            volume: Number of the last volume, from 1.
            end: Its committed length.
            volume_bytes_max: Length at which a new volume is begun.
        """
        self._folder = folder
        self._volume_bytes_max = volume_bytes_max
        self._compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        self._committed = (volume, end)
        self._volume, self._end = volume, end
        self._files: dict[int, int] = {}  # volume to descriptor
        self._unsynced: set[int] = set()
        self._is_new_file = False

    def begin_volume(self) -> int:
        """Let the next record begin a new volume; returns its number. Numbers are never used twice."""
        self._volume, self._end = self._volume + 1, 0
        return self._volume

    def append(self, digest: bytes, data: bytes) -> tuple[int, int, int]:
        """Write one record; returns volume, offset and length of the record.

        Raises:
            OSError: The disk is full, or broken.
        """
        record = encode_record(digest, data, self._compressor)
        if self._end and self._end + len(record) > self._volume_bytes_max:
            self.begin_volume()
        descriptor, offset, written = self._descriptor(), self._end, 0
        while written < len(record):
            written += os.pwrite(descriptor, memoryview(record)[written:], offset + written)
        self._end += len(record)
        self._unsynced.add(self._volume)
        return self._volume, offset, len(record)

    def sync(self) -> None:
        """Make every record of this transaction durable."""
        for volume in self._unsynced:
            os.fdatasync(self._files[volume])
        self._unsynced.clear()
        if self._is_new_file:
            sync_folder(self._folder)
            self._is_new_file = False

    def commit(self) -> None:
        """The lengths are in the metadata now."""
        self._committed = (self._volume, self._end)
        self._close_files(keep=self._volume)

    def roll_back(self) -> None:
        """Forget what was appended since the last commit."""
        self._volume, self._end = self._committed
        self._unsynced.clear()
        self._close_files(keep=self._volume)

    def close(self) -> None:
        """Close every file."""
        self._close_files(keep=0)

    def _descriptor(self) -> int:
        descriptor = self._files.get(self._volume)
        if descriptor is None:
            path = volume_path(self._folder, self._volume)
            self._is_new_file |= not path.exists()
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o640)
            self._files[self._volume] = descriptor
        return descriptor

    def _close_files(self, *, keep: int) -> None:
        for volume in [volume for volume in self._files if volume != keep]:
            os.close(self._files.pop(volume))


def remove_unnamed_volumes(folder: Path, named: Container[int]) -> int:
    """Remove volumes that the metadata does not name: begun and never committed, or collected.

    Args:
        folder: The blobs folder.
        named: Numbers in the `volumes` table, while nobody else can add one.

    Returns:
        Bytes given back.
    """
    freed_bytes = 0
    for path in folder.iterdir():
        number = volume_number(path)
        if number is not None and number not in named:
            freed_bytes += path.stat().st_size
            path.unlink()
    if freed_bytes:
        sync_folder(folder)
    return freed_bytes


def sync_folder(folder: Path) -> None:
    """Make names that were added to or removed from a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
