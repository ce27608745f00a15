"""What someone may have meant who mistyped a word: terms of the index near those that hardly any page has."""

from collections.abc import Callable, Sequence

from jird_daemon.index.query_words import QueryTerm
from jird_native import tokenize

# A page of fewer hits is thin: a person would look whether the query was typed right.
THIN_HITS = 3
# Shorter words are near too many others; shorter than the second are taken to have one mistake at most.
WORD_CHARS_MIN = 4
TWO_EDITS_CHARS_MIN = 6
# How many times as many pages must hold the other word: a rare word is not a mistake because another is less rare.
COMMONER = 100

CountPages = Callable[[str], int]
"""A term to how many pages hold it."""
ListNear = Callable[[str, int], Sequence[tuple[str, int]]]
"""(term, most edits) to (near term, pages), the likeliest first."""


def corrected_query(text: str, terms: Sequence[QueryTerm], count_pages: CountPages, list_near: ListNear) -> str:
    """The query with the words replaced that hardly any page has and that are near a much commoner one; "" if none is.

    Args:
        text: The query as shown.
        terms: What it looks for; runs of unspaced scripts are left as they are.
        count_pages: Document frequency.
        list_near: Near terms.
    """
    better = {}
    for form in (word.forms[0] for word in terms if not word.is_run):
        near = _commoner(form, count_pages(form), list_near)
        if near:
            better[form] = near
    shown, at = "", 0
    for token in tokenize(text):
        if token.primary and token.term in better and token.start >= at:
            shown += text[at : token.start] + better[token.term]
            at = token.end
    return shown + text[at:] if at else ""


def _commoner(word: str, pages: int, list_near: ListNear) -> str:
    """The commonest term with the fewest edits, if it is common enough; numbers are not mistyped words."""
    if len(word) < WORD_CHARS_MIN or not word.isalpha():
        return ""
    for edits in (1, 2) if len(word) >= TWO_EDITS_CHARS_MIN else (1,):
        for term, near_pages in list_near(word, edits)[:1]:
            return term if near_pages > pages * COMMONER else ""
    return ""
