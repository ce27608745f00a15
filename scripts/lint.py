"""Run every check that needs no running code, two at a time; `make lint` calls it. Names select some of them.

Each check prints nothing when it finds nothing; the exit code is 1 if any failed.
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
WORK = ROOT / "build" / "lint"
UNITS = ("jird.service", "jird-web.service")
EXPOSURE_MAX = {"jird.service": 1.5, "jird-web.service": 1.0}
"""`systemd-analyze security` must not give more than this."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a check ended."""

    name: str
    is_good: bool
    output: str
    seconds: float


def run(*command: str | Path) -> tuple[bool, str]:
    """Run a program from the environment; returns whether it ended with 0, and what it said."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONPATH": ""}
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode == 0, done.stdout + done.stderr


def clang_format() -> tuple[bool, str]:
    """The C sources are formatted as .clang-format says."""
    files = subprocess.run(
        ["git", "ls-files", "native/*.[ch]", "scripts/*.[ch]"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return run("clang-format", "--dry-run", "-Werror", *files)


def systemd_verify() -> tuple[bool, str]:
    """systemd accepts the units. Their programs need not be installed here, so they are replaced in a copy."""
    if not shutil.which("systemd-analyze"):
        return False, "systemd-analyze is missing (apt install systemd)"
    WORK.mkdir(parents=True, exist_ok=True)
    copies = []
    for unit in UNITS:
        lines = (ROOT / "systemd" / unit).read_text().splitlines()
        lines = [f"{line.partition('=')[0]}=/bin/true" if line.startswith("Exec") else line for line in lines]
        copies.append(WORK / unit)
        copies[-1].write_text("\n".join(lines) + "\n")
    good, output = run("systemd-analyze", "verify", "--man=no", *copies)
    ours = [line for line in output.splitlines() if "jird" in line]  # units of the machine have faults of their own
    return good and not ours, "\n".join(ours) if good else output


def systemd_security() -> tuple[bool, str]:
    """The units are confined as tightly as promised."""
    outputs = []
    for unit, most in EXPOSURE_MAX.items():
        command = ("systemd-analyze", "security", "--offline=true", f"--threshold={round(most * 10)}")
        good, output = run(*command, ROOT / "systemd" / unit)
        if not good:
            outputs += [line for line in output.splitlines() if not line.startswith("✓")]  # those that cost something
    return not outputs, "\n".join(outputs)


CHECKS: dict[str, Callable[[], tuple[bool, str]]] = {
    "mypy": lambda: run("mypy"),
    "ruff": lambda: run("ruff", "check", "--quiet", "."),
    "ruff-format": lambda: run("ruff", "format", "--check", "--quiet", "."),
    "imports": lambda: run("lint-imports", "--no-cache"),
    "buf": lambda: run("buf", "lint", "proto"),
    "clang-format": clang_format,
    "systemd-verify": systemd_verify,
    "systemd-security": systemd_security,
    "requirements": lambda: run("python", "scripts/check_requirements.py"),
}
"""Slowest first."""


def check(name: str) -> Result:
    """Run one check and take its time."""
    start_s = time.monotonic()
    is_good, output = CHECKS[name]()
    return Result(name, is_good, output.strip(), time.monotonic() - start_s)


def main() -> int:
    """Run the checks and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"checks to run: {', '.join(CHECKS)}")
    names = parser.parse_args().names or list(CHECKS)
    failed = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for result in pool.map(check, names):
            print(f"{'ok  ' if result.is_good else 'FAIL'} {result.name} ({result.seconds:.1f} s)", flush=True)
            if not result.is_good:
                failed.append(result.name)
                print(result.output, flush=True)
    print(f"{len(failed)} of {len(names)} checks failed: {', '.join(failed)}" if failed else "no faults found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
