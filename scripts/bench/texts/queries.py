"""Queries: drawn from a text by a seed, and read from and written to files.

A query's line is id, class and words, separated by tabs. Its class begins with its kind, term, or, and or phrase, and
its words are separated by single blanks. All words of a query come from one document, so that conjunctions and phrases
find something, and each word's frequency is drawn first, so that common, middling and rare words meet.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from texts.flat import FlatText, TextError

CLASSES = {"term": (1, 1), "or2": (2, 2), "or35": (3, 5), "and2": (2, 2), "and3": (3, 3), "phrase": (2, 3)}
"""Least and most words of a query of each class."""
PER_CLASS = 200
KINDS = ("term", "or", "and", "phrase")
DOCUMENT_TOKENS_MIN = 20
"""Shorter documents (redirects, empty frames) give no queries."""
COMMON, RARE = 0.05, 0.001
"""A word in more documents than COMMON of all is common, in fewer than RARE of all rare."""
SHARES = (0.3, 0.4, 0.3)
"""How often a common, a middling and a rare word is wanted."""
RARE_DF_MIN = 5
"""Words in fewer documents are misspellings and serial numbers: nobody's query."""
PHRASE_DF_MIN = 20
"""A phrase holds at least one word in so many documents."""
_TRIES = 2_000


class QueryFileError(Exception):
    """A file of queries is not what it must be; the message names the line."""


@dataclass(frozen=True, slots=True)
class DrawnQuery:
    """One query; `words` are tokens of the text."""

    identity: str
    query_class: str
    words: tuple[str, ...]

    @property
    def kind(self) -> str:
        """term, or, and, or phrase."""
        return kind_of(self.query_class)


def kind_of(query_class: str) -> str:
    """The kind that a class begins with.

    Raises:
        ValueError: It begins with none.
    """
    for kind in KINDS:
        if query_class.startswith(kind):
            return kind
    raise ValueError(f"class {query_class!r} is unknown; it must begin with {', '.join(KINDS)}")


def draw_queries(
    text: FlatText, seed: int, per_class: int = PER_CLASS, classes: Mapping[str, tuple[int, int]] = CLASSES
) -> list[DrawnQuery]:
    """Draw `per_class` different queries of each class (least and most words); the same seed gives the same.

    Raises:
        TextError: The text is too small for so many.
    """
    chance, found = random.Random(seed), list[DrawnQuery]()
    for query_class, lengths in classes.items():
        seen = set[tuple[str, ...]]()
        for _ in range(_TRIES * per_class):
            if len(seen) == per_class:
                break
            words = _draw(text, chance, kind_of(query_class), chance.randint(*lengths))
            if words and words not in seen:
                seen.add(words)
                found.append(DrawnQuery(str(len(found)), query_class, words))
        if len(seen) < per_class:
            raise TextError(f"the text is too small: {len(seen)} queries of class {query_class}, wanted {per_class}")
    return found


def _draw(text: FlatText, chance: random.Random, kind: str, count: int) -> tuple[str, ...]:
    """The words of one query, or none if the document drawn has not enough."""
    tokens = text.tokens_of(chance.randrange(text.document_count))
    if len(tokens) < max(count, DOCUMENT_TOKENS_MIN):
        return ()
    if kind == "phrase":
        start = chance.randrange(len(tokens) - count + 1)
        chosen = tokens[start : start + count]
        is_good = max(map(text.df, chosen)) >= min(PHRASE_DF_MIN, text.document_count)
    else:
        chosen = _draw_words(text, chance, tokens, count)
        is_good = len(chosen) == count
    return tuple(text.terms[term] for term in chosen) if is_good else ()


def _draw_words(text: FlatText, chance: random.Random, tokens: list[int], count: int) -> list[int]:
    """Different words of a document, each of a band that is drawn; fewer if a band is empty."""
    common, rare = COMMON * text.document_count, max(RARE_DF_MIN, RARE * text.document_count)
    bands: tuple[list[int], ...] = ([], [], [])
    for term in sorted(set(tokens)):
        df = text.df(term)
        if df >= RARE_DF_MIN:
            bands[0 if df > common else 1 if df > rare else 2].append(term)
    chosen: list[int] = []
    for _ in range(count):
        left = [term for term in chance.choices(bands, SHARES)[0] if term not in chosen]
        if not left:
            break
        chosen.append(chance.choice(left))
    return chosen


def write_queries(path: Path, queries: Iterable[DrawnQuery]) -> None:
    """Write them as a file that read_queries reads."""
    lines = (f"{each.identity}\t{each.query_class}\t{' '.join(each.words)}\n" for each in queries)
    path.write_text("".join(lines), encoding="utf-8")


def read_queries(path: Path) -> list[tuple[str, str, str]]:
    """Read (id, class, words) of each line.

    Raises:
        QueryFileError: A line is not three fields, its class is unknown, it has no words, or its id came before.
    """
    found: dict[str, tuple[str, str, str]] = {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise QueryFileError(f"{path}: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        fields = line.rstrip("\r").split("\t")
        try:
            if len(fields) != 3:
                raise ValueError(f"{len(fields)} fields; it must have 3 (id, class, words), with tabs between")
            if not fields[2].strip():
                raise ValueError("no words")
            kind_of(fields[1])
            if fields[0] in found:
                raise ValueError(f"id {fields[0]!r} is there twice")
        except ValueError as error:
            raise QueryFileError(f"{path}:{number}: {error}") from error
        found[fields[0]] = (fields[0], fields[1], fields[2])
    if not found:
        raise QueryFileError(f"{path}: no queries")
    return list(found.values())
