"""The parts of a query as a person typed it: words, phrases, filters, operators, parentheses.

Nothing is refused here. A query is often pasted text (an error message, a path), so whatever does not read as syntax
is text: a bare -word does not exclude (UQ4), an unknown filter is a word, a quote within a word is a letter.

    a b         either, both rank higher          "a b"      the phrase; also »a b« and «a b»
    a AND b     both                              -"a b"     not the phrase
    a OR b      the same as a b                   name:value  name:"value"   a filter
    NOT a       not this word                     -name:value                its opposite
    (a b)       a group
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

FILTER_NAMES = frozenset({"site", "host", "intitle", "inurl", "lang"})

# UQ2: the valid pairs of quotes, opening to closing.
CLOSING_QUOTES = {'"': '"', "»": "«", "«": "»"}
# UQ1: backslash escapes inside quotes.
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_FILTER = re.compile(r"(-?)([a-z]+):", re.IGNORECASE)
_OPERATORS = frozenset({"AND", "OR", "NOT"})


class PartKind(Enum):
    """What a part of a query is."""

    WORD = auto()
    PHRASE = auto()
    FILTER = auto()
    AND = auto()
    OR = auto()
    NOT = auto()
    OPEN = auto()
    CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Part:
    """One part; `text` is that of a word or phrase or the value of the filter `name`, `source` is as typed."""

    kind: PartKind
    source: str
    text: str = ""
    name: str = ""
    is_negated: bool = False
    is_quoted: bool = False


def split_query(text: str) -> tuple[list[Part], list[str]]:
    """Split a query.

    Args:
        text: The query; its length is the caller's business.

    Returns:
        Its parts in order, and a notice for each place that was read otherwise than it may have been meant.
    """
    notices: list[str] = []
    return list(_parts(text, notices)), notices


def _parts(text: str, notices: list[str]) -> Iterator[Part]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == "(":
            yield Part(PartKind.OPEN, "(")
            at += 1
        elif text[at] == ")":
            yield Part(PartKind.CLOSE, ")")
            at += 1
        else:
            part = _read_quoted(text, at, notices) or _read_filter(text, at, notices) or _read_word(text, at)
            yield part
            at += len(part.source)


def _find_close(text: str, at: int) -> int:
    """Index of the quote that closes the one at `at`, or -1."""
    closing, i = CLOSING_QUOTES[text[at]], at + 1
    while i < len(text):
        if text[i] == "\\":
            i += 2
            continue
        # UQ3: a quote closes only when not mid-word.
        if text[i] == closing and (i + 1 == len(text) or not text[i + 1].isalnum()):
            return i
        i += 1
    return -1


def _read_quoted(text: str, at: int, notices: list[str]) -> Part | None:
    """The phrase that begins at `at`, where a part begins, so that UQ3 (opens only after a space) holds."""
    is_negated = text[at : at + 1] == "-"  # a filter may end the text
    opening = at + is_negated
    if opening >= len(text) or text[opening] not in CLOSING_QUOTES:
        return None
    end = _find_close(text, opening)
    if end < 0:
        notices.append("a quote that does not end was read as text")
        return None
    inner = _ESCAPED.sub(r"\1", text[opening + 1 : end])
    return Part(PartKind.PHRASE, text[at : end + 1], inner, is_negated=is_negated, is_quoted=True)


def _read_filter(text: str, at: int, notices: list[str]) -> Part | None:
    match = _FILTER.match(text, at)
    if match is None or match[2].lower() not in FILTER_NAMES:
        return None
    name, is_negated = match[2].lower(), bool(match[1])
    value = _read_quoted(text, match.end(), []) if text[match.end() : match.end() + 1] != "-" else None
    if value is None and match.end() < len(text) and not text[match.end()].isspace():
        value = _read_word(text, match.end())
    if value is None:
        notices.append(f"{name}: has no value and was read as text")
        return None
    source = text[at : match.end()] + value.source
    return Part(PartKind.FILTER, source, value.text, name, is_negated, value.is_quoted)


def _read_word(text: str, at: int) -> Part:
    """The word up to a space, or up to parentheses that close more than it opens."""
    end, depth = at, 0
    while end < len(text) and not text[end].isspace():
        depth += (text[end] == "(") - (text[end] == ")")
        if depth < 0:
            break
        end += 1
    word = text[at:end]
    kind = PartKind[word] if word in _OPERATORS else PartKind.WORD
    return Part(kind, word, word)
