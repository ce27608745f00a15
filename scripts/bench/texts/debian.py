"""HTML pages out of Debian packages: downloaded by apt-get, not installed, and never unpacked to disk."""

import re
import shutil
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from texts.flat import TextError

PACKAGE_BYTES_MAX = 60_000_000
"""Of one package; the largest that is listed has 38 MB."""
ALL_BYTES_MAX = 700_000_000
PAGE_BYTES_MAX = 4 << 20
"""Of one page, compressed or not: longer ones are whole books in one piece."""
_PAGE_NAME = re.compile(r"\.x?html?(\.gz)?$", re.IGNORECASE)


def read_list(path: Path) -> list[str]:
    """Names of packages, one a line; `#` begins a comment."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def download(packages: Sequence[str], folder: Path) -> dict[str, Path]:
    """Download what is not there yet; gives the file of each package that exists.

    Raises:
        TextError: apt-get or dpkg-deb is missing, none can be had, or they are larger than expected.
    """
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise TextError(f"{program} is missing: the real text comes from Debian packages")
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Path] = {}
    total = 0
    for package in packages:
        found = _locate(package)
        if found is None:
            print(f"{package}: not in the package lists, left out", file=sys.stderr)
            continue
        name, size = found
        total += size
        if size > PACKAGE_BYTES_MAX or total > ALL_BYTES_MAX:
            raise TextError(f"{package} has {size:,} bytes, {total:,} with those before: more than is allowed")
        files[package] = folder / name
        if not files[package].exists():
            print(f"downloading {package}, {size / 1e6:.1f} MB", file=sys.stderr, flush=True)
            _fetch(package, folder)
    if not files:
        raise TextError("no package of the list can be had; without package lists: apt-get update")
    return files


def _locate(package: str) -> tuple[str, int] | None:
    """Name and size of a package's file; None if apt does not know it."""
    command = ["apt-get", "download", "--print-uris", "-qq", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    fields = done.stdout.split()
    return (fields[1], int(fields[2])) if done.returncode == 0 and len(fields) >= 3 else None


def _fetch(package: str, folder: Path) -> None:
    """Download into a folder of its own first, so that half a file is never taken for a whole one."""
    draft = folder / f"{package}.draft"
    draft.mkdir(exist_ok=True)
    done = subprocess.run(
        ["apt-get", "download", "-qq", package], cwd=draft, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise TextError(f"apt-get download {package}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
    for file in draft.glob("*.deb"):
        file.replace(folder / file.name)
    shutil.rmtree(draft)


def pages(package: Path) -> Iterator[tuple[str, bytes]]:
    """(path, body) of every HTML page, as the package has them in order; damaged gzip is left out.

    Raises:
        TextError: The package cannot be read.
    """
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                yield from _pages_of(archive)
        except tarfile.TarError as error:
            raise TextError(f"{package}: {error}") from error
    if process.returncode:
        raise TextError(f"dpkg-deb could not read {package}")


def _pages_of(archive: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in archive:
        if not member.isfile() or member.size > PAGE_BYTES_MAX or not _PAGE_NAME.search(member.name):
            continue
        file = archive.extractfile(member)
        assert file is not None
        body = _decompressed(file.read()) if member.name.lower().endswith(".gz") else file.read()
        if body:
            yield member.name.removeprefix("."), body


def _decompressed(data: bytes) -> bytes:
    """What gzip holds, cut at PAGE_BYTES_MAX; empty if it is damaged."""
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(data, PAGE_BYTES_MAX)
    except zlib.error:
        return b""
