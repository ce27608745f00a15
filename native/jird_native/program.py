"""Query trees as bytes for C; native/qix/qix_query.h describes them."""

from struct import Struct

from jird_native._qix import lib
from jird_native.model import And, Field, Filter, Namespace, Not, Or, Phrase, Query, Term

DEPTH_MAX: int = lib.QIX_QUERY_DEPTH_MAX
"""How deep a query may nest."""

_TERM = Struct("<BBdH")
_PHRASE = Struct("<BBdB")
_PHRASE_TERM = Struct("<IH")
_COUNT = Struct("<BH")
_KIND = Struct("<B")
_KINDS = {Term: 1, Phrase: 2, And: 3, Or: 4, Not: 5, Filter: 6}
_TERM_KIND = _KINDS[Term]
_pack_term = _TERM.pack
_NAMESPACES = [bytes((namespace,)) for namespace in range(256)]
_KEY_BYTES_MAX = 65_535
_COUNT_MAX = 65_535
_OFFSET_MAX = 0xFFFF_FFFF


def encode_query(query: Query) -> bytes:
    """Write a query as a program.

    Raises:
        ValueError: It nests too deep, a term is longer than 65,534 bytes, or a number does not fit. C checks the rest.
    """
    return _encode_term(query) if type(query) is Term else _encode(query, 1)


def _mask(fields: frozenset[Field] | None) -> int:
    if fields is None:
        return 0
    if not fields:
        raise ValueError("fields must be None or name at least one field")
    return sum(1 << field for field in fields)


def _key(term: str, namespace: Namespace) -> bytes:
    key = _NAMESPACES[namespace] + term.encode("utf-8", "replace")
    if len(key) > _KEY_BYTES_MAX:
        raise ValueError(f"a term has {len(key) - 1} bytes; it must be at most {_KEY_BYTES_MAX - 1}")
    return key


def _encode_term(query: Term) -> bytes:
    key = _key(query.term, query.namespace)
    return _pack_term(_TERM_KIND, 0 if query.fields is None else _mask(query.fields), query.weight, len(key)) + key


def _encode_phrase(query: Phrase) -> bytes:
    if len(query.terms) > lib.QIX_PHRASE_TERMS_MAX:
        raise ValueError(f"a phrase has {len(query.terms)} terms; it must have 1 to {lib.QIX_PHRASE_TERMS_MAX}")
    parts = [_PHRASE.pack(_KINDS[Phrase], _mask(query.fields), query.weight, len(query.terms))]
    for term, offset in query.terms:
        key = _key(term, Namespace.WORD)
        if not 0 <= offset <= _OFFSET_MAX:
            raise ValueError(f"an offset of a phrase is {offset}; it must not be negative")
        parts += (_PHRASE_TERM.pack(offset, len(key)), key)
    return b"".join(parts)


def _encode(query: Query, depth: int) -> bytes:
    if depth > DEPTH_MAX:
        raise ValueError(f"a query nests at most {DEPTH_MAX} deep")
    if isinstance(query, Term):
        return _encode_term(query)
    if isinstance(query, Phrase):
        return _encode_phrase(query)
    if isinstance(query, And | Or):
        children = query.children
        if len(children) > _COUNT_MAX:
            raise ValueError("a query has at most 256 nodes")
        parts = [_encode_term(child) if type(child) is Term else _encode(child, depth + 1) for child in children]
        return _COUNT.pack(_KINDS[type(query)], len(children)) + b"".join(parts)
    return _KIND.pack(_KINDS[type(query)]) + _encode(query.child, depth + 1)
