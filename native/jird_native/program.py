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
_KINDS = {Term: 1, Phrase: 2, And: 3, Or: 4, Not: 5, Filter: 6}
_KEY_BYTES_MAX = 65_535
_COUNT_MAX = 65_535
_OFFSET_MAX = 0xFFFF_FFFF


def encode_query(query: Query) -> bytes:
    """Write a query as a program.

    Raises:
        ValueError: It nests too deep, a term is longer than 65,534 bytes, or a number does not fit. C checks the rest.
    """
    program = bytearray()
    _encode(query, program, 1)
    return bytes(program)


def _mask(fields: frozenset[Field] | None) -> int:
    if fields is None:
        return 0
    if not fields:
        raise ValueError("fields must be None or name at least one field")
    return sum(1 << field for field in fields)


def _key(term: str, namespace: Namespace) -> bytes:
    key = bytes((namespace,)) + term.encode("utf-8", "replace")
    if len(key) > _KEY_BYTES_MAX:
        raise ValueError(f"a term has {len(key) - 1} bytes; it must be at most {_KEY_BYTES_MAX - 1}")
    return key


def _encode_phrase(query: Phrase, program: bytearray) -> None:
    if len(query.terms) > lib.QIX_PHRASE_TERMS_MAX:
        raise ValueError(f"a phrase has {len(query.terms)} terms; it must have 1 to {lib.QIX_PHRASE_TERMS_MAX}")
    program += _PHRASE.pack(_KINDS[Phrase], _mask(query.fields), query.weight, len(query.terms))
    for term, offset in query.terms:
        key = _key(term, Namespace.WORD)
        if not 0 <= offset <= _OFFSET_MAX:
            raise ValueError(f"an offset of a phrase is {offset}; it must not be negative")
        program += _PHRASE_TERM.pack(offset, len(key)) + key


def _encode(query: Query, program: bytearray, depth: int) -> None:
    if depth > DEPTH_MAX:
        raise ValueError(f"a query nests at most {DEPTH_MAX} deep")
    if isinstance(query, Term):
        key = _key(query.term, query.namespace)
        program += _TERM.pack(_KINDS[Term], _mask(query.fields), query.weight, len(key)) + key
    elif isinstance(query, Phrase):
        _encode_phrase(query, program)
    elif isinstance(query, And | Or):
        if len(query.children) > _COUNT_MAX:
            raise ValueError("a query has at most 256 nodes")
        program += _COUNT.pack(_KINDS[type(query)], len(query.children))
        for child in query.children:
            _encode(child, program, depth + 1)
    else:
        program.append(_KINDS[type(query)])
        _encode(query.child, program, depth + 1)
