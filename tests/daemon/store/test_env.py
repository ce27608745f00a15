"""Opening the store, its transactions, and what happens when there is no room."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import lmdb
import pytest

from jird_daemon.errors import CorruptStoreError, NotReadyError, SchemaVersionError, StoreFullError
from jird_daemon.store import Store
from jird_daemon.store.env import MAP_BYTES, fitting_map_bytes
from jird_daemon.store.tables import META, PAGES, QUEUE, SCHEMA_VERSION, URLS, Page, Url


def in_another_process(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_what_was_committed_is_there_after_reopening(tmp_path: Path) -> None:
    """J2: metadata is authoritative and survives."""
    with Store.open(tmp_path) as store, store.write() as txn:
        txn.put(URLS, 1, Url("https://example.org/", 1))
        digest = txn.put_blob(b"body" * 1000)
        txn.add_number("urls", 1)
    with Store.open(tmp_path, readonly=True) as store, store.read() as txn:
        assert txn.get(URLS, 1) == Url("https://example.org/", 1)
        assert txn.get_blob(digest) == b"body" * 1000
        assert txn.number("urls") == 1


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, SCHEMA_VERSION - 1, "one", None])
def test_store_of_another_schema_version_is_refused_with_both_versions(tmp_path: Path, version: object) -> None:
    """U79: a clear message, and the store is left as it was."""
    with Store.open(tmp_path) as store, store.write() as txn:
        txn.put(META, "schema_version", version)
    for readonly in (False, True):
        with pytest.raises(SchemaVersionError, match=rf"{version!r}.*{SCHEMA_VERSION}") as caught:
            Store.open(tmp_path, readonly=readonly)
        assert str(tmp_path) in caught.value.message
    assert caught.value.reason == "SCHEMA_VERSION"


def test_data_of_another_program_is_refused(tmp_path: Path) -> None:
    """U79: the wrong kind of database is named as such, and not written to."""
    folder = tmp_path / "meta.mdb"
    folder.mkdir()
    with lmdb.open(str(folder), max_dbs=4) as env, env.begin(write=True) as txn:
        txn.put(b"theirs", b"1")
    before = (folder / "data.mdb").read_bytes()
    with pytest.raises(SchemaVersionError, match="another program") as caught:
        Store.open(tmp_path)
    assert caught.value.reason == "STORE_KIND"
    assert (folder / "data.mdb").read_bytes() == before


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """U79: not a random format error."""
    folder = tmp_path / "meta.mdb"
    folder.mkdir()
    (folder / "data.mdb").write_bytes(b"SQLite format 3\0" + bytes(20_000))
    with pytest.raises(SchemaVersionError, match="not a jird store"):
        Store.open(tmp_path)


def test_reader_before_the_first_writer_is_told_to_wait(tmp_path: Path) -> None:
    """A read-only open makes nothing."""
    with pytest.raises(NotReadyError, match="no store"):
        Store.open(tmp_path, readonly=True)
    assert list(tmp_path.iterdir()) == []


def test_scan_walks_a_half_open_range_both_ways(tmp_path: Path) -> None:
    keys = [(1, 2, lane, sequence) for lane in (0, 1) for sequence in (1, 2, 300)]
    with Store.open(tmp_path) as store, store.write() as txn:
        for number, key in enumerate(keys):
            txn.put(QUEUE, key, number)
        txn.put(QUEUE, (2, 0, 0, 0), 99)
        assert [key for key, _ in txn.scan(QUEUE, (1, 2, 0, 2), (1, 2, 1, 300))] == keys[1:5]
        assert [key for key, _ in txn.scan(QUEUE, (1, 2, 0, 2), (1, 2, 1, 300), reverse=True)] == keys[4:0:-1]
        assert [value for _, value in txn.scan(QUEUE, (1, 2, 0, 3))] == [2, 3, 4, 5, 99]
        assert next(txn.scan(QUEUE, reverse=True))[1] == 99
        assert list(txn.scan(QUEUE, (3, 0, 0, 0))) == list(txn.scan(QUEUE, None, (1, 0, 0, 0), reverse=True)) == []
        assert txn.delete(QUEUE, keys[0])
        assert not txn.delete(QUEUE, keys[0])
        assert txn.count(QUEUE) == 6


def test_snapshot_does_not_see_a_later_commit(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store, store.read() as before:
        with store.write() as txn:
            txn.put(URLS, 1, Url("https://example.org/", 1))
        assert before.get(URLS, 1) is None
        with store.read() as after:
            assert after.get(URLS, 1) is not None


def fill(store: Store) -> None:
    with store.write() as txn:
        txn.put_blob(b"lost")
        for number in range(2, 100_000):
            txn.put(PAGES, number, Page(200, 20, 1.0, title="x" * 500))


def test_full_map_rolls_back_and_keeps_what_was_committed(tmp_path: Path) -> None:
    """S8, J36: a write that meets a limit of the store is an error of its own; what stood before stands."""
    with Store.open(tmp_path, map_bytes=1 << 20) as store:
        with store.write() as txn:
            txn.put(PAGES, 1, Page(200, 20, 1.0))
            txn.put_blob(b"kept")
        with pytest.raises(StoreFullError, match="map is full"):
            fill(store)
        with store.read() as txn:
            assert [key for key, _ in txn.scan(PAGES)] == [1]
        with store.write() as txn:
            assert txn.get_blob(txn.put_blob(b"kept")) == b"kept"
            txn.delete(PAGES, 1)
    assert (tmp_path / "blobs" / "00000001.vol").stat().st_size < 200


def test_full_disk_rolls_back_and_keeps_what_was_committed(tmp_path: Path) -> None:
    """S8: a file that cannot grow stands for the full disk, in volumes and in the metadata alike."""
    script = """
        import resource, sys, os
        from pathlib import Path
        from jird_daemon.errors import StoreFullError
        from jird_daemon.store import Store
        from jird_daemon.store.tables import PAGES, Page
        store = Store.open(Path(sys.argv[1]))
        with store.write() as txn:
            kept = txn.put_blob(b"kept")
            txn.put(PAGES, 1, Page(200, 20, 1.0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
        caught = []
        for write in (lambda txn: txn.put_blob(os.urandom(900_000)),
                      lambda txn: [txn.put(PAGES, n, Page(200, 20, 1.0, title="x" * 900)) for n in range(2, 2000)]):
            try:
                with store.write() as txn:
                    txn.put_blob(b"lost")
                    write(txn)
            except StoreFullError as error:
                caught.append(error.reason)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        with store.write() as txn:
            assert txn.get_blob(kept) == b"kept"
            txn.put(PAGES, 5000, Page(200, 20, 2.0))
            txn.put_blob(b"after")
        with store.read() as txn:
            print(caught, [key for key, _ in txn.scan(PAGES)])
    """
    result = in_another_process(script, tmp_path)
    assert result.stdout.strip() == "['DISK_FULL', 'DISK_FULL'] [1, 5000]", result.stderr


def test_kill_leaves_all_of_a_commit_or_nothing(tmp_path: Path) -> None:
    """J36: kill -9 in an open transaction; what was acknowledged is there, what was not leaves no trace."""
    script = """
        import os, signal, sys
        from pathlib import Path
        from jird_daemon.store import Store
        store = Store.open(Path(sys.argv[1]))
        with store.write() as txn:
            txn.add_number("pages", 1)
            txn.put_blob(b"acknowledged" * 100)
        with store.write() as txn:
            txn.add_number("pages", 1)
            txn.put_blob(os.urandom(5000))
            txn.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    assert in_another_process(script, tmp_path).returncode == -signal.SIGKILL
    volume = tmp_path / "blobs" / "00000001.vol"
    torn = volume.stat().st_size
    with Store.open(tmp_path) as store:
        assert volume.stat().st_size < torn - 5000
        with store.read() as txn:
            assert (txn.number("pages"), txn.number("blobs")) == (1, 1)
        with store.write() as txn:
            assert txn.get_blob(txn.put_blob(b"acknowledged" * 100)) == b"acknowledged" * 100


def test_address_limit_shrinks_the_map() -> None:
    """The map takes half of the addresses that the process may have, and never asks for more than it can get."""
    result = in_another_process("""
        import resource
        from jird_daemon.store.env import fitting_map_bytes
        resource.setrlimit(resource.RLIMIT_AS, (64 << 30, resource.RLIM_INFINITY))
        print(fitting_map_bytes() >> 30)
    """)
    assert result.stdout.strip() == "32", result.stderr
    assert resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY or fitting_map_bytes() == MAP_BYTES


def test_copy_of_a_stopped_store_is_a_backup(tmp_path: Path) -> None:
    """J72: metadata and blobs, copied together while nothing runs, open as the same store."""
    with Store.open(tmp_path / "state") as store, store.write() as txn:
        digest = txn.put_blob(b"body")
    for part in ("meta.mdb", "blobs"):
        shutil.copytree(tmp_path / "state" / part, tmp_path / "restored" / part)
    with Store.open(tmp_path / "restored") as store, store.read() as txn:
        assert txn.get_blob(digest) == b"body"


def test_files_are_not_for_other_users(tmp_path: Path) -> None:
    with Store.open(tmp_path / "state") as store, store.write() as txn:
        txn.put_blob(b"body")
    for path in (tmp_path / "state").rglob("*"):
        assert os.stat(path).st_mode & 0o007 == 0, path


def test_dead_reader_frees_its_snapshot(tmp_path: Path) -> None:
    """F95: a snapshot that a killed process held is given back."""
    with Store.open(tmp_path) as store:
        result = in_another_process(
            """
            import os, signal, sys
            from pathlib import Path
            from jird_daemon.store import Store
            with Store.open(Path(sys.argv[1]), readonly=True).read() as txn:
                txn.number("pages")
                os.kill(os.getpid(), signal.SIGKILL)
            """,
            tmp_path,
        )
        assert result.returncode == -signal.SIGKILL, result.stderr
        assert store.clear_dead_readers() == 1


def fill_store(state_dir: Path) -> None:
    """Make a store with content and a few hundred pages of metadata."""
    with Store.open(state_dir) as store, store.write() as txn:
        for number in range(1, 2_001):
            txn.put(URLS, number, Url(f"https://example.org/{number}{'x' * 200}", 1))
        txn.refer_to_blob(txn.put_blob(b"text"), 1)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_metadata_file_that_was_cut_short_is_refused_with_both_lengths(tmp_path: Path, share: float) -> None:
    """F93: looking at a page beyond the end would end the process with SIGBUS."""
    fill_store(tmp_path)
    data = tmp_path / "meta.mdb" / "data.mdb"
    length = data.stat().st_size
    cut = int(length * share) // 4096 * 4096
    os.truncate(data, cut)
    with pytest.raises(CorruptStoreError, match=rf"cut short.*{cut:,}.*{length:,}.*backup") as caught:
        Store.open(tmp_path)
    assert caught.value.reason == "CORRUPT_STORE"
    assert data.stat().st_size == cut


def test_metadata_file_whose_last_pages_are_free_is_opened_and_made_as_long_as_it_says(tmp_path: Path) -> None:
    """LMDB numbers pages that it need not write: a file without them is whole."""
    with Store.open(tmp_path) as store:
        with store.write() as txn:
            for number in range(1, 2_001):
                txn.put(URLS, number, Url(f"https://example.org/{number}{'x' * 200}", 1))
        with store.write() as txn:
            for number in range(3, 2_001):
                txn.delete(URLS, number)
        for number in (1, 2) * 10:  # moves what is left, and the list of free pages, away from the end
            with store.write() as txn:
                txn.put(URLS, number, Url(f"https://example.org/{number}", 1))
    data = tmp_path / "meta.mdb" / "data.mdb"
    length = data.stat().st_size
    os.truncate(data, length - 10 * 4096)
    with Store.open(tmp_path) as store, store.read() as txn:
        assert [url.url for _, url in txn.scan(URLS)] == ["https://example.org/1", "https://example.org/2"]
    assert data.stat().st_size == length


@pytest.mark.parametrize("damage", ["emptied", "removed"])
def test_lost_metadata_does_not_take_the_content_with_it(tmp_path: Path, damage: str) -> None:
    """J2: blobs are authoritative too; an empty file is a new store to LMDB, which names none of them."""
    fill_store(tmp_path)
    if damage == "emptied":
        os.truncate(tmp_path / "meta.mdb" / "data.mdb", 0)
    else:
        shutil.rmtree(tmp_path / "meta.mdb")
    volume = tmp_path / "blobs" / "00000001.vol"
    before = volume.read_bytes()
    for _ in range(2):  # the first refusal must not prepare the ground for a second start
        with pytest.raises(CorruptStoreError, match="1 volumes of page content"):
            Store.open(tmp_path)
    assert volume.read_bytes() == before


def test_metadata_that_cannot_be_opened_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "meta.mdb" / "data.mdb").mkdir(parents=True)
    with pytest.raises(CorruptStoreError, match=r"meta\.mdb.*directory"):
        Store.open(tmp_path)
