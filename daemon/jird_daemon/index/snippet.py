"""The part of a page that shows why it was found, with the places of the matches. Pure.

The window is chosen by what it holds, as Turpin and others 2007 ("Fast generation of result snippets in web search")
do: different query terms count first, a term that the page seldom has counts more, and the earlier window wins a tie.
Tokens come from the tokenizer of the index, so what is highlighted is exactly what matched.
"""

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from jird_daemon.index.query_words import QueryTerm
from jird_native import TokenKind, find_terms, tokenize

# J160: what of a page is looked at, and for how many terms of the query.
SNIPPET_SCAN_CHARS = 65_536
SNIPPET_TERMS_MAX = 8
SNIPPET_CHARS = 240
# Occurrences of one term that are weighed; more are in pages where any place will do.
MATCHES_MAX = 64
# How far before the first match a window begins at most, so that it can begin with a sentence.
LEAD_CHARS = 80
# Text around a cut that is looked at to find the edge of a word; no word of a natural language is longer.
EDGE_CHARS = 64
MAIN_WEIGHT = 1.5
# What each further match in a window adds: it decides only between windows with the same terms.
REPEAT_VALUE = 0.01
# Two windows whose values differ by less are equal, and the earlier one wins.
ROUNDING = 1e-9

ELLIPSIS = "…"
BLOCK_SEPARATOR = "·"
# Unicode categories of marks that end a block by themselves: full stops, question marks, colons, closing quotes.
_BLOCK_ENDS = frozenset({"Po", "Pf", "Pe"})
_SENTENCE_ENDS = ("\n", ". ", "! ", "? ", "。", "\uff01", "\uff1f", "।")

# What a window may begin with, besides letters, digits and opening brackets and quotes (Unicode categories).
_OPENING_CHARS = frozenset("\"'/$@#.")
_OPENING_CATEGORIES = frozenset({"Ps", "Pi"})

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Plain text in one line, and the half-open ranges of its code points that match, in order, not overlapping."""

    text: str
    highlights: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A term to be found: which word of the query it stands for, and what finding it says at most.

    All forms of a word are one `unit`, of which finding one is as good as finding all; each bigram of an unspaced word
    is a unit of its own, and together they say as much as a word.
    """

    word: int
    unit: str
    weight: float
    is_bigram: bool


def make_snippet(
    text: str,
    terms: Sequence[QueryTerm],
    *,
    description: str = "",
    main: Sequence[Range] = (),
    size: int = SNIPPET_CHARS,
) -> Snippet:
    """Cut the best window of about `size` characters out of a page.

    Args:
        text: The page's text, in its own order; line ends separate blocks.
        terms: What the query looks for; the first SNIPPET_TERMS_MAX count.
        description: Shown where the text has no match; if it is empty too, the text's beginning is.
        main: Ranges of the main content, ascending; matches there are preferred, and so is its beginning. A window
            around them holds nothing from before the first range and behind the last.
        size: Longest snippet, apart from the ellipses at cut ends.
    """
    scanned = text[:SNIPPET_SCAN_CHARS]
    wanted = _list_wanted(terms[:SNIPPET_TERMS_MAX])
    matches = _find_matches(scanned, wanted)
    content = (main[0][0], main[-1][1]) if main and main[0][0] < len(scanned) else (0, len(text))
    if not matches:
        if description.strip():
            return _finish(description, 0, size, wanted, (0, len(description)))
        return _finish(text, content[0], size, wanted, content)
    best = _best_window(matches, main, content, size)
    bounds = content if _is_within(best[0].start, [content]) else (0, len(text))
    return _finish(text, max(bounds[0], _window_start(text, best, size)), size, wanted, bounds)


def count_words(texts: Sequence[str], terms: Sequence[QueryTerm]) -> list[int]:
    """Count for each text how many different words of a query it has; the first SNIPPET_TERMS_MAX count."""
    wanted = _list_wanted(terms[:SNIPPET_TERMS_MAX])
    return [len({place.wanted.word for place in _find_matches(text, wanted)}) if text else 0 for text in texts]


def _list_wanted(terms: Sequence[QueryTerm]) -> dict[str, _Wanted]:
    wanted: dict[str, _Wanted] = {}
    for word, term in enumerate(terms):
        for form in term.forms:
            unit, weight = (form, 1 / len(term.forms)) if term.is_run else (term.forms[0], 1.0)
            wanted.setdefault(form, _Wanted(word, unit, weight, term.is_run and len(term.forms) > 1))
    return wanted


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a wanted term was found."""

    start: int
    end: int
    wanted: _Wanted


def _find_matches(text: str, wanted: dict[str, _Wanted]) -> list[_Place]:
    """Matches by place. A bigram of a longer word counts only beside another of it, unless that leaves nothing."""
    if not wanted:
        return []
    details = list(wanted.values())
    found = find_terms(text, list(wanted), MATCHES_MAX)
    places = sorted(
        (_Place(match.start, match.end, details[match.term]) for match in found), key=lambda place: place.start
    )
    return [place for i, place in enumerate(places) if _is_whole(places, i)] or places


def _is_whole(places: Sequence[_Place], i: int) -> bool:
    place = places[i]
    if not place.wanted.is_bigram:
        return True
    before = i > 0 and places[i - 1].end > place.start and places[i - 1].wanted.word == place.wanted.word
    after = i + 1 < len(places) and places[i + 1].start < place.end and places[i + 1].wanted.word == place.wanted.word
    return before or after


def _best_window(places: Sequence[_Place], main: Sequence[Range], content: Range, size: int) -> Sequence[_Place]:
    """The run of matches within `size` characters, and all in the content or all outside of it, that says most."""
    totals = Counter(place.wanted.unit for place in places)
    values = {place.wanted.unit: place.wanted.weight * (1 + totals[place.wanted.unit] ** -0.5) for place in places}
    inside: Counter[str] = Counter()
    value = 0.0  # of the units inside
    best, best_score, first = (0, 1), 0.0, 0
    for last, place in enumerate(places):
        inside[place.wanted.unit] += 1
        value += values[place.wanted.unit] if inside[place.wanted.unit] == 1 else 0
        is_content = _is_within(place.start, [content])
        while first < last and (
            place.end - places[first].start > size or _is_within(places[first].start, [content]) != is_content
        ):
            left = places[first].wanted.unit
            inside[left] -= 1
            value -= 0 if inside[left] else values[left]
            first += 1
        score = (value + REPEAT_VALUE * (last - first)) * (MAIN_WEIGHT if _is_within(places[first].start, main) else 1)
        if score > best_score + ROUNDING:
            best, best_score = (first, last + 1), score
    return places[best[0] : best[1]]


def _is_within(at: int, ranges: Sequence[Range]) -> bool:
    i = bisect_left(ranges, (at + 1, 0)) - 1
    return i >= 0 and ranges[i][0] <= at < ranges[i][1]


def _window_start(text: str, places: Sequence[_Place], size: int) -> int:
    """Where the window begins: with a sentence if one begins shortly before the matches, else a little before them."""
    first = places[0].start
    spare = size - (places[-1].end - first)
    earliest = max(0, first - max(0, min(LEAD_CHARS, spare // 2)))
    if earliest == 0:
        return 0
    lead = text[earliest:first]
    starts = [lead.rfind(end) + len(end) for end in _SENTENCE_ENDS if end in lead]
    return earliest + max(starts) if starts else _next_word(text, earliest, first)


def _next_word(text: str, at: int, limit: int) -> int:
    """The first word that begins at `at` or behind it, at `limit` at the latest."""
    start = _word_edge(text, at, is_start=True)
    if start > at:  # a word was cut: what is written onto it goes with it
        space = text.find(" ", start, min(limit, start + EDGE_CHARS))
        start = space + 1 if space >= 0 else start
    while start < limit and not _may_begin(text[start]):
        start += 1
    return min(start, limit)


def _may_begin(char: str) -> bool:
    return char.isalnum() or char in _OPENING_CHARS or unicodedata.category(char) in _OPENING_CATEGORIES


def _word_edge(text: str, at: int, *, is_start: bool) -> int:
    """Move a cut that would break a word: forward if it begins a window, else back.

    A run of an unspaced script may be cut between its characters. A word longer than EDGE_CHARS is cut.
    """
    if at <= 0 or text[at - 1].isspace() or text[at].isspace():
        return at  # no word is there to be cut
    before, after = text[max(0, at - EDGE_CHARS) : at], text[at : at + EDGE_CHARS]
    head, tail = before.split()[-1], after.split(maxsplit=1)[0]  # no word goes across a blank
    cut, begins, ends = len(head), len(head) < len(before) or at <= EDGE_CHARS, len(tail) < EDGE_CHARS
    for token in tokenize(head + tail):
        if not token.start < cut < token.end or token.kind & (TokenKind.BIGRAM | TokenKind.JOINED):
            continue
        is_whole = (token.start > 0 or begins) and (token.end < cut + len(tail) or ends)
        return at - cut + (token.end if is_start else token.start) if is_whole else at
    return at


def _finish(text: str, start: int, size: int, wanted: dict[str, _Wanted], bounds: Range) -> Snippet:
    """Cut the window out of what lies within the bounds, bring it into one line, mark its ends and its matches."""
    low, high = bounds
    end = start + size
    end = high if end >= high else _word_edge(text, end, is_start=False)
    line = _one_line(text[start:end])
    if line and text[low:start].strip():
        line = f"{ELLIPSIS} {line}"
    if line and text[end:high].strip():
        line = f"{line} {ELLIPSIS}"
    return Snippet(line, tuple(_merge(_find_matches(line, wanted))))


def _one_line(text: str) -> str:
    """Put blocks one behind the other; a dot parts those that do not end as sentences do: headlines, cells, links."""
    line = ""
    for block in filter(None, (" ".join(block.split()) for block in text.split("\n"))):
        if line:
            line += " " if unicodedata.category(line[-1]) in _BLOCK_ENDS else f" {BLOCK_SEPARATOR} "
        line += block
    return line


def _merge(places: Sequence[_Place]) -> list[Range]:
    """Ranges of the matches; those that overlap (bigrams, a compound and its part) become one."""
    merged: list[Range] = []
    for place in places:
        if merged and place.start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], place.end))
        else:
            merged.append((place.start, place.end))
    return merged
