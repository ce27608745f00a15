"""Run every benchmark of this folder one after the other, or those that are named: `make bench BENCH=name`.

The beginning of a name is enough (`extract` for extraction, `ranking` for ranking-bench). Variables of make's command
line reach the benchmark: `make bench BENCH=ranking N=5000`.

A benchmark is a program here, named as it is with underscores for dashes, that runs without arguments in a reasonable
time, takes options for other sizes, and ends with measure.report(). Arguments after `--` go to each of them.
"""

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NOT_BENCHMARKS = {"run_all", "measure", "corpus", "main_text"}


def _complete(beginning: str, names: list[str]) -> str | None:
    """Give the benchmark of this name, or the only one whose name begins so."""
    for name in (beginning, f"{beginning}-bench"):
        if name in names:
            return name
    found = [name for name in names if name.startswith(beginning)]
    return found[0] if len(found) == 1 else None


def _split_options(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Give what stands before `--` and what stands behind it."""
    if "--" not in arguments:
        return arguments, []
    cut = arguments.index("--")
    return arguments[:cut], arguments[cut + 1 :]


def main() -> int:
    """Run them; the exit code is 1 if any failed."""
    names = sorted(path.stem.replace("_", "-") for path in FOLDER.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benchmarks: {', '.join(names)}")
    own, options = _split_options(sys.argv[1:])
    found = [_complete(name, names) for name in parser.parse_args(own).names]
    wanted = [name for name in found if name is not None]
    if len(wanted) < len(found):
        parser.error(f"there is no such benchmark; there are: {', '.join(names)}")
    failed = []
    for name in wanted or names:
        command = [sys.executable, str(FOLDER / f"{name.replace('-', '_')}.py"), *options]
        print(f"\n== {name}", flush=True)
        if subprocess.run(command, check=False).returncode != 0:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
