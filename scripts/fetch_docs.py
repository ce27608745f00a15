"""Fetch real documentation in English, German, Japanese and Russian, and lay it out as document roots.

    python scripts/fetch_docs.py            # into build/docs

Debian packages are downloaded with `apt-get download` (no root needed, nothing is installed) and their HTML pages and
style sheets unpacked below build/docs/HOST, one folder for each of three host names, with a front page that links to
every set. Each line of the output is HOST, folder, number of pages. What is there already is left alone.
"""

import argparse
import gzip
import html
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_TARGET = ROOT / "build" / "docs"
# Raised when SITES changes, so that an older tree is made again.
LAYOUT_VERSION = 4
# Of one file and in all: what the packages hold is a tenth of it.
FILE_BYTES_MAX = 32 << 20
SUFFIXES = (".html", ".html.gz", ".css", ".css.gz")
# Pages that repeat a whole manual in one piece; two are longer than what a crawler takes.
LEFT_OUT = "-big-page."


@dataclass(frozen=True, slots=True)
class DocSet:
    """One tree of pages in a package, where it goes below the document root, and its first page."""

    package: str
    source: str
    prefix: str
    first_page: str
    language: str
    title: str


@dataclass(frozen=True, slots=True)
class DocSite:
    """One host; `robots` is its robots.txt, or empty for none."""

    host: str
    sets: tuple[DocSet, ...]
    robots: str = ""


# Its pages link to themselves in ten other languages, to the sources of every example and to what is left out.
_LILYPOND_ROBOTS = """\
User-agent: *
Disallow: /*.ly$
Disallow: /*.html$
Allow: /*.ja.html$
Disallow: /*-big-page.ja.html$
Disallow: /*.pdf$
Disallow: /*.png$
Disallow: /Documentation/changes/
Disallow: /Documentation/essay/
Disallow: /Documentation/extending/
Disallow: /Documentation/internals/
Disallow: /Documentation/music-glossary/
"""


def _handbook(language: str, folder: str) -> DocSet:
    source = f"usr/share/doc/debian-handbook/html/{folder}"
    return DocSet("debian-handbook", source, f"handbook/{language}", "index.html", language, "Handbook")


def _install_guide(language: str) -> DocSet:
    source = f"usr/share/doc/installation-guide-amd64/{language}"
    return DocSet("installation-guide-amd64", source, f"install/{language}", "index.html", language, "Installation")


def _gimp_help(language: str) -> DocSet:
    return DocSet(
        f"gimp-help-{language}", f"usr/share/gimp/2.0/help/{language}", language, "index.html", language, "Help"
    )


SITES = (
    DocSite(
        "docs-debian.test",
        (
            *(_handbook(*pair) for pair in (("en", "en-US"), ("de", "de-DE"), ("ja", "ja-JP"), ("ru", "ru-RU"))),
            *map(_install_guide, ("en", "de", "ja", "ru")),
        ),
    ),
    DocSite("docs-gimp.test", tuple(map(_gimp_help, ("en", "de", "ru")))),
    DocSite(
        "docs-lilypond.test",
        (
            DocSet(
                package="lilypond-doc-html-ja",
                source="usr/share/doc/lilypond/html/Documentation",
                prefix="Documentation",
                first_page="web/manuals.ja.html",
                language="ja",
                title="LilyPond",
            ),
        ),
        robots=_LILYPOND_ROBOTS,
    ),
)
"""3,371 pages, and a front page for each host."""


class FetchError(Exception):
    """The documentation cannot be fetched; the message says what to do."""


def fetch(target: Path) -> dict[str, Path]:
    """Make the document roots, unless they are there.

    Args:
        target: Folder for them; what is in it is replaced if it is of another layout.

    Returns:
        Document root by host.

    Raises:
        FetchError: A program, the package lists or the network is missing.
    """
    stamp = target / "layout"
    roots = {site.host: target / site.host for site in SITES}
    if stamp.exists() and stamp.read_text() == str(LAYOUT_VERSION):
        return roots
    for program, package in (("apt-get", "apt"), ("dpkg-deb", "dpkg")):
        if shutil.which(program) is None:
            raise FetchError(f"{program} is missing: the documentation comes from Debian packages (package {package})")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=target) as downloads:
        packages = _download({each.package for site in SITES for each in site.sets}, Path(downloads))
        for site in SITES:
            for doc_set in site.sets:
                _unpack(packages[doc_set.package], doc_set, roots[site.host] / doc_set.prefix)
            (roots[site.host] / "index.html").write_text(_front_page(site))
            if site.robots:
                (roots[site.host] / "robots.txt").write_text(site.robots)
    stamp.write_text(str(LAYOUT_VERSION))
    return roots


def count_pages(root: Path) -> int:
    """HTML files below a document root, its front page left out."""
    return sum(1 for _ in root.rglob("*.html")) - 1


def _download(names: set[str], folder: Path) -> dict[str, Path]:
    """Download packages; gives the file of each."""
    command = ["apt-get", "download", "-qq", *sorted(names)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    files = {path.name.split("_")[0]: path for path in folder.glob("*.deb")}
    if result.returncode or names - files.keys():
        reason = result.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise FetchError(
            f"{' '.join(command)} failed: {reason[0]}\n"
            "Debian 12 has these packages; if their lists are missing, run: sudo apt-get update"
        )
    return files


def _unpack(package: Path, doc_set: DocSet, target: Path) -> None:
    """Write the pages and style sheets of one set; compressed ones are unpacked, links and everything else left out."""
    source = PurePosixPath(doc_set.source)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
            for name, data in _wanted(archive, source):
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
    if process.returncode:
        raise FetchError(f"dpkg-deb could not read {package.name}")


def _wanted(archive: tarfile.TarFile, source: PurePosixPath) -> Iterator[tuple[str, bytes]]:
    """Relative names and contents of the regular files below `source` that are pages or style sheets."""
    for member in archive:
        path = PurePosixPath(member.name.removeprefix("./"))
        is_wanted = member.isfile() and member.size <= FILE_BYTES_MAX and path.name.endswith(SUFFIXES)
        if not is_wanted or LEFT_OUT in path.name or not path.is_relative_to(source) or ".." in path.parts:
            continue
        file = archive.extractfile(member)
        assert file is not None
        data = file.read()
        name = str(path.relative_to(source))
        yield (name.removesuffix(".gz"), gzip.decompress(data)) if name.endswith(".gz") else (name, data)


def _front_page(site: DocSite) -> str:
    items = "\n".join(
        f'<li><a href="{each.prefix}/{each.first_page}" hreflang="{each.language}">'
        f"{html.escape(each.title)} ({each.language})</a></li>"
        for each in site.sets
    )
    return f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{site.host}</title>\n<ul>\n{items}\n</ul>\n'


def main() -> int:
    """Fetch, and say what is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=DEFAULT_TARGET, help="folder (default: build/docs)")
    try:
        roots = fetch(parser.parse_args().into)
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    for host, root in roots.items():
        print(host, root, count_pages(root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
