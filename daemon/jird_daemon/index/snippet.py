"""The part of a page that shows why it was found, with the places of the matches. Pure.

The window is chosen by what it holds, as Turpin and others 2007 ("Fast generation of result snippets in web search")
do: different query terms count first, a term that the page seldom has counts more, and the earlier window wins a tie.
Tokens come from the tokenizer of the index, so what is highlighted is exactly what matched.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from jird_daemon.index.query_words import QueryTerm
from jird_native import Match, TokenKind, find_terms, tokenize

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

ELLIPSIS = "…"
_SENTENCE_ENDS = ("\n", ". ", "! ", "? ", "。", "\uff01", "\uff1f", "।")

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Plain text in one line, and the half-open ranges of its code points that match, in order, not overlapping."""

    text: str
    highlights: tuple[Range, ...]


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
        main: Ranges of the main content, ascending; matches there are preferred, and so is its beginning.
        size: Longest snippet, apart from the ellipses at cut ends.
    """
    scanned = text[:SNIPPET_SCAN_CHARS]
    forms = {form: i for i, term in enumerate(terms[:SNIPPET_TERMS_MAX]) for form in term.forms}
    matches = _find_matches(scanned, forms)
    if not matches:
        begin = main[0][0] if main and main[0][0] < len(scanned) else 0
        return _finish(description, 0, size, forms) if description.strip() else _finish(text, begin, size, forms)
    best = _best_window(matches, main, size)
    return _finish(text, _window_start(text, best, size), size, forms)


def _find_matches(text: str, forms: dict[str, int]) -> list[Match]:
    """Matches by place; Match.term is the number of the query's term."""
    numbers = list(forms.values())
    found = find_terms(text, list(forms), MATCHES_MAX) if forms else []
    matches = [Match(numbers[match.term], match.start, match.end, match.position) for match in found]
    return sorted(matches, key=lambda match: match.start)


def _best_window(matches: Sequence[Match], main: Sequence[Range], size: int) -> Sequence[Match]:
    """The run of matches within `size` characters that says most."""
    totals = Counter(match.term for match in matches)
    weights = {term: count**-0.5 for term, count in totals.items()}
    inside: Counter[int] = Counter()
    best, best_score, first = (0, 1), 0.0, 0
    for last, match in enumerate(matches):
        inside[match.term] += 1
        while match.end - matches[first].start > size and first < last:
            inside[matches[first].term] -= 1
            first += 1
        score = sum(1 + weights[term] for term, count in inside.items() if count)
        score += 0.01 * (last - first)
        score *= MAIN_WEIGHT if _is_within(matches[first].start, main) else 1.0
        if score > best_score:
            best, best_score = (first, last + 1), score
    return matches[best[0] : best[1]]


def _is_within(at: int, ranges: Sequence[Range]) -> bool:
    i = bisect_left(ranges, (at + 1, 0)) - 1
    return i >= 0 and ranges[i][0] <= at < ranges[i][1]


def _window_start(text: str, matches: Sequence[Match], size: int) -> int:
    """Where the window begins: with a sentence if one begins shortly before the matches, else a little before them."""
    first = matches[0].start
    spare = size - (matches[-1].end - first)
    earliest = max(0, first - max(0, min(LEAD_CHARS, spare // 2)))
    if earliest == 0:
        return 0
    lead = text[earliest:first]
    starts = [lead.rfind(end) + len(end) for end in _SENTENCE_ENDS if end in lead]
    return earliest + max(starts) if starts else min(first, _word_edge(text, earliest, is_start=True))


def _word_edge(text: str, at: int, *, is_start: bool) -> int:
    """Move a cut that would break a word: forward if it begins a window, else back.

    A run of an unspaced script may be cut between its characters. A word longer than EDGE_CHARS is cut.
    """
    low = max(0, at - EDGE_CHARS)
    around = text[low : at + EDGE_CHARS]
    for token in tokenize(around):
        if token.kind & (TokenKind.BIGRAM | TokenKind.JOINED) or not token.start < at - low < token.end:
            continue
        is_whole = (token.start > 0 or low == 0) and (token.end < len(around) or low + len(around) == len(text))
        return low + (token.end if is_start else token.start) if is_whole else at
    return at


def _finish(text: str, start: int, size: int, forms: dict[str, int]) -> Snippet:
    """Cut the window, bring it into one line, mark its ends and its matches."""
    end = start + size
    end = len(text) if end >= len(text) else _word_edge(text, end, is_start=False)
    line = " ".join(text[start:end].split())
    if line and text[:start].strip():
        line = f"{ELLIPSIS} {line}"
    if line and text[end:].strip():
        line = f"{line} {ELLIPSIS}"
    return Snippet(line, tuple(_merge(_find_matches(line, forms))))


def _merge(matches: Sequence[Match]) -> list[Range]:
    """Ranges of the matches; those that overlap (bigrams, a compound and its part) become one."""
    merged: list[Range] = []
    for match in matches:
        if merged and match.start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], match.end))
        else:
            merged.append((match.start, match.end))
    return merged
