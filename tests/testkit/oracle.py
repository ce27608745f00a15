"""The slow scorer: what a search must give, computed from the tokens of every document.

Plain Python floats and nothing native, so that a fault of the engine cannot be in here too. Queries are read by the
names of their classes and attributes (jird_native.model describes them). Every operation is done in the order that
native/qix/qix_rank.h fixes, so that scores are equal to the last bit and results can be compared with ==.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

WORD = 0
"""Namespace of the words of the text."""


@dataclass(frozen=True, slots=True)
class OracleDocument:
    """One document as its tokens.

    Attributes:
        page_id: Its identity.
        tokens: (field, position, term, is primary) in any order.
        keywords: (namespace, term).
        is_deleted: Not in results, but still in the statistics, as in a segment with tombstones.
    """

    page_id: int
    tokens: Sequence[tuple[int, int, str, bool]]
    keywords: Sequence[tuple[int, str]] = ()
    is_deleted: bool = False


def stored_length(length: int) -> int:
    """The length that one byte stands for: exact below 40, then four significant bits, rounded down."""
    if length < 40:
        return length
    shift = max((length - 24).bit_length() - 4, 0)
    return 24 + ((length - 24) >> shift << shift)


@dataclass(slots=True)
class Oracle:
    """All documents of a snapshot. Scores every one of them for every query."""

    documents: Sequence[OracleDocument]
    weights: Sequence[int]
    k1: float = 1.2
    b: float = 0.75
    positions: dict[tuple[int, str], dict[int, list[tuple[int, int]]]] = field(init=False)
    lengths: list[int] = field(init=False)
    average: float = field(init=False)

    def __post_init__(self) -> None:
        self.positions = defaultdict(lambda: defaultdict(list))
        self.lengths = []
        for index, doc in enumerate(self.documents):
            for place, position, term in dict.fromkeys(token[:3] for token in doc.tokens):  # each once, in order
                self.positions[WORD, term][index].append((place, position))
            for namespace, term in doc.keywords:
                self.positions[namespace, term][index] = []
            self.lengths.append(sum(self.weights[place] for place, _, _, primary in doc.tokens if primary))
        self.average = sum(self.lengths) / len(self.lengths) if self.lengths else 0.0

    def df(self, term: str, namespace: int = WORD) -> int:
        """Documents that hold a term."""
        return len(self.positions.get((namespace, term), {}))

    def search(self, query: Any, k: int) -> tuple[list[int], list[float], int]:
        """Page ids and scores of the k best, best first, ties by page id; and how many documents match."""
        found = self.scores(query)
        live = [
            (-score, self.documents[index].page_id) for index, score in found.items() if not self._is_deleted(index)
        ]
        live.sort()
        return [page for _, page in live[:k]], [-score for score, _ in live[:k]], len(live)

    def scores(self, query: Any) -> dict[int, float]:
        """The score of every matching document, by its index."""
        kind = type(query).__name__
        if kind == "Term":
            factor = query.weight * self._idf(query.term, query.namespace)
            return {i: factor * self._part(tf, i) for i, tf in self._term_tfs(query).items()}
        if kind == "Phrase":
            factor = query.weight * sum_in_order(self._idf(term, WORD) for term, _ in query.terms)
            return {i: factor * self._part(tf, i) for i, tf in self._phrase_tfs(query).items()}
        if kind in ("Filter", "Not"):
            return dict.fromkeys(self.scores(query.child), 0.0)
        parts = [(type(child).__name__ == "Not", self.scores(child)) for child in query.children]
        wanted = [found for is_not, found in parts if not is_not]
        if kind == "Or":
            matching = set().union(*wanted)
        else:
            matching = set.intersection(*(set(found) for found in wanted))
            matching.difference_update(*(found for is_not, found in parts if is_not))
        return {i: sum_in_order(found[i] for found in wanted if i in found) for i in matching}

    def _is_deleted(self, index: int) -> bool:
        return self.documents[index].is_deleted

    def _idf(self, term: str, namespace: int) -> float:
        n, df = float(len(self.documents)), float(self.df(term, namespace))
        return math.log(1.0 + (n - df + 0.5) / (df + 0.5))

    def _part(self, tf: int, index: int) -> float:
        norm = self.k1 * (1.0 - self.b + self.b * stored_length(self.lengths[index]) / (self.average or 1.0))
        return tf / (tf + norm)

    def _term_tfs(self, query: Any) -> dict[int, int]:
        found: dict[int, int] = {}
        for index, places in self.positions.get((query.namespace, query.term), {}).items():
            if query.namespace != WORD:
                tf = 1 if query.fields is None else 0
            else:
                tf = sum(self.weights[place] for place, _ in places if query.fields is None or place in query.fields)
            if tf:
                found[index] = tf
        return found

    def _phrase_tfs(self, query: Any) -> dict[int, int]:
        lists = [self.positions.get((WORD, term), {}) for term, _ in query.terms]
        found: dict[int, int] = {}
        for index in set.intersection(*(set(postings) for postings in lists)):
            starts = [
                {(place, position - offset) for place, position in postings[index]}
                for postings, (_, offset) in zip(lists, query.terms, strict=True)
            ]
            places = [place for place, _ in set.intersection(*starts)]
            tf = sum(self.weights[place] for place in places if query.fields is None or place in query.fields)
            if tf:
                found[index] = tf
        return found


def sum_in_order(parts: Iterable[float]) -> float:
    """Add from left to right; the built-in sum compensates its rounding from Python 3.12 on."""
    total = 0.0
    for part in parts:
        total += part
    return total
