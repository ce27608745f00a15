"""Garbage collection of blobs: forget what no page version refers to, and rewrite volumes that are mostly dead.

Each step is one transaction, and a kill between two leaves a store that the next collection finishes:

1. Rows of unreferenced blobs go, a batch at a time. Their bytes stay where they are, dead.
2. What lives in a volume that is mostly dead is written again behind the last volume, a batch at a time, and its rows
   name the new place.
3. The row of an emptied volume goes, and after that commit its file. A file whose row is gone is removed at the next
   open or collection.

A reader whose snapshot is older than step 3 may look for a removed file. It gets CorruptBlobError, and finds the new
place in a new snapshot.
"""

from collections import defaultdict
from collections.abc import Callable
from itertools import islice

from jird_daemon.control import GarbageReport
from jird_daemon.errors import CorruptBlobError, WrongStateError
from jird_daemon.store.blobs import remove_unnamed_volumes
from jird_daemon.store.env import BLOBS_FOLDER, Store
from jird_daemon.store.tables import BLOBS, RUNS, VOLUMES, RunState
from jird_daemon.store.txn import BLOB_BYTES, BLOB_COUNT, VOLUME_COUNT

# A volume is rewritten when less than this part of it is live: then each byte written gives back at least another.
_LIVE_PART_MIN = 0.5
# Rows in one transaction: some tens of milliseconds, since searches go on and a stop must not wait.
_ROWS_A_BATCH = 2_000
# Bytes moved in one transaction, for the same reason.
_BYTES_A_BATCH = 32 * 1024 * 1024


def collect_garbage(
    store: Store, progress: Callable[[str, int, int], None] = lambda stage, done, total: None
) -> GarbageReport:
    """Remove blobs that no page version refers to, and give their room back.

    Args:
        store: Open for writing.
        progress: Called with what is being done, units done and units in all. What it raises ends the collection, and
            nothing is lost.

    Raises:
        WrongStateError: A crawl runs (J93).
        StoreFullError: There is no room to rewrite a volume; nothing is lost.
    """
    with store.read() as txn:
        running = [run_id for run_id, run in txn.scan(RUNS) if run.state == RunState.RUNNING]
    if running:
        raise WrongStateError(f"crawl {running[0]} is running; stop it, then collect", "CRAWL_RUNNING")
    removed = _forget_unreferenced(store, progress)
    for done, (volume, digests) in enumerate(plan := _mostly_dead_volumes(store)):
        progress("rewriting volumes", done, len(plan))
        _empty_volume(store, volume, digests)
    with store.write() as txn:
        freed_bytes = remove_unnamed_volumes(
            store.state_dir / BLOBS_FOLDER, {number for number, _ in txn.scan(VOLUMES)}
        )
    store.forget_removed_volumes()
    return GarbageReport(removed, freed_bytes)


def _forget_unreferenced(store: Store, progress: Callable[[str, int, int], None]) -> int:
    with store.read() as txn:
        dead = [digest for digest, blob in txn.scan(BLOBS) if blob.references == 0]
    removed = 0
    for start in range(0, len(dead), _ROWS_A_BATCH):
        progress("removing blobs", start, len(dead))
        with store.write() as txn:
            for digest in dead[start : start + _ROWS_A_BATCH]:
                blob = txn.get(BLOBS, digest)
                if blob is not None and blob.references == 0:
                    txn.delete(BLOBS, digest)
                    txn.add_number(BLOB_COUNT, -1)
                    txn.add_number(BLOB_BYTES, -blob.stored_bytes)
                    removed += 1
    return removed


def _mostly_dead_volumes(store: Store) -> list[tuple[int, list[bytes]]]:
    """Volumes to rewrite, each with the blobs that live in it in the order of their places.

    None of them is the last one any more, so that nothing is moved into a volume that is about to be emptied.
    """
    with store.write() as txn:
        dead = {n for n, volume in txn.scan(VOLUMES) if volume.live_bytes < volume.stored_bytes * _LIVE_PART_MIN}
        if txn.number(VOLUME_COUNT) in dead:
            txn.begin_volume()
        places: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for digest, blob in txn.scan(BLOBS):
            if blob.volume in dead:
                places[blob.volume].append((blob.offset, digest))
    return [(volume, [digest for _, digest in sorted(places[volume])]) for volume in sorted(dead)]


def _empty_volume(store: Store, volume: int, digests: list[bytes]) -> None:
    """Move what lives in a volume, then drop its row. A damaged record keeps its volume as it is: it may be of use."""
    rest = iter(digests)
    try:
        while batch := list(islice(rest, _ROWS_A_BATCH)):
            _move(store, volume, batch)
    except CorruptBlobError:
        return
    with store.write() as txn:
        emptied = txn.get(VOLUMES, volume)
        assert emptied is not None
        assert emptied.live_bytes == 0, f"volume {volume} still holds {emptied.live_bytes} live bytes"
        txn.delete(VOLUMES, volume)


def _move(store: Store, volume: int, digests: list[bytes]) -> None:
    start = 0
    while start < len(digests):
        moved_bytes = 0
        with store.write() as txn:
            while start < len(digests) and moved_bytes < _BYTES_A_BATCH:
                blob = txn.get(BLOBS, digests[start])
                if blob is not None and blob.volume == volume:
                    txn.move_blob(digests[start], blob)
                    moved_bytes += blob.stored_bytes
                start += 1
