"""Why a document scores as it does."""

from collections.abc import Iterator
from dataclasses import dataclass

from jird_native.model import And, Filter, Not, Or, Phrase, Query, Term


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What one node of a query says of a document.

    Attributes:
        node: The node; a word of a phrase is a Term.
        depth: Of it in the tree; the root has 0.
        counts: Whether its score is part of the document's: a term or phrase that is not within a filter, an exclusion
            or a phrase.
        matches: Whether the document has it.
        df: Documents of the snapshot that hold the term; 0 for other nodes.
        idf: Weight times inverse document frequency, of a term or a phrase (native/qix/qix_rank.h).
        tf: Weighted frequency of a term or phrase in the document, in its fields.
        score: idf * tf / (tf + K) with K of the document's length; for other nodes the sum of their children's.
    """

    node: Query
    depth: int
    counts: bool
    matches: bool
    df: int
    idf: float
    tf: int
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """A document's score and where it is from.

    Attributes:
        matches: Whether the document is found by the query.
        score: What a search gives it; 0 if it is not found.
        length: Its weighted length, as rounded as the index keeps it.
        nodes: Every node, parents before their children, in the order of the query.
    """

    matches: bool
    score: float
    length: int
    nodes: tuple[NodeFacts, ...]


def preorder(query: Query, depth: int = 0, counts: bool = True) -> Iterator[tuple[Query, int, bool]]:
    """Every node as C numbers them, with its depth and whether a score of it counts."""
    yield query, depth, counts and isinstance(query, Term | Phrase)
    if isinstance(query, Phrase):
        for term, _ in query.terms:
            yield Term(term), depth + 1, False
    elif isinstance(query, And | Or):
        for child in query.children:
            yield from preorder(child, depth + 1, counts)
    elif isinstance(query, Not | Filter):
        yield from preorder(query.child, depth + 1, counts=False)
