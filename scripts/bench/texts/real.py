"""The real text: what jird's own extractor and tokenizer make of the pages of Debian's documentation packages."""

import hashlib
import json
import multiprocessing
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jird_daemon.extract.document import ParseJob, ParseKind
from jird_daemon.extract.page import parse_page
from jird_daemon.store.text_pile import decode_pile
from jird_native import MAX_TOKENS, iter_tokens
from texts.debian import download, pages, read_list
from texts.flat import TextError

PACKAGES = Path(__file__).with_name("packages.txt")
TOKENS_MIN = 5
"""Shorter pages are frames and redirects."""
PAGES_MIN = 100_000
"""A text of fewer documents would not show what the benchmarks are for."""
_NOW_S = 1_750_000_000.0


@dataclass(frozen=True, slots=True)
class RealText:
    """What was made: pages read, documents and tokens written, and those left out as exact duplicates."""

    pages: int
    documents: int
    tokens: int
    duplicates: int


def make_real(folder: Path, packages: Path = PACKAGES, processes: int = 2) -> RealText:
    """Write documents.txt, one document a line, and documents.json, which says what it is made of.

    Packages that are there are not downloaded again, and pages that were read are not read again, so a run that was
    interrupted goes on where it was.

    Raises:
        TextError: The packages cannot be had or read.
    """
    files = download(read_list(packages), folder / "packages")
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    # The largest first, so that no process is left with one at the end.
    waiting = sorted(files.values(), key=lambda file: -file.stat().st_size)
    todo = [(file, parts / f"{file.stem}.txt") for file in waiting]
    todo = [(file, part) for file, part in todo if not part.exists()]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for name, count in pool.imap_unordered(_read_package, todo):
            print(f"{name}: {count} pages", file=sys.stderr, flush=True)
    made = _join([parts / f"{file.stem}.txt" for file in files.values()], folder / "documents.txt")
    _describe(folder / "documents.json", files, made)
    return made


def _read_package(work: tuple[Path, Path]) -> tuple[str, int]:
    """Write the tokens of a package's pages, one page a line, ordered by path."""
    file, part = work
    lines = sorted((path, tokens) for path, body in pages(file) if (tokens := page_tokens(path, body)))
    draft = part.with_suffix(".draft")
    draft.write_text("".join(f"{tokens}\n" for _, tokens in lines), encoding="utf-8")
    draft.replace(part)
    return file.stem, len(lines)


def page_tokens(path: str, body: bytes) -> str:
    """Title and text of a page as tokens with blanks between, as jird would index them; empty if it has too few."""
    page = parse_page(ParseJob(f"https://docs.test{path}", body, "text/html"), _NOW_S)
    if page.kind is not ParseKind.DOCUMENT or not page.pile_bytes:
        return ""
    text = f"{page.title}\n{decode_pile(page.pile_bytes).text}"
    terms = [token.term for token in iter_tokens(text) if token.primary][:MAX_TOKENS]
    return " ".join(terms) if len(terms) >= TOKENS_MIN else ""


def _join(parts: list[Path], target: Path) -> RealText:
    """Put the parts together without repeated pages."""
    seen: set[bytes] = set()
    read = tokens = 0
    draft = target.with_suffix(".draft")
    with draft.open("wb") as out:
        for line in _lines(parts):
            read += 1
            digest = hashlib.blake2b(line, digest_size=16).digest()
            if digest not in seen:
                seen.add(digest)
                tokens += line.count(b" ") + 1
                out.write(line)
    if not seen:
        draft.unlink()
        raise TextError("the packages hold no pages")
    draft.replace(target)
    return RealText(read, len(seen), tokens, read - len(seen))


def _lines(parts: list[Path]) -> Iterator[bytes]:
    for part in parts:
        with part.open("rb") as lines:
            yield from lines


def _describe(path: Path, files: Mapping[str, Path], made: RealText) -> None:
    described = {
        "documents": made.documents,
        "tokens": made.tokens,
        "duplicates": made.duplicates,
        "packages": {name: file.name.split("_")[1] for name, file in files.items()},
    }
    path.write_text(json.dumps(described, indent=2) + "\n")
