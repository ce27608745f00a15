"""A fake daemon on real sockets in a short path (socket paths end at 107 bytes)."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.fake_daemon import FakeDaemon


@pytest.fixture
def run_dir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="jird-") as folder:
        yield Path(folder)


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(run_dir) as running:
        yield running
