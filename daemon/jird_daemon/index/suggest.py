"""Completion of the last word of a query, from the terms of the index."""

from collections.abc import Callable, Sequence

from jird_daemon.index.query import check_query
from jird_native import Namespace, Token, TokenKind, tokenize

SUGGESTIONS_DEFAULT = 8
SUGGESTIONS_MAX = 20
# Terms asked for, since some are no completions (the word itself).
SPARE_TERMS = 4

ListTerms = Callable[[str, int, Namespace], Sequence[tuple[str, int]]]
"""(prefix, limit, namespace) to (term, document count), most frequent first."""

_HOST_FILTERS = {"site:": Namespace.SITE, "host:": Namespace.HOST}


def suggest(text: str, list_terms: ListTerms, limit: int = SUGGESTIONS_DEFAULT) -> list[str]:
    """Complete a query.

    Args:
        text: The query so far; if it ends in a space there is nothing to complete.
        list_terms: The terms of the index by prefix.
        limit: Completions wanted, 1 to SUGGESTIONS_MAX.

    Returns:
        Whole queries, most frequent last word first; each longer than `text`, none twice.

    Raises:
        InvalidQueryError: As parse_query.
    """
    shown = check_query(text)
    if not shown or text[-1:].isspace():
        return []
    start, prefix, namespace = _last_word(shown)
    if not prefix:
        return []
    found = list_terms(prefix, min(limit, SUGGESTIONS_MAX) + SPARE_TERMS, namespace)
    completions = (shown[:start] + term for term, _ in found if len(term) > len(prefix))
    return list(dict.fromkeys(completions))[:limit]


def _last_word(text: str) -> tuple[int, str, Namespace]:
    """Where the word at the end begins, what terms must begin with, and of which kind; "" if there is no word."""
    last = text.split(" ")[-1]
    name = last.lstrip("-")[:5].lower()
    if name in _HOST_FILTERS:
        value = last.lstrip("-")[5:]
        return len(text) - len(value), value.lower(), _HOST_FILTERS[name]
    token = _ending_token(tokenize(text), len(text))
    return (token.start, token.term, Namespace.WORD) if token else (0, "", Namespace.WORD)


def _ending_token(tokens: Sequence[Token], end: int) -> Token | None:
    """The token to complete: the last word, compound, or character of an unspaced run."""
    ending = [token for token in tokens if token.end == end and not token.kind & TokenKind.BIGRAM]
    ending = [token for token in ending if not token.kind & TokenKind.FOLDED]
    return min(ending, key=lambda token: token.start) if ending else None
