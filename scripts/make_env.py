"""Make the virtual environment, or bring it up to date: `make_env.py VENV [--dev]`.

Runs under the system's Python with the standard library alone. The runtime packages are enough for `make run`; --dev
adds what tests and lint need. What was installed is recorded in the environment, so a second call costs nothing.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMP = "jird-installed.json"


def wanted(*, dev: bool) -> tuple[list[str], str]:
    """The packages to install beside jird itself, and a digest of everything that the installation depends on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    if dev:
        packages += project["project"]["optional-dependencies"]["dev"]
    layout = [project["project"]["scripts"], project["tool"]["setuptools"], (ROOT / "setup.py").read_text()]
    parts = [packages, layout, str(ROOT)]
    return packages, hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def install(environment: Path, packages: list[str], *, dev: bool) -> None:
    """Install the packages, then jird itself in place (editable), with the build tools that are then there."""
    what = "runtime and development packages" if dev else "runtime packages"
    print(f"jird: installing {what} into {environment.name} (once; about a minute)", flush=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, *packages], check=True)
    subprocess.run([*pip, "--no-build-isolation", "--no-deps", "--editable", str(ROOT)], check=True)


def main() -> int:
    """Compare with what was installed, make and install what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("venv", type=Path, help="folder of the environment")
    parser.add_argument("--dev", action="store_true", help="also what tests and lint need")
    arguments = parser.parse_args()
    environment: Path = arguments.venv.resolve()
    stamp = environment / STAMP
    installed = json.loads(stamp.read_text()) if stamp.exists() else {}
    digests = {"runtime": wanted(dev=False)[1], "dev": wanted(dev=True)[1], "python": sys.version}
    kind = "dev" if arguments.dev else "runtime"
    if installed.get(kind) == digests[kind]:
        return 0
    if not (environment / "bin" / "python").exists() or installed.get("python", sys.version) != sys.version:
        venv.create(environment, with_pip=True, clear=True)
    try:
        install(environment, wanted(dev=arguments.dev)[0], dev=arguments.dev)
    except subprocess.CalledProcessError as error:
        print(f"jird: pip ended with {error.returncode}; is there a network?", file=sys.stderr)
        return 1
    stamp.write_text(json.dumps(digests if arguments.dev else {**digests, "dev": None}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
