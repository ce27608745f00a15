"""The manifest: which segments, with which deletions, are the index at one generation of the store.

The file MANIFEST in the index folder has two lines, both UTF-8 and ending in a newline:

    jird index manifest 1 <BLAKE2b-32 of the second line without its newline, in hexadecimal>
    {"store_id":...,"generation":...}

The second is the JSON of a Manifest. The file is replaced as a whole: written to MANIFEST.new, synced, renamed, and the
folder synced. All that it names was synced before, so that a manifest which can be read names files that are whole.

The manifest is derived, like the segments: whoever cannot read it, or finds that it does not fit the store, throws it
away and builds the index again (J73).

| version | change |
|---|---|
| 1 | first layout |
"""

import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec

from jird_daemon.errors import CorruptManifestError
from jird_daemon.index.regular import read_regular, remove_irregular
from jird_daemon.store.blobs import sync_folder

MANIFEST_FILE = "MANIFEST"
MANIFEST_VERSION = 1
# A view of 10,000 segments is some two megabytes.
_MANIFEST_BYTES_MAX = 64 * 1024 * 1024
_TITLE = "jird index manifest"


class ManifestSegment(msgspec.Struct, frozen=True):
    """One segment file and what is deleted from it."""

    name: str  # below the index folder
    file_bytes: int
    doc_count: int  # deleted ones included
    tombstones: str = ""  # file below the index folder; empty when nothing is deleted
    deleted_count: int = 0


class Manifest(msgspec.Struct, frozen=True):
    """A durable state of the index."""

    store_id: str  # hexadecimal; of the store that it was made from
    generation: int  # of the store that it covers
    analysis_version: int  # of the tokenizer
    format_version: int  # of QIX
    field_weights: tuple[int, ...]  # that lengths and frequencies were folded with
    max_chars: int  # of a document's text that are indexed
    segments: tuple[ManifestSegment, ...] = ()
    version: int = MANIFEST_VERSION

    @property
    def document_count(self) -> int:
        """Documents that can be found."""
        return sum(segment.doc_count - segment.deleted_count for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What an index must have been made with to be used; a change of any of it is a reindex."""

    store_id: str
    analysis_version: int
    format_version: int
    field_weights: tuple[int, ...]
    max_chars: int

    def difference(self, manifest: Manifest) -> str:
        """What a manifest was made with otherwise, for a person; empty when it fits."""
        for name in ("store_id", "analysis_version", "format_version", "field_weights", "max_chars"):
            found, expected = getattr(manifest, name), getattr(self, name)
            if found != expected:
                return f"{name} {found}, expected {expected}"
        return ""


def file_names(manifest: Manifest) -> frozenset[str]:
    """Every file that a manifest names."""
    names = {name for segment in manifest.segments for name in (segment.name, segment.tombstones)}
    return frozenset(names - {""})


def encode_manifest(manifest: Manifest) -> bytes:
    """The two lines of the file."""
    body = msgspec.json.encode(manifest)
    return f"{_TITLE} {manifest.version} {_digest(body)}\n".encode() + body + b"\n"


def decode_manifest(data: bytes) -> Manifest:
    """Read the two lines.

    Raises:
        CorruptManifestError: They are not a manifest that this release reads.
    """
    head, _, rest = data.partition(b"\n")
    words = head.decode(errors="replace").split(" ")
    if " ".join(words[:-2]) != _TITLE:
        raise CorruptManifestError(f"manifest begins with {head[:40]!r}, expected {_TITLE!r}")
    if words[-2] != str(MANIFEST_VERSION):
        raise CorruptManifestError(f"manifest version {words[-2][:20]}, expected {MANIFEST_VERSION}")
    body, end = rest[:-1], rest[-1:]
    if end != b"\n" or _digest(body) != words[-1]:
        raise CorruptManifestError(f"manifest checksum {_digest(body)[:16]}..., expected {words[-1][:16]}...")
    try:
        return msgspec.json.decode(body, type=Manifest)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise CorruptManifestError(f"manifest cannot be read: {error}") from error


def read_manifest(folder: Path) -> Manifest | None:
    """The published manifest of an index folder; None when there is none.

    Raises:
        CorruptManifestError: There is one, and it cannot be read.
    """
    try:
        return decode_manifest(read_regular(folder / MANIFEST_FILE, _MANIFEST_BYTES_MAX))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CorruptManifestError(f"manifest cannot be read: {error.strerror or error}") from error


def write_manifest_file(folder: Path, manifest: Manifest) -> Path:
    """Write and sync the next manifest beside the published one; publish_manifest makes it count."""
    path = folder / f"{MANIFEST_FILE}.new"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o640)
    with open(descriptor, "wb") as file:
        file.write(encode_manifest(manifest))
        file.flush()
        os.fsync(descriptor)
    return path


def publish_manifest(folder: Path, path: Path) -> None:
    """Replace the published manifest by a written one, atomically and durably."""
    path.rename(folder / MANIFEST_FILE)
    sync_folder(folder)


def withdraw_manifest(folder: Path) -> None:
    """Remove the published manifest, durably: the next open builds the index again."""
    remove_irregular(folder / MANIFEST_FILE)
    (folder / MANIFEST_FILE).unlink(missing_ok=True)
    sync_folder(folder)


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=32).hexdigest()
