"""A text as arrays (flat.h describes them), and exhaustive scoring over them."""

import mmap
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from texts.place import data_folder, file_digest, program

_SOURCES = ("flat.c", "flatten.c", "exhaustive.c")


class TextError(Exception):
    """A text cannot be used; the message says why."""


def _exhaustive() -> Path:
    return program("exhaustive", *_SOURCES)


def _numbers(path: Path, code: Literal["I", "Q"]) -> memoryview:
    """The numbers of a file, mapped: `I` for 32 bits, `Q` for 64."""
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)).cast("B").cast(code)


@dataclass(frozen=True, slots=True)
class Exact:
    """What a query must find.

    Attributes:
        match_count: Documents that match.
        hits: (id, score) of the best k, best first, ties by ascending id.
        near: Scores of all documents that an engine which rounds otherwise may have among its k.
    """

    match_count: int
    hits: list[tuple[int, float]]
    near: dict[int, float]


@dataclass(frozen=True, slots=True)
class FlatText:
    """Arrays of a text; `documents` and `lists` have one entry more than there are documents and terms."""

    folder: Path
    digest: str
    terms: list[str]
    tokens: memoryview
    documents: memoryview
    lists: memoryview

    @property
    def document_count(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.documents) - 1

    def df(self, term: int) -> int:
        """Documents that hold a term."""
        return int(self.lists[term + 1] - self.lists[term])

    def tokens_of(self, document: int) -> list[int]:
        """Term numbers of a document's tokens, in order."""
        return self.tokens[self.documents[document] : self.documents[document + 1]].tolist()

    def score(self, queries: Sequence[tuple[str, Sequence[str]]], k: int, formula: str) -> list[Exact]:
        """Score every document for every (kind, words); kinds are or, and, phrase. exhaustive.c names the formulas."""
        lines = "".join(f"{kind}\t{' '.join(words)}\n" for kind, words in queries)
        command = [str(_exhaustive()), "score", str(self.folder), formula, str(k)]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TextError(done.stderr.strip())
        return [_exact(line, k) for line in done.stdout.splitlines()]


def _exact(line: str, k: int) -> Exact:
    count, *rest = line.split("\t")
    pairs = [(int(docid), float(score)) for docid, score in (each.split(":") for each in rest)]
    return Exact(int(count), pairs[:k], dict(pairs))


def flatten(text: Path, above: Path | None = None) -> FlatText:
    """Make the arrays of a text, or open them if they were made from the same bytes before.

    Args:
        text: One document a line.
        above: The folder that the arrays' folder lies in; None: the data folder.

    Raises:
        TextError: There is no token in it, or it cannot be read.
    """
    digest = file_digest(text)
    folder = (above or data_folder() / "flat") / digest
    if not folder.exists():
        draft = folder.with_name(f"{digest}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        command = [str(_exhaustive()), "flatten", str(text), str(draft)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(draft)
            raise TextError(done.stderr.strip())
        draft.rename(folder)
    terms = (folder / "terms.txt").read_text(encoding="utf-8", errors="surrogateescape").split("\n")[:-1]
    tokens = _numbers(folder / "tokens.u32", "I")
    return FlatText(
        folder, digest, terms, tokens, _numbers(folder / "documents.u64", "Q"), _numbers(folder / "lists.u64", "Q")
    )
