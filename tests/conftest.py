"""Fixtures for every test: the misbehaving server; a real daemon is testkit.daemon.Daemon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.origin import Origin


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[Origin]:
    """A running misbehaving server on 127.0.1.9."""
    with Origin(tmp_path / "origin") as server:
        yield server
