"""Build build/jird_VERSION_ARCH.deb for the system's Python; `make deb` calls it.

The package brings its Python dependencies along (scripts/install.py), and depends on the Python minor version that they
were built for. File times are those of the last commit, so that a second build gives the same bytes.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TREE = BUILD / "deb"
DEBIAN_PYTHON = Path("/usr/bin/python3")
MINOR = sys.version_info.minor
CONTROL = """\
Package: jird
Version: {version}
Architecture: {architecture}
Maintainer: the jird developers <jird@localhost>
Installed-Size: {kilobytes}
Depends: python3 (>= 3.{minor}~), python3 (<< 3.{next_minor}), {libraries},
 ca-certificates, init-system-helpers, systemd
Suggests: nginx
Section: web
Priority: optional
Description: web search engine that one person can own
 jird crawls the part of the web that its operator cares about, politely, keeps
 what it fetched, and answers searches over it in milliseconds. It runs as a
 systemd service with a web frontend to put behind a reverse proxy, and is
 operated with jirdctl.
"""


def run(*command: str | Path) -> str:
    """Run a program; returns what it printed."""
    done = subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return done.stdout.strip()


def library_packages(tree: Path) -> str:
    """Packages of the shared libraries that the bundled extensions need from the system, with minimum versions."""
    shutil.rmtree(BUILD / "shlibdeps", ignore_errors=True)
    (BUILD / "shlibdeps" / "debian").mkdir(parents=True)
    (BUILD / "shlibdeps" / "debian" / "control").write_text("Source: jird\n\nPackage: jird\nArchitecture: any\n")
    extensions = sorted(str(path) for path in tree.rglob("*.so*") if path.is_file() and is_elf(path))
    bundled = sorted({str(path.parent) for path in tree.rglob("*.libs/*.so*")})
    options = ["-O", "--ignore-missing-info", "--warnings=0", *(f"-l{folder}" for folder in bundled)]
    done = subprocess.run(
        ["dpkg-shlibdeps", *options, *extensions],
        cwd=BUILD / "shlibdeps",
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return done.stdout.strip().removeprefix("shlibs:Depends=")


def is_elf(path: Path) -> bool:
    """Whether a file is an ELF object."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def write_control(tree: Path, version: str, architecture: str) -> None:
    """Write DEBIAN/: control, configuration files, checksums, maintainer scripts."""
    files = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    debian = tree / "DEBIAN"
    debian.mkdir()
    kilobytes = sum(path.stat().st_size for path in files) // 1024
    libraries = library_packages(tree)
    fields = {"version": version, "architecture": architecture, "kilobytes": kilobytes, "libraries": libraries}
    (debian / "control").write_text(CONTROL.format(**fields, minor=MINOR, next_minor=MINOR + 1))
    (debian / "conffiles").write_text("/etc/jird/jird.toml\n")
    sums = (f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n" for path in files)
    (debian / "md5sums").write_text("".join(sums))
    for script in sorted((ROOT / "packaging" / "debian").iterdir()):
        shutil.copyfile(script, debian / script.name)
        (debian / script.name).chmod(0o755)


def set_modes(tree: Path) -> None:
    """Folders 0755; files 0644, or 0755 where their owner may execute them."""
    for path in tree.rglob("*"):
        if not path.is_symlink():
            executable = path.is_dir() or (path.stat().st_mode & 0o100 and path.suffix != ".so")
            path.chmod(0o755 if executable else 0o644)


def main() -> int:
    """Build the package and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=BUILD, help="folder for the package (default: build)")
    arguments = parser.parse_args()
    os.umask(0o022)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    architecture = run("dpkg", "--print-architecture")
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    options = ("--destdir", TREE, "--prefix", "/usr", "--python", DEBIAN_PYTHON)
    run(sys.executable, "scripts/install.py", *options)
    shutil.copyfile(ROOT / "LICENSE", TREE / "usr" / "share" / "doc" / "jird" / "copyright")
    set_modes(TREE)
    write_control(TREE, version, architecture)
    os.environ["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct")
    package = arguments.output / f"jird_{version}_{architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", TREE, package)
    print(package)
    return 0


if __name__ == "__main__":
    sys.exit(main())
