"""jird's C extension: the tokenizer and the index format QIX."""

from jird_native.model import (
    And,
    DocumentInput,
    Field,
    Filter,
    Namespace,
    Not,
    Or,
    Phrase,
    Query,
    Term,
    phrase_of,
)
from jird_native.text import (
    ANALYSIS_VERSION,
    TERM_CHARS_MAX,
    UNICODE_VERSION,
    Match,
    Token,
    TokenKind,
    find_terms,
    iter_tokens,
    tokenize,
)

__all__ = [
    "ANALYSIS_VERSION",
    "TERM_CHARS_MAX",
    "UNICODE_VERSION",
    "And",
    "DocumentInput",
    "Field",
    "Filter",
    "Match",
    "Namespace",
    "Not",
    "Or",
    "Phrase",
    "Query",
    "Term",
    "Token",
    "TokenKind",
    "find_terms",
    "iter_tokens",
    "phrase_of",
    "tokenize",
]
