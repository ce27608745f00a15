"""Collecting blobs that nobody refers to."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.errors import CorruptBlobError, WrongStateError
from jird_daemon.store import Store
from jird_daemon.store.garbage import collect_garbage
from jird_daemon.store.tables import BLOBS, RUNS, VOLUMES, Run, RunReason, RunState, Scope

VOLUME_BYTES = 20_000


def bodies(count: int) -> list[bytes]:
    """Bodies of about 1,000 bytes that do not compress."""
    return [number.to_bytes(2) + os.urandom(998) for number in range(count)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, volume_bytes_max=VOLUME_BYTES) as opened:
        yield opened


def put(store: Store, data: list[bytes], *, references: int) -> list[bytes]:
    digests = []
    with store.write() as txn:
        for body in data:
            digests.append(txn.put_blob(body))
            txn.refer_to_blob(digests[-1], references)
    return digests


def volumes(state_dir: Path) -> list[str]:
    return sorted(path.name for path in (state_dir / "blobs").iterdir())


def test_volumes_do_not_outgrow_their_length(store: Store, tmp_path: Path) -> None:
    put(store, bodies(50), references=1)
    sizes = [(tmp_path / "blobs" / name).stat().st_size for name in volumes(tmp_path)]
    assert len(sizes) == 3
    assert max(sizes) <= VOLUME_BYTES


def test_collection_frees_mostly_dead_volumes_and_keeps_what_lives(store: Store, tmp_path: Path) -> None:
    """J93: unreferenced blobs go; J4: the others are read as before, wherever they lie now."""
    data = bodies(60)
    digests = put(store, data, references=1)
    with store.write() as txn:
        for number, digest in enumerate(digests):
            if number % 5:
                txn.refer_to_blob(digest, -1)
    before = sum(path.stat().st_size for path in (tmp_path / "blobs").iterdir())
    report = collect_garbage(store)
    after = sum(path.stat().st_size for path in (tmp_path / "blobs").iterdir())
    assert report.blobs == 48
    assert after < before / 3
    assert report.freed_bytes > before * 0.9
    with store.read() as txn:
        assert txn.count(BLOBS) == txn.number("blobs") == 12
        assert [txn.get_blob(digest) for digest in digests[::5]] == data[::5]
        assert sum(volume.live_bytes for _, volume in txn.scan(VOLUMES)) == txn.number("blob_bytes") == after
    with Store.open(tmp_path / "other") as other:
        assert collect_garbage(other) == type(report)(0, 0)


def test_volume_numbers_are_never_used_twice(store: Store, tmp_path: Path) -> None:
    """A reader keeps files open by number: a new file under an old number would be read as the old one."""
    put(store, bodies(30), references=0)
    collect_garbage(store)
    assert volumes(tmp_path) == []
    (digest,) = put(store, [b"new"], references=1)
    assert volumes(tmp_path) == ["00000003.vol"]
    with store.read() as txn:
        assert txn.get_blob(digest) == b"new"


def test_collection_is_refused_while_a_crawl_runs(store: Store) -> None:
    """J93: refused while the crawler runs, and nothing is removed."""
    (digest,) = put(store, [b"unreferenced"], references=0)
    with store.write() as txn:
        txn.put(RUNS, 7, Run((), RunState.RUNNING, RunReason.NONE, 1, 1, Scope.SEEDS, 1, 0.0))
    with pytest.raises(WrongStateError, match="crawl 7") as caught:
        collect_garbage(store)
    assert caught.value.reason == "CRAWL_RUNNING"
    with store.read() as txn:
        assert txn.get_blob(digest) == b"unreferenced"


def test_damaged_record_keeps_its_volume(store: Store, tmp_path: Path) -> None:
    """What cannot be copied is not thrown away, and does not stop the collection of the rest."""
    digests = put(store, bodies(40), references=1)
    with store.write() as txn:
        for digest in [*digests[1:18], *digests[20:35]]:
            txn.refer_to_blob(digest, -1)
        blob = txn.get(BLOBS, digests[0])
    assert blob is not None
    flip(tmp_path / "blobs" / "00000001.vol", blob.offset + 100)
    collect_garbage(store)
    assert "00000001.vol" in volumes(tmp_path)
    assert "00000002.vol" not in volumes(tmp_path)
    with store.read() as txn:
        with pytest.raises(CorruptBlobError, match="checksum"):
            txn.get_blob(digests[0])
        txn.get_blob(digests[19])


def flip(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("commit", range(1, 7))
def test_kill_between_any_two_steps_loses_nothing(tmp_path: Path, commit: int) -> None:
    """J93: kill -9 right after each commit of a collection; the next one finishes, and every live blob is read."""
    script = """
import os, signal, sys
from pathlib import Path
from jird_daemon.store import Store
from jird_daemon.store.garbage import collect_garbage
store = Store.open(Path(sys.argv[1]), volume_bytes_max=20_000)
write, left = store.write, [int(sys.argv[2])]
from contextlib import contextmanager
@contextmanager
def counted():
    with write() as txn:
        yield txn
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
store.write = counted
collect_garbage(store)
"""
    data = bodies(40)
    with Store.open(tmp_path, volume_bytes_max=VOLUME_BYTES) as store:
        digests = put(store, data, references=1)
        with store.write() as txn:
            for number, digest in enumerate(digests):
                if number % 4:
                    txn.refer_to_blob(digest, -1)
    result = subprocess.run([sys.executable, "-c", script, str(tmp_path), str(commit)], timeout=60, check=False)
    assert result.returncode == -signal.SIGKILL
    with Store.open(tmp_path, volume_bytes_max=VOLUME_BYTES) as store:
        for _ in range(2):
            with store.read() as txn:
                assert [txn.get_blob(digest) for digest in digests[::4]] == data[::4]
            collect_garbage(store)
        with store.read() as txn:
            assert txn.count(BLOBS) == 10
            named = {f"{number:08d}.vol" for number, volume in txn.scan(VOLUMES) if volume.stored_bytes}
    assert set(volumes(tmp_path)) == named
