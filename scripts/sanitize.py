"""Run the tests of the C code on an extension built with AddressSanitizer and UndefinedBehaviorSanitizer.

The package is copied to build/sanitize with an extension of its own, so that the ordinary one stays as it is. Tests
that measure memory are left out: the sanitizers' own memory would be measured.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "sanitize"
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"


def runtime(compiler: str, name: str) -> str:
    """The sanitizer's library, which must be loaded before Python."""
    found = subprocess.run([compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def build(compiler: str) -> None:
    """Copy the package and build its extension in place there."""
    package = BUILD / "jird_native"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "native" / "jird_native", package, ignore=shutil.ignore_patterns("*.so", "_*.c*"))
    command: list[str | Path] = [
        sys.executable,
        "setup.py",
        "-q",
        "build_ext",
        "--build-lib",
        BUILD,
        "--build-temp",
        BUILD / "temp",
        "-f",
    ]
    environment = os.environ | {"CC": compiler, "CFLAGS": FLAGS, "LDFLAGS": "-fsanitize=address,undefined"}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)


def main() -> int:
    """Build, then run tests/native (or what is named) on it."""
    compiler = os.environ.get("CC", "gcc")
    if shutil.which(compiler) is None:
        print(f"make sanitize needs {compiler} (Debian: apt install gcc)", file=sys.stderr)
        return 1
    build(compiler)
    environment = os.environ | {
        "PYTHONPATH": str(BUILD),
        "PYTHONMALLOC": "malloc",  # so that Python's own blocks have red zones too
        "LD_PRELOAD": " ".join(runtime(compiler, name) for name in ("libasan.so", "libubsan.so")),
        "ASAN_OPTIONS": "detect_leaks=0",  # an interpreter never frees everything; make fuzz looks for leaks
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "JIRD_EXTENSION": str(BUILD),
    }
    tests = sys.argv[1:] or ["tests/native"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not memory", *tests]
    return subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
