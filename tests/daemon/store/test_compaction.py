"""Metadata that was large once and is small now: its file, too, after a compaction (F95)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jird_daemon.errors import StoreFullError
from jird_daemon.store import StateLock, Store
from jird_daemon.store.compaction import COPY_FOLDER, compact_metadata
from jird_daemon.store.tables import ALL_TABLES, META
from testkit import toml

ROWS = 2_000


def fill_and_empty(state_dir: Path) -> dict[str, list[tuple[object, object]]]:
    """Make a store with many free pages; returns what is in it."""
    with Store.open(state_dir) as store:
        with store.write() as txn:
            for number in range(ROWS):
                txn.put(META, f"row {number:05}", "x" * 2_000)
        with store.write() as txn:
            for number in range(10, ROWS):
                txn.delete(META, f"row {number:05}")
        return everything(store)


def everything(store: Store) -> dict[str, list[tuple[object, object]]]:
    with store.read() as txn:
        return {table.name: list(txn.scan(table)) for table in ALL_TABLES}


def test_the_file_shrinks_and_nothing_else_changes(tmp_path: Path) -> None:
    """F95."""
    before = fill_and_empty(tmp_path)
    path = tmp_path / "meta.mdb" / "data.mdb"
    os.chmod(path, 0o600)
    done = compact_metadata(tmp_path)
    assert done.before_bytes > ROWS * 2_000 > 10 * done.after_bytes
    assert (path.stat().st_size, path.stat().st_mode & 0o777) == (done.after_bytes, 0o600)
    assert not (tmp_path / COPY_FOLDER).exists()
    with Store.open(tmp_path) as store:
        assert everything(store) == before
        with store.write() as txn:
            txn.put(META, "later", 1)
    assert compact_metadata(tmp_path).after_bytes == done.after_bytes


def test_what_a_kill_left_behind_is_no_hindrance(tmp_path: Path) -> None:
    before = fill_and_empty(tmp_path)
    (tmp_path / COPY_FOLDER).mkdir()
    (tmp_path / COPY_FOLDER / "data.mdb").write_bytes(b"half of a copy")
    with Store.open(tmp_path) as store:
        assert everything(store) == before
    compact_metadata(tmp_path)
    with Store.open(tmp_path) as store:
        assert everything(store) == before


def test_without_room_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fill_and_empty(tmp_path)
    monkeypatch.setattr(Store, "free_bytes", property(lambda _: 1_000))
    with pytest.raises(StoreFullError, match="bytes free"):
        compact_metadata(tmp_path)
    with Store.open(tmp_path) as store:
        assert everything(store) == before


def test_the_program_refuses_while_a_daemon_runs_and_says_what_it_did(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    config = tmp_path / "jird.toml"
    config.write_text(toml.dump({"storage": {"state_dir": str(state_dir), "run_dir": str(tmp_path / "run")}}))

    def compact() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "jird_daemon", "compact", "--config", str(config)]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    missing = compact()
    assert (missing.returncode, "there is no store" in missing.stderr) == (1, True)
    fill_and_empty(state_dir)
    lock = StateLock.acquire(state_dir)
    refused = compact()
    lock.close()
    assert refused.returncode == 1
    assert f"in use by process {os.getpid()} (serve); stop it first" in refused.stderr
    done = compact()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("metadata compacted: ")
