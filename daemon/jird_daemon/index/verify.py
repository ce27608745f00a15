"""Reading every byte of the index, beside searches and the writer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jird_daemon.errors import CorruptManifestError
from jird_daemon.index.background import Progress
from jird_daemon.index.manifest import read_manifest
from jird_daemon.index.regular import read_regular
from jird_native import JirdNativeError, Segment, Tombstones


@dataclass(frozen=True, slots=True)
class VerifiedSegment:
    """One segment in use, as the writer's thread knew it."""

    name: str
    segment: Segment
    tombstone_file: str
    deleted_count: int


def verify_segment(folder: Path, entry: VerifiedSegment) -> list[str]:
    """What is wrong with a segment's file and with the file of its deletions; [] when nothing is."""
    faults = []
    try:
        if (folder / entry.name).stat().st_size != entry.segment.bytes:
            return [f"segment {entry.name}: the file was cut short or replaced"]
        faults += [f"segment {entry.name}: offset {fault.offset}: {fault.reason}" for fault in entry.segment.verify()]
        if entry.tombstone_file:
            data = read_regular(folder / entry.tombstone_file)
            deleted = Tombstones.from_bytes(data, entry.segment.doc_count).count
            if deleted != entry.deleted_count:
                faults.append(f"{entry.tombstone_file}: {deleted} deleted documents, expected {entry.deleted_count}")
    except JirdNativeError as error:
        faults.append(str(error))
    except (OSError, ValueError) as error:
        faults.append(f"segment {entry.name}: {error}")
    return faults


def verify_index(folder: Path, entries: Sequence[VerifiedSegment], progress: Progress) -> dict[str, list[str]]:
    """Faults of each segment that has any, and of the manifest under "".

    Args:
        folder: The index folder.
        entries: The segments in use.
        progress: Called with bytes checked; what it raises ends the work.
    """
    total = sum(entry.segment.bytes for entry in entries)
    faults, done = {}, 0
    for entry in entries:
        progress("checking segments", done, total)
        found = verify_segment(folder, entry)
        if found:
            faults[entry.name] = found
        done += entry.segment.bytes
    try:
        read_manifest(folder)
    except CorruptManifestError as error:
        faults[""] = [error.message]
    progress("checking segments", total, total)
    return faults
