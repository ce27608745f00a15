"""Blob records: written once, checked at each read."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zstandard import ZstdCompressor

from jird_daemon.errors import CorruptBlobError
from jird_daemon.store import Store
from jird_daemon.store.blobs import HEADER_BYTES, blob_digest, decode_record, encode_record
from jird_daemon.store.tables import BLOBS, VOLUMES, Blob


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path) as opened:
        yield opened


def put(store: Store, data: bytes) -> tuple[bytes, Blob]:
    with store.write() as txn:
        digest = txn.put_blob(data)
    with store.read() as txn:
        blob = txn.get(BLOBS, digest)
    assert blob is not None
    return digest, blob


def get(store: Store, digest: bytes) -> bytes:
    with store.read() as txn:
        return txn.get_blob(digest)


@given(st.binary(max_size=3000))
def test_record_gives_back_what_went_in(data: bytes) -> None:
    digest = blob_digest(data)
    assert decode_record(encode_record(digest, data, ZstdCompressor(level=3)), digest, "here") == data


@given(st.binary(min_size=1, max_size=300), st.data())
def test_record_with_any_byte_changed_or_cut_is_refused(data: bytes, draw: st.DataObject) -> None:
    """Never wrong bytes, never another exception."""
    digest = blob_digest(data)
    record = bytearray(encode_record(digest, data, ZstdCompressor(level=3)))
    place = draw.draw(st.integers(0, len(record) - 1))
    flipped = bytearray(record)
    flipped[place] ^= draw.draw(st.integers(1, 255))
    for damaged in (bytes(flipped), bytes(record[:place])):
        with pytest.raises(CorruptBlobError, match="here"):
            decode_record(damaged, digest, "here")


def test_blob_is_readable_in_the_transaction_that_writes_it(store: Store) -> None:
    with store.write() as txn:
        assert txn.get_blob(txn.put_blob(b"body")) == b"body"


def test_empty_blob_can_be_stored(store: Store) -> None:
    assert get(store, put(store, b"")[0]) == b""


def test_flipped_byte_is_an_error_and_the_neighbour_is_read(store: Store, tmp_path: Path) -> None:
    """Damage costs the blob that it hit, is found at the read, and does not keep the store from opening."""
    bad, blob = put(store, os.urandom(500))
    good, _ = put(store, b"good")
    descriptor = os.open(tmp_path / "blobs" / "00000001.vol", os.O_WRONLY)
    os.pwrite(descriptor, b"\xff\x00\xff", blob.offset + HEADER_BYTES + 10)
    os.close(descriptor)
    store.close()
    with Store.open(tmp_path) as again:
        with pytest.raises(CorruptBlobError, match="00000001 at 0: checksum"):
            get(again, bad)
        assert get(again, good) == b"good"


def test_missing_or_truncated_volume_is_an_error_at_the_read(store: Store, tmp_path: Path) -> None:
    """F93: a file cut short while it is open gives an error, not SIGBUS."""
    digest, blob = put(store, os.urandom(500))
    assert len(get(store, digest)) == 500
    os.truncate(tmp_path / "blobs" / "00000001.vol", 100)
    with pytest.raises(CorruptBlobError, match=f"100 bytes are there, expected {blob.stored_bytes}"):
        get(store, digest)
    store.close()
    (tmp_path / "blobs" / "00000001.vol").unlink()
    with Store.open(tmp_path) as again:
        with pytest.raises(CorruptBlobError, match="No such file"):
            get(again, digest)
        new, _ = put(again, b"a store with a lost volume still takes new blobs")
        assert get(again, new).startswith(b"a store")


def test_unknown_blob_is_an_error(store: Store) -> None:
    with pytest.raises(CorruptBlobError, match="no blob 0000") as caught:
        get(store, bytes(32))
    assert caught.value.reason == "BLOB_UNKNOWN"


def test_file_that_no_row_names_is_removed_at_open(store: Store, tmp_path: Path) -> None:
    """J93: abandoned files of ours go, other files stay."""
    put(store, b"body")
    store.close()
    for name in ("00000009.vol", "notes.txt"):
        (tmp_path / "blobs" / name).write_bytes(b"left over")
    Store.open(tmp_path).close()
    assert sorted(path.name for path in (tmp_path / "blobs").iterdir()) == ["00000001.vol", "notes.txt"]


def test_storing_the_same_bytes_again_mends_a_damaged_blob(store: Store, tmp_path: Path) -> None:
    """J3: a new crawl of the same content heals; who referred to it still does, and the dead record is collected."""
    data = os.urandom(500)
    digest, blob = put(store, data)
    with store.write() as txn:
        txn.refer_to_blob(digest, 2)
    with (tmp_path / "blobs" / "00000001.vol").open("r+b") as file:
        file.seek(blob.offset + HEADER_BYTES + 10)
        file.write(b"\xff\x00\xff")
    with pytest.raises(CorruptBlobError):
        store.get_blob(digest)
    put(store, data)
    assert store.get_blob(digest) == data
    with store.read() as txn:
        mended = txn.get(BLOBS, digest)
        (volume,) = (volume for _, volume in txn.scan(VOLUMES))
        assert mended is not None
        assert (mended.references, volume.live_bytes) == (2, mended.stored_bytes)
        assert (txn.number("blobs"), txn.number("blob_bytes")) == (1, mended.stored_bytes)
