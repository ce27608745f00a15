"""Telling local file systems from those of other machines."""

from pathlib import Path

import pytest

from jird_daemon import log
from jird_daemon.store import Store, file_system
from jird_daemon.store.file_system import file_system_type

MOUNTS = r"""
22 27 0:21 / /proc rw,nosuid - proc proc rw
27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 27 0:40 / /srv/far\040away rw - nfs4 host:/export rw
41 40 8:2 / /srv/far\040away/local rw - xfs /dev/sdb1 rw
42 27 0:41 / /mnt rw - tmpfs tmpfs rw
43 27 0:42 / /mnt rw - fuse.sshfs host: rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/jird", "ext4"),
        ("/srv/far away/jird", "nfs4"),
        ("/srv/far away/local/jird", "xfs"),
        ("/srv/far away2", "ext4"),
        ("/mnt/jird", "fuse.sshfs"),
    ],
)
def test_innermost_and_last_mount_decides(path: str, kind: str) -> None:
    assert file_system_type(Path(path), MOUNTS) == kind
    assert file_system_type(Path(path), "") == ""


def test_state_on_another_machine_is_warned_of_and_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """F93: LMDB on a network file system can lose data."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text("27 1 0:1 / / rw - nfs4 host:/export rw\n")
    monkeypatch.setattr(file_system, "MOUNTS", mounts)
    log.configure("info", 100, {})
    Store.open(tmp_path / "state").close()
    assert "store.network_file_system" in capsys.readouterr().err
