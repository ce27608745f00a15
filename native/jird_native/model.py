"""What goes into a segment and what is asked of one, as plain data: documents, fields, namespaces, query trees."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class Field(IntEnum):
    """Where in a page a word stands; also its index in DocumentInput.fields."""

    TITLE = 0
    HEADINGS = 1
    ANCHORS = 2  # texts of links to the page
    URL = 3
    BODY = 4


class Namespace(IntEnum):
    """What a term is. A new kind needs no new format; numbers are stored, 0 to 255."""

    WORD = 0  # a token of a field
    HOST = 1  # host name, and host:port where the URL has a port
    SITE = 2  # host name and every parent domain of it
    LANGUAGE = 3  # IANA primary subtag


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """One page as the builder takes it.

    Attributes:
        page_id: At least 1; the identity of the document in every segment.
        origin_id: Scheme, host and port of the page.
        language: Two letters as (first << 8) | second; 0 when unknown.
        date_s: Seconds since 1970 of the version; 0 when unknown.
        static_rank: 0 to 65,535; 0 when unknown.
        flags: 16 bits that belong to the caller.
        fields: Text of each Field, in its order.
        keywords: Terms that are not words of the text, e.g. (Namespace.HOST, "docs.example.org").
    """

    page_id: int
    origin_id: int
    language: int
    date_s: int
    static_rank: int
    flags: int
    fields: tuple[str, str, str, str, str]
    keywords: tuple[tuple[Namespace, str], ...]


@dataclass(frozen=True, slots=True)
class Term:
    """Documents that hold a term, in one of `fields` if given. `weight` multiplies its part of the score."""

    term: str
    namespace: Namespace = Namespace.WORD
    fields: frozenset[Field] | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Phrase:
    """Documents that hold WORD terms at fixed distances within one field.

    `terms` are (term, offset) with offsets from 0, rising. At most 32 terms.
    """

    terms: tuple[tuple[str, int], ...]
    fields: frozenset[Field] | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class And:
    """Documents that match every child and no child that is a Not; at least one child is no Not."""

    children: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Documents that match any child; scores add up."""

    children: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Documents that do not match; stands only within And."""

    child: "Query"


@dataclass(frozen=True, slots=True)
class Filter:
    """Documents that match the child, without adding to their score."""

    child: "Query"


Query = Term | Phrase | And | Or | Not | Filter
"""A query tree: at most 256 nodes, at most 16 deep."""


def phrase_of(terms: Sequence[str], fields: frozenset[Field] | None = None) -> Phrase:
    """The phrase of terms that follow each other directly."""
    return Phrase(tuple((term, offset) for offset, term in enumerate(terms)), fields)
