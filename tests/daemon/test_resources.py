"""What the machine has left for us."""

from pathlib import Path

import pytest

from jird_daemon.resources import MachineMemory, probe_sync_s

MEMINFO = "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\n"


def _memory(folder: Path, **group: str) -> MachineMemory:
    (folder / "meminfo").write_text(MEMINFO)
    for name, text in group.items():
        (folder / f"memory.{name}").write_text(text)
    return MachineMemory(folder / "meminfo", folder)


def test_memory_of_a_machine_without_a_limit_is_what_the_kernel_says(tmp_path: Path) -> None:
    """Y20: "max" is no limit."""
    assert _memory(tmp_path, max="max\n", current="5000\n").read() == (1_024_000, 409_600)


def test_limit_of_the_service_counts_with_what_can_be_taken_back(tmp_path: Path) -> None:
    """Y20: inactive page cache is not memory in use; a limit above the machine's memory changes nothing."""
    stat = "anon 7\ninactive_file 50000\nactive_file 3\nslab_reclaimable 1000\n"
    assert _memory(tmp_path, max="200000\n", current="150000\n", stat=stat).read() == (200_000, 101_000)
    assert _memory(tmp_path, max="99999999\n", current="0\n", stat="").read() == (1_024_000, 409_600)


def test_what_the_kernel_does_not_tell_counts_as_plenty(tmp_path: Path) -> None:
    """A guard must not pause a crawl because /proc is hidden."""
    total, available = MachineMemory(tmp_path / "none", tmp_path / "none").read()
    assert min(total, available) > 1 << 60


def test_memory_of_this_machine_can_be_read() -> None:
    """The real files: something is there, and no more than there is."""
    total, available = MachineMemory().read()
    assert 0 < available <= total < 1 << 60


def test_probe_leaves_nothing_and_says_when_it_cannot_write(tmp_path: Path) -> None:
    """Y22: while nothing is committed, the disk is tried."""
    assert probe_sync_s(tmp_path) >= 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="none"):
        probe_sync_s(tmp_path / "none")
