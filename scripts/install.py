"""Install jird for the system: programs, packages with their dependencies, units, configuration, manual pages.

The packages go to PREFIX/lib/jird as a virtual environment of the system's Python, with exactly the versions that the
development environment holds (its installed files are copied: no network is needed). PREFIX/bin gets three small
programs. Besides these only PREFIX/share/doc/jird, PREFIX/share/man, the systemd folders and /etc/jird are written, and
a configuration file that exists is kept.
"""

import argparse
import compileall
import contextlib
import importlib.metadata
import io
import os
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROGRAM = """#!{python} -I
import sys

from {module} import {function}

sys.exit({function}())
"""
NOT_SHIPPED = shutil.ignore_patterns("__pycache__", "*.c", "*.o", "tests", "*.egg-info")
SOURCES = (".c", ".cpp", ".h", ".pxd", ".pxi", ".pyi", ".pyx")
PIP_NOTES = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
UNITS = ("jird.service", "jird-web.service")
DOCUMENTS = (
    "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE", "docs/archive.md", "docs/configuration.md",
    "docs/crawling.md", "docs/nginx.conf", "examples/crawl.toml",
)  # fmt: skip


class Layout:
    """Where everything goes: below `destdir`, and named in files as if that were /."""

    def __init__(self, destdir: Path, prefix: Path, python: Path) -> None:
        """Fix the folders. `python` is the interpreter that will run jird there."""
        self._destdir = destdir
        self.prefix = prefix
        self.python = python
        self.home = prefix / "lib" / "jird"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.packages = self.home / "lib" / version / "site-packages"

    def real(self, path: Path) -> Path:
        """Where `path` is written now; its folder is made."""
        real = self._destdir / path.relative_to("/")
        real.parent.mkdir(parents=True, exist_ok=True)
        return real

    def write(self, path: Path, text: str, mode: int = 0o644) -> None:
        """Write a text file."""
        real = self.real(path)
        real.write_text(text)
        real.chmod(mode)


def requirement_closure(names: list[str]) -> Iterator[importlib.metadata.Distribution]:
    """The installed distributions that the requirements need, each once, with those that they need themselves."""
    seen: set[tuple[str, frozenset[str]]] = set()
    given: set[str] = set()
    waiting = [Requirement(name) for name in names]
    while waiting:
        requirement = waiting.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        distribution = importlib.metadata.distribution(requirement.name)
        if key[0] not in given:
            given.add(key[0])
            yield distribution
        extras = requirement.extras or {""}
        for text in distribution.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)


def install_dependencies(layout: Layout) -> None:
    """Copy the installed files of every dependency, without programs, caches and their own tests."""
    site = Path(sysconfig.get_path("platlib")).resolve()
    for distribution in requirement_closure(PROJECT["project"]["dependencies"]):
        for file in distribution.files or []:
            source = Path(str(distribution.locate_file(file))).resolve()
            is_needed = "__pycache__" not in file.parts and file.name not in PIP_NOTES and file.suffix not in SOURCES
            if is_needed and source.is_relative_to(site):
                shutil.copyfile(source, layout.real(layout.packages / source.relative_to(site)))


def install_packages(layout: Layout) -> None:
    """Copy our own packages, with the generated code and the built extension, and compile everything."""
    for where in PROJECT["tool"]["setuptools"]["packages"]["find"]["where"]:
        for package in sorted((ROOT / where).iterdir()):
            if (package / "__init__.py").exists():
                target = layout.real(layout.packages / package.name)
                shutil.copytree(package, target, ignore=NOT_SHIPPED, dirs_exist_ok=True)
    project = PROJECT["project"]
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    layout.write(layout.packages / f"jird-{project['version']}.dist-info" / "METADATA", metadata)
    # Unchecked: nothing below a read-only /usr changes without a new package. Named as they will be found later.
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    real = layout.real(layout.packages)
    with contextlib.redirect_stdout(io.StringIO()):  # some packages ship templates that are no valid Python
        compileall.compile_dir(real, ddir=str(layout.packages), quiet=2, invalidation_mode=mode)


def install_programs(layout: Layout) -> None:
    """Make the virtual environment's interpreter, and the programs that it runs."""
    layout.write(layout.home / "pyvenv.cfg", f"home = {layout.python.parent}\ninclude-system-site-packages = false\n")
    python = layout.home / "bin" / "python3"
    link = layout.real(python)
    link.unlink(missing_ok=True)
    link.symlink_to(layout.python)
    for name, entry in PROJECT["project"]["scripts"].items():
        module, function = entry.split(":")
        text = PROGRAM.format(python=python, module=module, function=function)
        layout.write(layout.prefix / "bin" / name, text, 0o755)


def install_system_files(layout: Layout) -> None:
    """Units, users, folders, configuration, documents."""
    lib = layout.prefix / "lib"
    for unit in UNITS:
        text = (ROOT / "systemd" / unit).read_text().replace("/usr/bin/jird", f"{layout.prefix}/bin/jird")
        layout.write(lib / "systemd" / "system" / unit, text)
    layout.write(lib / "sysusers.d" / "jird.conf", (ROOT / "systemd" / "jird.sysusers.conf").read_text())
    layout.write(lib / "tmpfiles.d" / "jird.conf", (ROOT / "systemd" / "jird.tmpfiles.conf").read_text())
    config = Path("/etc/jird/jird.toml")
    if not layout.real(config).exists():
        command = [sys.executable, "-m", "jird_settings"]
        layout.write(config, subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for name in DOCUMENTS:
        layout.write(layout.prefix / "share" / "doc" / "jird" / Path(name).name, (ROOT / name).read_text())
    for page in sorted((ROOT / "docs" / "man").iterdir()):
        layout.write(layout.prefix / "share" / "man" / f"man{page.suffix[1:]}" / page.name, page.read_text())


def system_python() -> Path:
    """The system's Python if it is of the version that the packages were built for, else the one that runs this."""
    python = Path("/usr/bin/python3")
    if python.exists():
        command = [str(python), "-c", "import sys; print(*sys.version_info[:2])"]
        version = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        if version == [str(sys.version_info.major), str(sys.version_info.minor)]:
            return python
    own = Path(sys.executable).resolve()  # what the virtual environment was made from
    if own.is_relative_to("/home") or own.is_relative_to("/root"):
        print(f"warning: {own} cannot be seen by the units (ProtectHome=); use a Python outside of home folders")
    return own


def main() -> int:
    """Install everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--destdir", type=Path, default=Path("/"), help="root of the tree to install into (default: /)")
    parser.add_argument("--prefix", type=Path, default=Path("/usr/local"), help="default: /usr/local")
    parser.add_argument("--python", type=Path, help="the Python that will run it (default: the system's)")
    arguments = parser.parse_args()
    os.umask(0o022)
    layout = Layout(arguments.destdir.absolute(), arguments.prefix, arguments.python or system_python())
    shutil.rmtree(layout.real(layout.home), ignore_errors=True)  # no module of an older release may stay
    install_dependencies(layout)
    install_packages(layout)
    install_programs(layout)
    install_system_files(layout)
    if arguments.destdir == Path("/"):
        print("next: systemd-sysusers && systemd-tmpfiles --create jird.conf && systemctl daemon-reload")
        print("then: systemctl enable --now jird")
    return 0


if __name__ == "__main__":
    sys.exit(main())
