"""Run every benchmark of this folder one after the other, or those that are named: `make bench BENCH=name`.

The beginning of a name is enough (`extract` for extraction).

A benchmark is a program NAME.py here that runs without arguments in a reasonable time, takes options for other sizes,
and ends with measure.report(). Arguments after `--` go to each of them.
"""

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NOT_BENCHMARKS = {"run_all", "measure", "query"}
"""query needs a corpus and queries from whoever compares engines."""


def _complete(beginning: str, names: list[str]) -> str | None:
    """The only name that begins so."""
    found = [name for name in names if name.startswith(beginning)]
    return found[0] if len(found) == 1 else None


def main() -> int:
    """Run them; the exit code is 1 if any failed."""
    names = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benchmarks: {', '.join(names)}")
    arguments, options = parser.parse_known_args()
    stems = {path.stem for path in FOLDER.glob("*.py")}
    wanted = [name if name in stems else _complete(name, names) for name in arguments.names]
    if None in wanted:
        parser.error(f"there is no benchmark {', '.join(arguments.names)}; there are: {', '.join(names)}")
    failed = []
    for name in wanted or names:
        command = [sys.executable, str(FOLDER / f"{name}.py"), *(option for option in options if option != "--")]
        if subprocess.run(command, check=False).returncode != 0:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
