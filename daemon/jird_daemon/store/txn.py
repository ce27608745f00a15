"""One transaction on the metadata and the blobs."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import lmdb

from jird_daemon.errors import CorruptBlobError
from jird_daemon.store.blobs import VolumeReader, VolumeWriter, blob_digest
from jird_daemon.store.recent_urls import RecentUrls
from jird_daemon.store.tables import BLOBS, META, VOLUMES, Blob, Table, Volume

K = TypeVar("K")
V = TypeVar("V")

# META: every count that is kept incrementally, and the last number given out of each kind.
COUNTS_KEY = "counts"
BLOB_COUNT = "blobs"
BLOB_BYTES = "blob_bytes"  # of the records in the volumes that have a row
VOLUME_COUNT = "volumes"  # number of the last volume; a number is never used twice, since readers keep files open


class Txn:
    """Typed access to the tables, at one moment of the store.

    A transaction belongs to the thread that opened it and ends with the `with` block of Store.read() or
    Store.write(). Everything it returns is a copy, and may be kept.
    """

    def __init__(
        self,
        txn: lmdb.Transaction,
        databases: dict[str, Any],
        reader: VolumeReader,
        writer: VolumeWriter | None = None,
        recent_urls: RecentUrls | None = None,
    ) -> None:
        self._txn: Any = txn  # its stubs allow memoryviews everywhere; without `buffers` it gives bytes
        self._databases = databases
        self._reader = reader
        self._writer = writer
        self._counts: dict[str, int] | None = None
        self._counts_changed = False
        self.recent_urls = recent_urls or RecentUrls()
        self.shared_generation: int | None = None  # see pages.one_generation
        self.mended_blobs: set[bytes] = set()  # that were damaged, and were written again in this transaction
        self.new_urls: dict[str, int] = {}  # met in this transaction; remembered when it has committed

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Value of a key; None when there is none."""
        data = self._txn.get(table.encode_key(key), db=self._databases[table.name])
        return None if data is None else table.decode(data)

    def get_many(self, table: Table[K, V], keys: Iterable[K]) -> dict[K, V]:
        """Values of those keys that are there; half the cost of single gets when the keys come in order."""
        with self._txn.cursor(self._databases[table.name]) as cursor:
            found = cursor.getmulti([table.encode_key(key) for key in keys])
        return {table.decode_key(key): table.decode(data) for key, data in found}

    def put(self, table: Table[K, V], key: K, value: V) -> None:
        """Set the value of a key.

        Raises:
            lmdb.MapFullError: Becomes StoreFullError when it leaves the `with` block.
        """
        self._txn.put(table.encode_key(key), table.encode(value), db=self._databases[table.name])

    def put_many(self, table: Table[K, V], items: Iterable[tuple[K, V]]) -> None:
        """Set the values of many keys; a third of the cost of single puts."""
        with self._txn.cursor(self._databases[table.name]) as cursor:
            cursor.putmulti([(table.encode_key(key), table.encode(value)) for key, value in items])

    def delete(self, table: Table[K, V], key: K) -> bool:
        """Remove a key; returns whether it was there."""
        return bool(self._txn.delete(table.encode_key(key), db=self._databases[table.name]))

    def has(self, table: Table[K, V], key: K) -> bool:
        """Whether a key is there."""
        return self._txn.get(table.encode_key(key), db=self._databases[table.name]) is not None

    def count(self, table: Table[K, V]) -> int:
        """Number of keys; does not depend on how many there are."""
        return int(self._txn.stat(self._databases[table.name])["entries"])

    def scan(
        self, table: Table[K, V], start: K | None = None, stop: K | None = None, *, reverse: bool = False
    ) -> Iterator[tuple[K, V]]:
        """Walk the keys of `start <= key < stop` in order.

        Args:
            table: The table.
            start: First key that counts, whether or not it is there; None: from the first.
            stop: First key that does not count any more; None: to the end.
            reverse: Walk the same keys from the last to the first.

        The table must not be changed while it is walked: collect first.
        """
        low = None if start is None else table.encode_key(start)
        high = None if stop is None else table.encode_key(stop)
        with self._txn.cursor(self._databases[table.name]) as cursor:
            for key, data in _walk_back(cursor, low, high) if reverse else _walk(cursor, low, high):
                yield table.decode_key(key), table.decode(data)

    def number(self, name: str) -> int:
        """A count that is kept incrementally; 0 until it is first changed. Sees this transaction's own changes."""
        return self._all_counts().get(name, 0)

    def add_number(self, name: str, delta: int) -> int:
        """Change a count, and return it. Written once, when the transaction commits."""
        counts = self._all_counts()
        counts[name] = counts.get(name, 0) + delta
        self._counts_changed = True
        return counts[name]

    def put_blob(self, data: bytes) -> bytes:
        """Store bytes once, and return their name; nobody refers to them yet, unless they were there.

        Bytes that are there are read: if they are damaged they are written again, so that a new crawl mends them.

        Raises:
            OSError: Becomes StoreFullError when it leaves the `with` block.
        """
        digest = blob_digest(data)
        old = self.get(BLOBS, digest)
        if old is not None and self._is_readable(digest, old):
            return digest
        if old is not None:
            self.mended_blobs.add(digest)
        self._append(digest, data, old)
        return digest

    def _is_readable(self, digest: bytes, blob: Blob) -> bool:
        try:
            self._reader.read(digest, blob)
        except CorruptBlobError:
            return False
        return True

    def _append(self, digest: bytes, data: bytes, old: Blob | None) -> None:
        """Write a record behind the last volume; the row names the new place from then on."""
        assert self._writer is not None, "a transaction that only reads"
        volume, offset, stored_bytes = self._writer.append(digest, data)
        references = old.references if old is not None else 0
        self.put(BLOBS, digest, Blob(volume, offset, stored_bytes, len(data), references))
        self.resize_volume(volume, offset + stored_bytes, stored_bytes if references else 0)
        self.add_number(BLOB_BYTES, stored_bytes - (old.stored_bytes if old is not None else 0))
        if old is None:
            self.add_number(BLOB_COUNT, 1)
        elif references:
            self.resize_volume(old.volume, 0, -old.stored_bytes)

    def get_blob(self, digest: bytes) -> bytes:
        """Return a blob's bytes.

        Raises:
            CorruptBlobError: It is not there, or damaged.
        """
        blob = self.get(BLOBS, digest)
        if blob is None:
            raise CorruptBlobError(f"no blob {digest.hex()}", "BLOB_UNKNOWN")
        return self._reader.read(digest, blob)

    def refer_to_blob(self, digest: bytes, delta: int) -> None:
        """Change how many page versions refer to a blob; b"" stands for no blob and is ignored."""
        if not digest or not delta:
            return
        blob = self.get(BLOBS, digest)
        if blob is None:
            raise CorruptBlobError(f"no blob {digest.hex()}", "BLOB_UNKNOWN")
        references = blob.references + delta
        assert references >= 0, f"blob {digest.hex()} would have {references} references"
        self.put(BLOBS, digest, Blob(blob.volume, blob.offset, blob.stored_bytes, blob.raw_bytes, references))
        if (blob.references == 0) != (references == 0):
            self.resize_volume(blob.volume, 0, blob.stored_bytes if references else -blob.stored_bytes)

    def move_blob(self, digest: bytes, blob: Blob) -> None:
        """Write a blob again, behind the last volume, and let its row name the new place."""
        self._append(digest, self._reader.read(digest, blob), blob)

    def begin_volume(self) -> None:
        """Let the next blob go to a new volume."""
        assert self._writer is not None
        self.resize_volume(self._writer.begin_volume(), 0, 0)

    def resize_volume(self, volume: int, end: int, live_delta: int) -> None:
        """Record that a volume reaches to `end` at least, and that `live_delta` more of its bytes are referred to."""
        found = self.get(VOLUMES, volume) or Volume(0)
        self.add_number(VOLUME_COUNT, max(0, volume - self.number(VOLUME_COUNT)))
        self.put(VOLUMES, volume, Volume(max(found.stored_bytes, end), found.live_bytes + live_delta))

    def flush(self) -> None:
        """Put what the transaction has only counted so far, and make its blobs durable. Called before the commit."""
        if self._counts_changed:
            self.put(META, COUNTS_KEY, self._counts)
        if self._writer is not None:
            self._writer.sync()

    def _all_counts(self) -> dict[str, int]:
        if self._counts is None:
            self._counts = self.get(META, COUNTS_KEY) or {}
        return self._counts


def _walk(cursor: Any, low: bytes | None, high: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    if not (cursor.first() if low is None else cursor.set_range(low)):
        return
    for key, data in cursor.iternext(keys=True, values=True):
        if high is not None and key >= high:
            return
        yield key, data


def _walk_back(cursor: Any, low: bytes | None, high: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    if high is not None and cursor.set_range(high):
        if not cursor.prev():
            return
    elif not cursor.last():
        return
    for key, data in cursor.iterprev(keys=True, values=True):
        if low is not None and key < low:
            return
        yield key, data
