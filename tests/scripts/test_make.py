"""The make targets that people, CI and the documents rely on."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = frozenset(
    {"run", "demo", "test", "integration", "test-system", "bench", "lint", "fuzz", "sanitize", "install", "deb"}
    | {"help", "env", "requirements", "clean", "chaos"}
)


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make as a person would, without what an outer make passes on."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTEST_"))}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_help_lists_every_documented_target() -> None:
    """J40: the targets exist, and `make help` says what each does."""
    listed = [line.split()[0] for line in make("help").stdout.splitlines()]
    assert set(listed) >= TARGETS


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_documented_target_can_be_made(target: str) -> None:
    """J40: make knows how, without doing it."""
    done = make("--dry-run", target)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("assertion", "is_good"), [("1 + 1 == 2", True), ("1 + 1 == 3", False)])
def test_failing_assertion_fails_the_target(tmp_path: Path, assertion: str, is_good: bool) -> None:
    """J38: no failure ends with a summary and exit code 0."""
    (tmp_path / "test_one.py").write_text(f"def test_one() -> None:\n    assert {assertion}\n")
    done = make("test", f"PYTEST_ARGS=--rootdir={tmp_path} -p no:cacheprovider {tmp_path / 'test_one.py'}")
    assert (done.returncode == 0) == is_good, done.stdout + done.stderr


def test_missing_prerequisites_are_named_in_one_line_with_their_packages(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "scripts/check_prerequisites.sh", "no-such-python"],
        cwd=ROOT,
        env={"PATH": str(tmp_path), "CC": "no-such-compiler"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "apt install python3 python3-venv python3-dev" in line
    assert "apt install gcc libc6-dev" in line
