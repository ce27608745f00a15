"""The lock on the state directory."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jird_daemon.errors import StateLockedError
from jird_daemon.store import StateLock

HOLD = """
import sys
from pathlib import Path
from jird_daemon.store import StateLock
lock = {take}
print("held", flush=True)
sys.stdin.read()
"""


def holder(take: str, *arguments: str, pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(take=take), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=pass_fds,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def stop(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_second_daemon_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    """F97: start twice on one folder."""
    process = holder("StateLock.acquire(Path(sys.argv[1]))", str(tmp_path))
    with pytest.raises(StateLockedError, match=rf"process {process.pid} \(serve\)"):
        StateLock.acquire(tmp_path)
    stop(process)


def test_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    """F97: a stale lock of a dead pid is taken over."""
    stop(holder("StateLock.acquire(Path(sys.argv[1]))", str(tmp_path)))
    StateLock.acquire(tmp_path).close()


def test_orphaned_writer_keeps_a_new_daemon_out(tmp_path: Path) -> None:
    """F97: the daemon is gone, but the process that it gave the lock to still writes; the message names that one."""
    lock = StateLock.acquire(tmp_path)
    assert os.get_inheritable(lock.fileno())
    orphan = holder("StateLock.adopt(int(sys.argv[1]))", str(lock.fileno()), pass_fds=(lock.fileno(),))
    lock.close()
    with pytest.raises(StateLockedError, match=rf"process {orphan.pid} \(ingest\)"):
        StateLock.acquire(tmp_path)
    os.kill(orphan.pid, signal.SIGKILL)
    orphan.communicate()
    StateLock.acquire(tmp_path).close()
