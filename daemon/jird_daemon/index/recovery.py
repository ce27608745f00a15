"""Opening the index: take what the manifest vouches for, or say why it must be made again.

What is wrong, and what is done:

| found | done |
|---|---|
| no store generation either | a new store: nothing |
| no manifest, one that cannot be read, of another store or another analysis | rebuild from nothing |
| manifest of a later generation than the store (restored backup), or changes since it are gone | rebuild from nothing |
| a segment or its deletions missing, damaged, or of another size than the manifest says | rebuild; the others answer |
| all well | changes since the manifest's generation are replayed |

Files that the manifest does not name are left over from a crash, and removed.
"""

from pathlib import Path

from jird_daemon.errors import CorruptManifestError
from jird_daemon.index.changes import store_generation
from jird_daemon.index.live import LiveSegment
from jird_daemon.index.manifest import (
    Manifest,
    ManifestSegment,
    file_names,
    read_manifest,
    withdraw_manifest,
)
from jird_daemon.index.regular import read_regular
from jird_daemon.index.state import IndexState
from jird_daemon.log import get_logger
from jird_daemon.store.env import STORE_ID_KEY, Store
from jird_daemon.store.tables import META
from jird_native import JirdNativeError, Segment, Tombstones

log = get_logger("index")


def recover(state: IndexState) -> str:
    """Load what can be used into a new state.

    Returns:
        Why the index must be made again, for a person; empty when it need not be. The manifest is then withdrawn.
    """
    try:
        manifest = read_manifest(state.folder)
        reason = _missing(state) if manifest is None else _misfit(state, manifest)
    except CorruptManifestError as error:
        manifest, reason = None, error.message
    if manifest is not None and not reason:
        reason = _load(state, manifest)
    if reason:
        withdraw_manifest(state.folder)
        state.checkpoint_generation = 0
    removed = state.files.remove_unlisted()
    if removed:
        log.info("index.leftovers_removed", files=removed)
    return reason


def store_id(store: Store) -> str:
    """Identity of a store, in hexadecimal."""
    with store.read() as txn:
        found = txn.get(META, STORE_ID_KEY)
    return found.hex() if isinstance(found, bytes) else ""


def _missing(state: IndexState) -> str:
    generation, _ = store_generation(state.store)
    return f"there is no manifest, the store is at generation {generation}" if generation else ""


def _misfit(state: IndexState, manifest: Manifest) -> str:
    difference = state.fingerprint.difference(manifest)
    if difference:
        return f"the index was made with {difference}"
    generation, pruned = store_generation(state.store)
    if manifest.generation > generation:
        return f"manifest of generation {manifest.generation}, the store is at {generation}"
    if manifest.generation < pruned:
        return f"manifest of generation {manifest.generation}, changes up to {pruned} are gone"
    return ""


def _load(state: IndexState, manifest: Manifest) -> str:
    faults = []
    for entry in manifest.segments:
        try:
            state.live.segments.append(_open_entry(state.folder, entry))
        except (OSError, ValueError, JirdNativeError) as error:
            faults.append(f"{entry.name}: {error}")
            log.error("index.segment_unusable", segment=entry.name, reason=str(error), action="rebuild")
    state.generation = manifest.generation
    state.files.manifest = frozenset() if faults else file_names(manifest)
    state.checkpoint_generation = manifest.generation
    state.next_view()  # names the files that must stay
    return "; ".join(faults)


def _open_entry(folder: Path, entry: ManifestSegment) -> LiveSegment:
    """Open one segment with its deletions.

    Raises:
        OSError: A file is missing, or cannot be read.
        ValueError: A file is not the one that the manifest means.
        jird_native.JirdNativeError: The segment is damaged.
    """
    segment = Segment.open(folder / entry.name)
    if (segment.bytes, segment.doc_count) != (entry.file_bytes, entry.doc_count):
        found = f"{segment.bytes} bytes, {segment.doc_count} documents"
        raise ValueError(f"{found}, expected {entry.file_bytes} bytes, {entry.doc_count} documents")
    live = LiveSegment(entry.name, segment, is_durable=True)
    if entry.tombstones:
        live.tombstones = Tombstones.from_bytes(read_regular(folder / entry.tombstones), entry.doc_count)
        live.tombstone_file, live.is_tombstone_file_durable = entry.tombstones, True
    if live.deleted_count != entry.deleted_count:
        raise ValueError(f"{live.deleted_count} deleted documents, expected {entry.deleted_count}")
    return live
