"""The Debian package: what is in it, and that its files are as Debian expects them."""

import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def contents(package: Path) -> dict[str, tuple[str, str]]:
    """Path (without the leading dot) to mode and owner, as `dpkg-deb --contents` shows them."""
    output = subprocess.run(["dpkg-deb", "--contents", str(package)], check=True, capture_output=True, text=True).stdout
    rows = [line.split(maxsplit=5) for line in output.splitlines()]
    return {row[5].split(" -> ")[0].removeprefix("."): (row[0], row[1]) for row in rows}


def field(package: Path, name: str) -> str:
    return subprocess.run(
        ["dpkg-deb", "--field", str(package), name], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_programs_units_configuration_and_manuals_are_in_the_package(contents: dict[str, tuple[str, str]]) -> None:
    for path in (
        "/usr/bin/jird",
        "/usr/bin/jird-web",
        "/usr/bin/jirdctl",
        "/usr/lib/systemd/system/jird.service",
        "/usr/lib/systemd/system/jird-web.service",
        "/usr/lib/sysusers.d/jird.conf",
        "/usr/lib/tmpfiles.d/jird.conf",
        "/etc/jird/jird.toml",
        "/usr/share/man/man8/jird.8",
        "/usr/share/doc/jird/nginx.conf",
    ):
        assert path in contents


def test_every_file_belongs_to_root_and_only_root_may_write_it(contents: dict[str, tuple[str, str]]) -> None:
    assert {owner for _, owner in contents.values()} == {"root/root"}
    for path, (mode, _) in contents.items():
        assert mode[0] == "l" or (mode[5], mode[8]) == ("-", "-"), f"{path} is {mode}"
        assert mode[3] != "s", path


def test_nothing_of_tests_or_of_the_build_folder_is_in_the_package(contents: dict[str, tuple[str, str]]) -> None:
    for path in contents:
        assert "/tests/testkit" not in path
        assert not path.endswith((".c", ".o"))
        assert "/pip/" not in path


def test_package_depends_on_the_python_that_it_was_built_for(package: Path) -> None:
    depends = field(package, "Depends")
    assert "python3 (>= 3." in depends
    assert "python3 (<< 3." in depends
    assert "libc6" in depends


def test_configuration_file_is_kept_on_upgrade(package: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--control", str(package), str(tmp_path / "control")], check=True)
    assert (tmp_path / "control" / "conffiles").read_text() == "/etc/jird/jird.toml\n"
    for script in ("postinst", "prerm", "postrm"):
        subprocess.run(["sh", "-n", str(tmp_path / "control" / script)], check=True)
