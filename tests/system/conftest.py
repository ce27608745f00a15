"""The machine of the system tests: Debian, booted, with the package installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.installation import ROOT, Installation, install
from testkit.machine import Machine, make_tree, why_not


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here is a system test."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.system)


@pytest.fixture(scope="session")
def package() -> Path:
    """The package that `make deb` built."""
    packages = sorted((ROOT / "build").glob("jird_*.deb"), key=lambda path: path.stat().st_mtime)
    assert packages, "there is no package in build/: run make deb"
    return packages[-1]


@pytest.fixture(scope="session")
def bare_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A booted machine without jird."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with Machine(make_tree(ROOT / "build" / "system"), tmp_path_factory.mktemp("machine")) as machine:
        yield machine


@pytest.fixture(scope="session")
def installation(bare_machine: Machine, package: Path) -> Installation:
    """The machine with the package installed, sites to crawl, and nginx as reverse proxy."""
    return install(bare_machine, package)


@pytest.fixture
def running(installation: Installation) -> Installation:
    """The installation with both services active."""
    installation.write_config()
    installation.machine.run("systemctl", "reset-failed", check=False)
    installation.machine.run("systemctl", "start", "jird", "jird-web")
    installation.machine.wait_active("jird", "jird-web")
    return installation
