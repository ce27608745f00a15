"""The manifest file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.errors import CorruptManifestError
from jird_daemon.index.manifest import (
    Fingerprint,
    Manifest,
    ManifestSegment,
    decode_manifest,
    encode_manifest,
    publish_manifest,
    read_manifest,
    withdraw_manifest,
    write_manifest_file,
)

SEGMENTS = (ManifestSegment("a.qix", 1234, 10, "b.del", 3), ManifestSegment("c.qix", 99, 1))
MANIFEST = Manifest("00ff", 7, 1, 4, (4, 2, 2, 1, 1), 200_000, SEGMENTS)


def test_manifest_gives_back_what_went_in(tmp_path: Path) -> None:
    publish_manifest(tmp_path, write_manifest_file(tmp_path, MANIFEST))
    assert read_manifest(tmp_path) == MANIFEST
    assert MANIFEST.document_count == 8
    assert [path.name for path in tmp_path.iterdir()] == ["MANIFEST"]


def test_file_is_two_lines_that_a_person_can_read() -> None:
    """The layout that the module describes, byte for byte."""
    head, body, end = encode_manifest(MANIFEST).split(b"\n")
    assert head.startswith(b"jird index manifest 1 ")
    assert len(head.split()[-1]) == 64
    assert body.startswith(b'{"store_id":"00ff","generation":7,')
    assert end == b""


@given(st.integers(0, len(encode_manifest(MANIFEST)) - 1), st.integers(1, 255))
def test_manifest_with_any_byte_changed_or_cut_is_refused(place: int, flip: int) -> None:
    """J73: never taken for another manifest, never another exception."""
    data = bytearray(encode_manifest(MANIFEST))
    with pytest.raises(CorruptManifestError):
        decode_manifest(bytes(data[:place]))
    data[place] ^= flip
    with pytest.raises(CorruptManifestError):
        decode_manifest(bytes(data))


def test_later_manifest_version_is_refused_with_both_versions() -> None:
    data = encode_manifest(Manifest("00ff", 7, 1, 4, (1,), 1, version=2))
    with pytest.raises(CorruptManifestError, match="version 2, expected 1"):
        decode_manifest(data)


def test_absent_manifest_is_none_and_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    (tmp_path / "MANIFEST").mkdir()
    with pytest.raises(CorruptManifestError, match="directory"):
        read_manifest(tmp_path)


def test_withdrawn_manifest_is_gone(tmp_path: Path) -> None:
    publish_manifest(tmp_path, write_manifest_file(tmp_path, MANIFEST))
    withdraw_manifest(tmp_path)
    withdraw_manifest(tmp_path)
    assert read_manifest(tmp_path) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("store_id", "aa"), ("analysis_version", 2), ("format_version", 5), ("field_weights", (1,)), ("max_chars", 9)],
)
def test_index_made_otherwise_does_not_fit(field: str, value: object) -> None:
    """A change of tokenizer, format, weights or bounds, and the index of another store, are a reindex."""
    made_with = {"store_id": "00ff", "analysis_version": 1, "format_version": 4}
    made_with |= {"field_weights": (4, 2, 2, 1, 1), "max_chars": 200_000}
    assert Fingerprint(**made_with).difference(MANIFEST) == ""  # type: ignore[arg-type]
    difference = Fingerprint(**(made_with | {field: value})).difference(MANIFEST)  # type: ignore[arg-type]
    assert difference.startswith(field)
    assert difference.endswith(f"expected {value}")
