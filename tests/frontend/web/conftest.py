"""One daemon and one frontend for each module of tests; each test finds them as new."""

import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import httpx
import pytest

from testkit.fake_daemon import FakeDaemon
from testkit.frontend import Frontend, make_settings


@pytest.fixture(scope="module")
def shared_daemon() -> Iterator[FakeDaemon]:
    with tempfile.TemporaryDirectory(prefix="jird-") as folder, FakeDaemon(Path(folder)) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def shared_frontend(shared_daemon: FakeDaemon) -> Iterator[Frontend]:
    with Frontend(make_settings(shared_daemon.run_dir)) as frontend:
        yield frontend


@pytest.fixture
def daemon(shared_daemon: FakeDaemon) -> FakeDaemon:
    """The daemon, with the canned answers that it begins with."""
    fresh = FakeDaemon(shared_daemon.run_dir)
    for field in fields(FakeDaemon):
        if not field.name.startswith("_"):
            setattr(shared_daemon, field.name, getattr(fresh, field.name))
    return shared_daemon


@pytest.fixture
def http(shared_frontend: Frontend, daemon: FakeDaemon) -> httpx.Client:
    return shared_frontend.http
