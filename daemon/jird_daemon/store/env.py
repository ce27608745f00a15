"""The store as a whole: opening it, its transactions, and the files below the state directory."""

import errno
import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import lmdb

from jird_daemon.errors import (
    CorruptBlobError,
    CorruptStoreError,
    InternalError,
    NotReadyError,
    SchemaVersionError,
    StoreFullError,
)
from jird_daemon.store.blobs import (
    VOLUME_BYTES_MAX,
    VolumeReader,
    VolumeWriter,
    remove_unnamed_volumes,
    volume_path,
)
from jird_daemon.store.file_system import warn_of_network_file_system
from jird_daemon.store.metadata_file import DATA_FILE, refuse_cut_short, refuse_lost_metadata
from jird_daemon.store.recent_urls import RecentUrls
from jird_daemon.store.tables import ALL_TABLES, META, SCHEMA_VERSION, VOLUMES
from jird_daemon.store.txn import VOLUME_COUNT, Txn
from jird_daemon.store.uuid7 import make_uuid7

METADATA_FOLDER = "meta.mdb"
BLOBS_FOLDER = "blobs"
INDEX_FOLDER = "index"

# What META says of the environment as a whole.
KIND_KEY = "kind"
KIND = "jird metadata"
SCHEMA_KEY = "schema_version"
# UUIDv7, made with the store: an index that bears another one was made from another store.
STORE_ID_KEY = "store_id"

# The map is sparse: it costs addresses, neither memory nor disk, and is never resized under readers. A quarter of a
# tebibyte holds some hundred million pages' metadata.
MAP_BYTES = 256 << 30
# Below this a crawl of any size would meet the end of the map.
MAP_BYTES_MIN = 1 << 30
# serve's pool of calls, ingest's threads, and tools beside them.
MAX_READERS = 256
# LMDB 0.9's format, which Debian's mdb_copy reads too; its durable commits took a third of the time of engine 1.0's.
ENGINE = 0
# Tables of later schema versions find room.
MAX_TABLES = 64


class Store:
    """Metadata and blobs below one state directory.

    One process may hold it open for writing (StateLock sees to that), any number for reading.
    """

    def __init__(self, state_dir: Path, env: lmdb.Environment, *, readonly: bool, volume_bytes_max: int) -> None:
        self.state_dir = state_dir
        self.readonly = readonly
        self._env = env
        self._write_lock = threading.Lock()
        self._databases: dict[str, Any] = {}
        self._reader = VolumeReader(state_dir / BLOBS_FOLDER)
        self._writer: VolumeWriter | None = None
        self._volume_bytes_max = volume_bytes_max
        self._urls = RecentUrls()

    @classmethod
    def open(
        cls,
        state_dir: Path,
        *,
        readonly: bool = False,
        map_bytes: int | None = None,
        volume_bytes_max: int = VOLUME_BYTES_MAX,
    ) -> Self:
        """Open the store, making it where it is not there yet.

        Args:
            state_dir: The state directory.
            readonly: Only read; the writer must have opened the store once before.
            map_bytes: Size of the map; None: as large as makes sense here. Tests set it to meet its end.
            volume_bytes_max: Length of a blob volume.

        Raises:
            SchemaVersionError: It is not a jird store, or one of another layout.
            CorruptStoreError: Its metadata is not all there, or gone while its content is not.
            NotReadyError: `readonly`, and there is no store yet.
            StoreFullError: There is no room to make it.
            OSError: It cannot be read or written.
        """
        folder = state_dir / METADATA_FOLDER
        if readonly and not (folder / DATA_FILE).exists():
            raise NotReadyError(f"no store in {state_dir} yet", "STORE_MISSING")
        if not readonly:
            warn_of_network_file_system(state_dir)
            for path in (folder, state_dir / BLOBS_FOLDER):
                path.mkdir(mode=0o750, parents=True, exist_ok=True)
        env = _open_environment(folder, readonly=readonly, map_bytes=map_bytes or fitting_map_bytes())
        store = cls(state_dir, env, readonly=readonly, volume_bytes_max=volume_bytes_max)
        try:
            if not readonly:
                refuse_cut_short(env, folder)
            store._open_tables()
            if not readonly:
                store._recover_blobs()
        except BaseException:
            store.close()
            raise
        return store

    @contextmanager
    def read(self) -> Iterator[Txn]:
        """A snapshot that no writer disturbs. Keep it short: LMDB cannot reuse pages that a snapshot still sees."""
        with self._env.begin() as txn:
            yield Txn(txn, self._databases, self._reader, None)

    @contextmanager
    def write(self) -> Iterator[Txn]:
        """The one write transaction; a second thread waits. Commits durably at the end, or leaves no trace.

        Raises:
            StoreFullError: The map or the disk is full. The transaction is rolled back, what was committed stands.
        """
        assert self._writer is not None, "the store is open for reading only"
        with self._write_lock, store_full_errors(self.state_dir):
            with self._rolling_back(), self._env.begin(write=True) as raw:
                txn = Txn(raw, self._databases, self._reader, self._writer, self._urls)
                yield txn
                txn.flush()
            self._writer.commit()
            self._urls.update(txn.new_urls)

    def get_blob(self, digest: bytes) -> bytes:
        """A blob by itself. Finds it also if a garbage collection moves it at this moment.

        Raises:
            CorruptBlobError: It is not there, or damaged.
        """
        try:
            with self.read() as txn:
                return txn.get_blob(digest)
        except CorruptBlobError:
            with self.read() as txn:
                return txn.get_blob(digest)

    @property
    def metadata_bytes(self) -> int:
        """Bytes of the metadata file that are in use, free pages within included."""
        return (int(self._env.info()["last_pgno"]) + 1) * int(self._env.stat()["psize"])

    @property
    def free_bytes(self) -> int:
        """Bytes that the file system of the state directory still has for us."""
        status = os.statvfs(self.state_dir)
        return status.f_bavail * status.f_frsize

    def copy_metadata(self, folder: Path) -> None:
        """Write what is in use of the metadata to a file in `folder`, in order and without free pages.

        Raises:
            StoreFullError: The disk is full.
        """
        with store_full_errors(self.state_dir):
            self._env.copy(str(folder), compact=True)

    def clear_dead_readers(self) -> int:
        """Free the snapshots of processes that died; returns how many."""
        return int(self._env.reader_check())

    def forget_removed_volumes(self) -> None:
        """Close blob volumes that a collection removed, so that the disk gets their room back."""
        self._reader.forget_removed()

    def close(self) -> None:
        """Close every file. No transaction may be open."""
        if self._writer is not None:
            self._writer.close()
        self._reader.close()
        self._env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _rolling_back(self) -> Iterator[None]:
        assert self._writer is not None
        try:
            yield
        except BaseException:
            self._writer.roll_back()
            raise

    def _open_tables(self) -> None:
        """Check the layout before anything is touched, then open the tables, making those that are not there."""
        with self._env.begin() as txn:
            is_new = txn.stat()["entries"] == 0
        if is_new and self.readonly:
            raise NotReadyError(f"no store in {self.state_dir} yet", "STORE_MISSING")
        if is_new:
            refuse_lost_metadata(self.state_dir / BLOBS_FOLDER)
        else:
            _check_schema(self._env, self.state_dir)
        if self.readonly:
            self._databases = {t.name: self._env.open_db(t.name.encode(), create=False) for t in ALL_TABLES}
            return
        with store_full_errors(self.state_dir), self._env.begin(write=True) as txn:
            for table in ALL_TABLES:
                self._databases[table.name] = self._env.open_db(table.name.encode(), txn=txn)
            if is_new:
                meta = {KIND_KEY: KIND, SCHEMA_KEY: SCHEMA_VERSION, STORE_ID_KEY: make_uuid7(time.time())}
                for key, value in meta.items():
                    txn.put(META.encode_key(key), META.encode(value), db=self._databases[META.name])

    def _recover_blobs(self) -> None:
        """Cut off what was never committed, and remove files that nothing names."""
        with self.read() as txn:
            lengths = {number: volume.stored_bytes for number, volume in txn.scan(VOLUMES)}
            last = txn.number(VOLUME_COUNT) or 1
        folder = self.state_dir / BLOBS_FOLDER
        for number, length in lengths.items():
            path = volume_path(folder, number)
            if path.exists() and path.stat().st_size > length:
                os.truncate(path, length)
        remove_unnamed_volumes(folder, lengths)
        self._writer = VolumeWriter(folder, last, lengths.get(last, 0), volume_bytes_max=self._volume_bytes_max)


def fitting_map_bytes() -> int:
    """Size of the map: MAP_BYTES, or less where the process may not have so many addresses."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return MAP_BYTES
    # Half of the addresses are left to everything else.
    return max(MAP_BYTES_MIN, min(MAP_BYTES, limit // 2 // MAP_BYTES_MIN * MAP_BYTES_MIN))


def _open_environment(folder: Path, *, readonly: bool, map_bytes: int) -> lmdb.Environment:
    while True:
        try:
            return lmdb.open(
                str(folder),
                map_size=map_bytes,
                readonly=readonly,
                max_dbs=MAX_TABLES,
                max_readers=MAX_READERS,
                mode=0o640,
                lib_version=ENGINE,
            )
        except lmdb.MemoryError:
            if map_bytes <= MAP_BYTES_MIN:
                raise
            map_bytes //= 2
        except (lmdb.InvalidError, lmdb.VersionMismatchError, lmdb.CorruptedError) as error:
            raise SchemaVersionError(f"{folder} is not a jird store of this engine: {error}", "STORE_KIND") from error
        except lmdb.DiskError as error:
            raise StoreFullError(f"no room to make {folder}") from error
        except lmdb.Error as error:  # the message names the file and what the system says of it
            raise CorruptStoreError(f"metadata cannot be opened: {error}", "STORE_UNREADABLE") from error


def _check_schema(env: lmdb.Environment, state_dir: Path) -> None:
    try:
        databases: dict[str, Any] = {META.name: env.open_db(META.name.encode(), create=False)}
    except lmdb.NotFoundError as error:
        raise SchemaVersionError(f"{state_dir}: data of another program, expected {KIND!r}", "STORE_KIND") from error
    with env.begin() as raw:
        txn = Txn(raw, databases, VolumeReader(state_dir))
        kind, version = txn.get(META, KIND_KEY), txn.get(META, SCHEMA_KEY)
    if kind != KIND:
        raise SchemaVersionError(f"{state_dir}: kind {kind!r}, expected {KIND!r}", "STORE_KIND")
    if version != SCHEMA_VERSION:
        newer = isinstance(version, int) and version > SCHEMA_VERSION
        advice = "use the release of jird that wrote it, or a later one" if newer else "an older layout; crawl again"
        raise SchemaVersionError(
            f"{state_dir}: schema version {version!r}, this release reads version {SCHEMA_VERSION}: {advice}"
        )


@contextmanager
def store_full_errors(state_dir: Path) -> Iterator[None]:
    """Turn the ways in which a full disk or map shows itself into one error."""
    try:
        yield
    except lmdb.MapFullError as error:
        raise StoreFullError(f"{state_dir}: the metadata map is full", "MAP_FULL") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFullError(f"{state_dir}: {error.strerror}", "DISK_FULL") from error
        raise
    except lmdb.PanicError as error:
        raise InternalError(f"{state_dir}: {error}; the store must be opened again") from error
    except lmdb.Error as error:
        # LMDB reports a write that was cut short, as on a disk that fills up in the middle of it, as EIO.
        if isinstance(error, lmdb.DiskError) or any(os.strerror(n) in str(error) for n in (errno.ENOSPC, errno.EIO)):
            raise StoreFullError(f"{state_dir}: the disk is full or fails: {error}", "DISK_FULL") from error
        raise
