"""The fuzz targets run over their corpus in every test run, built with the ordinary compiler."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import jird_native

ROOT = Path(__file__).parents[2]
FUZZ = ROOT / "native" / "fuzz"
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.c"))
COMPILER = os.environ.get("CC", "cc")
INCLUDE = (f"-I{ROOT / 'native' / 'qix'}", f"-I{ROOT / 'native' / 'page'}")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything but the targets, compiled once. Sanitizers only where `make sanitize` runs us: they slow the build."""
    folder = tmp_path_factory.mktemp("fuzz")
    sources = [*sorted((ROOT / "native" / "qix").glob("*.c")), *sorted((ROOT / "native" / "page").glob("*.c"))]
    subprocess.run([COMPILER, "-std=c11", "-O1", INCLUDE[0], "-c", *map(str, sources)], check=True, cwd=folder)
    subprocess.run(["ar", "rc", "libqix.a", *(path.with_suffix(".o").name for path in sources)], check=True, cwd=folder)
    return folder / "libqix.a"


@pytest.mark.parametrize("target", TARGETS)
def test_corpus_of_the_fuzzer_holds_its_properties(target: str, library: Path, tmp_path: Path) -> None:
    """J19: damaged files, queries, texts and trees, made or found by fuzzing, neither crash nor break a property."""
    inputs = sorted((FUZZ / "corpus" / target).glob("*"))
    assert inputs
    program = tmp_path / target
    sources = (FUZZ / f"fuzz_{target}.c", FUZZ / "replay.c", library)
    subprocess.run([COMPILER, "-std=c11", "-O1", *INCLUDE, *map(str, sources), "-lm", "-o", program], check=True)
    run = subprocess.run([program, *inputs], check=False, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, f"{len(inputs)} inputs\n"), run.stderr


def test_make_fuzz_says_in_one_line_that_it_needs_clang(tmp_path: Path) -> None:
    command, environment = [sys.executable, ROOT / "scripts" / "fuzz.py"], {"PATH": str(tmp_path)}
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines() == ["make fuzz needs clang (Debian: apt install clang libclang-rt-14-dev)"]


def test_sanitized_run_uses_the_instrumented_extension() -> None:
    """Under `make sanitize`, and only there, the package comes from build/sanitize."""
    wanted = os.environ.get("JIRD_EXTENSION", str(ROOT / "native"))
    assert Path(jird_native.__file__).is_relative_to(wanted)
