"""The tokenizer, as Python sees it: the terms of a text, or where wanted terms occur in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntFlag
from itertools import accumulate

from jird_native._qix import ffi, lib

ANALYSIS_VERSION: int = lib.qix_analysis_version()
"""Raised whenever the same text may give other tokens; the index manifest records it."""
UNICODE_VERSION: str = ffi.string(lib.qix_text_unicode_version()).decode()
"""The Unicode version of the character tables."""
TERM_CHARS_MAX = 128
"""Longest term, in characters; a longer word gives no token (J157)."""
FIND_TERMS_MAX: int = lib.QIX_FIND_TERMS_MAX
"""Most terms that find_terms looks for."""

ROWS = 256
TERMS_BYTES = 16 * ROWS


class TokenKind(IntFlag):
    """What a token is; native/qix/qix_text.h describes each."""

    PRIMARY = 1
    FOLDED = 2
    JOINED = 4
    CHARACTER = 8
    BIGRAM = 16


_KINDS = tuple(map(TokenKind, range(32)))  # every set of kinds: looking one up costs a tenth of making it


@dataclass(frozen=True, slots=True)
class Token:
    """A term at a word position.

    Attributes:
        term: The folded form that the index holds.
        start: First code point of the source text that the token stands for.
        end: One past its last code point.
        position: Word position, from 0; alternates share the position of their primary token.
        kind: PRIMARY, or what kind of alternate it is.
    """

    term: str
    start: int
    end: int
    position: int
    kind: TokenKind

    @property
    def primary(self) -> bool:
        """Whether it counts towards the document's length and the token limit."""
        return bool(self.kind & TokenKind.PRIMARY)


@dataclass(frozen=True, slots=True)
class Match:
    """One occurrence of a wanted term: its number among them, and the code points that stand for it."""

    term: int
    start: int
    end: int
    position: int


class _Pass:
    """A pass over one text. Lone surrogates, which UTF-8 cannot hold, separate words."""

    def __init__(self, text: str) -> None:
        self._text = ffi.from_buffer("uint8_t[]", text.encode("utf-8", "replace"))
        self.handle = ffi.new("uint64_t[]", (lib.qix_text_pass_size() + 7) // 8)
        lib.qix_text_pass_init(self.handle, self._text, len(self._text))


def iter_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of `text` in order of position, the primary one of a position first or only.

    Never raises on any text. Linear in its length; the text must be below 4 GiB of UTF-8.
    """
    run = _Pass(text)
    rows, terms = ffi.new("qix_token_row[]", ROWS), ffi.new("uint8_t[]", TERMS_BYTES)
    while count := lib.qix_text_pass_read(run.handle, rows, ROWS, terms, TERMS_BYTES):
        data = bytes(ffi.buffer(terms))
        for row in rows[0:count]:
            term = data[row.term_start : row.term_start + row.term_bytes].decode()
            yield Token(term, row.start, row.end, row.position, _KINDS[row.flags])


def tokenize(text: str) -> list[Token]:
    """All tokens of `text`; see iter_tokens."""
    return list(iter_tokens(text))


def find_terms(text: str, terms: Sequence[str], each_max: int) -> list[Match]:
    """Where any of `terms` occurs in `text`, as the tokens of the text say.

    Args:
        text: Any text.
        terms: Different terms as tokenize gives them; at most FIND_TERMS_MAX.
        each_max: Occurrences of each term to give at most, the first ones.

    Returns:
        Matches in the order of the tokens; a compound comes after its parts. Match.term is an index into `terms`.

    Raises:
        ValueError: Too many terms, or one of them twice.
    """
    if len(terms) > FIND_TERMS_MAX or len(set(terms)) < len(terms):
        raise ValueError(f"{len(terms)} terms; they must be different, and at most {FIND_TERMS_MAX}")
    encoded = [term.encode() for term in terms]
    ends = list(accumulate(map(len, encoded)))
    rows, counts = ffi.new("qix_match_row[]", each_max * len(terms)), ffi.new("uint32_t[]", len(terms))
    run = _Pass(text)  # kept in a name: it owns the text that the pass reads
    count = lib.qix_text_pass_find(run.handle, b"".join(encoded), ends, len(ends), each_max, counts, rows)
    return [Match(row.term, row.start, row.end, row.position) for row in rows[0:count]]
