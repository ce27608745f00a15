"""Fuzz the C code: build each target with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and let it run.

What is found stays in build/fuzz as crash-TARGET-...; once it is understood it goes into native/fuzz/corpus/TARGET,
which tests/native/test_fuzz.py runs from then on. Installs nothing: without clang it says so and ends with 1.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "native"
BUILD = ROOT / "build" / "fuzz"
SANITIZERS = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined")
INPUT_BYTES_MAX = 30_000
"""Longer inputs reach nothing new: a segment of three blocks and a range fits."""


def targets() -> list[str]:
    """Names of the targets: native/fuzz/fuzz_NAME.c."""
    return sorted(path.stem.removeprefix("fuzz_") for path in (NATIVE / "fuzz").glob("fuzz_*.c"))


def build(clang: str, target: str) -> Path:
    """Compile a target with everything it could need."""
    BUILD.mkdir(parents=True, exist_ok=True)
    sources = [NATIVE / "fuzz" / f"fuzz_{target}.c", *sorted(NATIVE.glob("qix/*.c")), *sorted(NATIVE.glob("page/*.c"))]
    # Scores are compared to the last bit, so they are computed as in the extension.
    flags = ("-std=c11", "-g", "-O1", "-ffp-contract=off", *SANITIZERS, f"-I{NATIVE / 'qix'}", f"-I{NATIVE / 'page'}")
    subprocess.run([clang, *flags, *map(str, sources), "-lm", "-o", str(BUILD / target)], check=True)
    return BUILD / target


def fuzz(program: Path, target: str, seconds: int) -> bool:
    """Run a target for some seconds; True if nothing was found."""
    corpus, seeds = BUILD / f"corpus_{target}", NATIVE / "fuzz" / "corpus" / target
    corpus.mkdir(exist_ok=True)
    folders = [str(corpus), *([str(seeds)] if seeds.is_dir() else [])]
    options = (f"-max_total_time={seconds}", f"-max_len={INPUT_BYTES_MAX}", "-print_final_stats=1", "-verbosity=0")
    where = f"-artifact_prefix={BUILD}/crash-{target}-"
    print(f"fuzz: {target} for {seconds} s", flush=True)
    return subprocess.run([str(program), *options, where, *folders], check=False).returncode == 0


def main() -> int:
    """Fuzz all targets, or those that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("targets", nargs="*", default=targets())
    arguments = parser.parse_args()
    clang = shutil.which("clang")
    if clang is None:
        print("make fuzz needs clang (Debian: apt install clang libclang-rt-14-dev)", file=sys.stderr)
        return 1
    sound = [fuzz(build(clang, target), target, arguments.seconds) for target in arguments.targets]
    print("fuzz: nothing found" if all(sound) else f"fuzz: see {BUILD}/crash-*")
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main())
