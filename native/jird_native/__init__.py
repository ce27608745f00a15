"""jird's C extension: the tokenizer and the index format QIX."""

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
    "Match",
    "Token",
    "TokenKind",
    "find_terms",
    "iter_tokens",
    "tokenize",
]
