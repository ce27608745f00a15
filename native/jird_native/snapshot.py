"""Searching several segments as one index."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jird_native._qix import ffi, lib
from jird_native.builder import parts_of
from jird_native.errors import check, new_fault
from jird_native.explanation import Explanation, NodeFacts, preorder
from jird_native.model import Namespace, Query
from jird_native.program import encode_query
from jird_native.segment import Segment
from jird_native.tombstones import Tombstones

TOP_K_MAX: int = lib.QIX_TOP_K_MAX
"""Most hits of one search (J159)."""
FIGURES: int = lib.QIX_SEARCH_FIGURES
ANSWER_ROOM = 128
"""Hits that a kept answer has room for; searches for more make their own."""
ANSWERS_KEPT = 16
"""More searches than this at once make their own answers."""
PLAN_NAMES: tuple[str, ...] = tuple(
    ffi.string(lib.qix_plan_name(number)).decode() for number in range(lib.qix_plan_count())
)
"""The plans of native/qix/qix_plan.c by their number."""


class SearchResult(NamedTuple):
    """The best documents of a search. (A named tuple since one is made in a third of a dataclass's time.)

    Attributes:
        page_ids: Best first; equal scores by ascending page id.
        scores: One for each page id; above 0, or 0 where only filters match.
        match_count: Documents that match; at least as many if not `exact`.
        exact: Whether nothing was skipped, so that match_count is right.
        postings_decoded: Postings that the search had to decode; one that was decoded twice counts twice.
        postings_total: Postings of all lists that the query names.
        blocks_decoded: Blocks of postings that were decoded.
        blocks_total: Blocks of all lists that the query names.
        plan: Name of the way that was taken (native/qix/qix_plan.c); none where nothing was searched.
    """

    page_ids: list[int]
    scores: list[float]
    match_count: int
    exact: bool
    postings_decoded: int
    postings_total: int = 0
    blocks_decoded: int = 0
    blocks_total: int = 0
    plan: str = "none"


class _Answer:
    """Room for what C gives; kept for the next search, since making it takes longer than using it."""

    __slots__ = ("fault", "figures", "info", "pages", "room", "scores")

    def __init__(self, room: int) -> None:
        self.room = room
        self.pages, self.scores = ffi.new("uint64_t[]", room), ffi.new("double[]", room)
        self.info, self.fault = ffi.new("qix_search_info *"), new_fault()
        self.figures = ffi.cast("uint64_t *", self.info)


class Snapshot:
    """A fixed set of segments and of their deleted documents. Threads may share it; searches release the GIL.

    Scores are BM25 (native/qix/qix_rank.h) with statistics over all parts. N, df and the average length count every
    document that is in a segment; a deleted one stops counting when a merge drops it. A page must be alive in one part
    at most.

    Args:
        parts: Segments with their tombstones, or None where nothing is deleted. Tombstones are copied.
        k1: How slowly repetition saturates; 0 to 1,000.
        b: How much a document's length counts; 0 to 1.
    """

    def __init__(self, parts: Sequence[tuple[Segment, Tombstones | None]], k1: float = 1.2, b: float = 0.75) -> None:
        self._handles = [segment.handle for segment, _ in parts]
        self._segments = [Segment(handle) for handle in self._handles]  # stay open when the caller's are closed
        rows, self._bitmaps = parts_of(parts)
        fault, pointer = new_fault(), ffi.new("qix_snapshot **")
        check(lib.qix_snapshot_new(rows, len(self._handles), k1, b, pointer, fault), fault, Path("(snapshot)"))
        self._pointer = ffi.gc(pointer[0], lib.qix_snapshot_free)
        self._doc_count = sum(segment.doc_count for segment in self._segments)
        self._answers: list[_Answer] = []  # append and pop are atomic
        self._deleted = sum(stones.count for _, stones in parts if stones is not None)

    @property
    def document_count(self) -> int:
        """Documents that are not deleted."""
        return self._doc_count - self._deleted

    @property
    def total_length(self) -> int:
        """Sum of weighted lengths, deleted documents included: what the average is made of (J7)."""
        return sum(segment.total_length for segment in self._segments)

    def df(self, term: str, namespace: Namespace = Namespace.WORD) -> int:
        """How many documents of all parts hold a term, deleted ones included."""
        return sum(segment.df(term, namespace) for segment in self._segments)

    def search(self, query: Query, k: int) -> SearchResult:
        """The best k documents for a query, exactly as if every document had been scored.

        Args:
            query: At most 256 nodes, 16 deep.
            k: 1 to 100,000.

        Raises:
            ValueError: The query or k breaks a rule; phrases and fields need segments with positions.
            CorruptSegmentError: A segment is damaged; it names which. Nothing of it is in a result.
        """
        program = encode_query(query)
        answer = self._answers.pop() if self._answers and k <= ANSWER_ROOM else _Answer(self._room(k))
        status = lib.qix_search(
            self._pointer, program, len(program), k, answer.pages, answer.scores, answer.info, answer.fault
        )
        if status:
            self._check(status, answer.fault)
        matches, exact, decoded, postings, read, blocks, plan, hits = ffi.unpack(answer.figures, FIGURES)
        result = SearchResult(
            ffi.unpack(answer.pages, hits) if hits else [],
            ffi.unpack(answer.scores, hits) if hits else [],
            matches,
            exact == 1,
            decoded,
            postings,
            read,
            blocks,
            PLAN_NAMES[plan],
        )
        if answer.room == ANSWER_ROOM and len(self._answers) < ANSWERS_KEPT:
            self._answers.append(answer)
        return result

    def explain(self, query: Query, page_id: int) -> Explanation | None:
        """Why a page scores as it does, or does not match; None if it is not here, or deleted.

        Errors as `search`. Takes some tens of microseconds: it is for people, not for ranking.
        """
        program = encode_query(query)
        facts, fault = ffi.new("qix_node_facts[]", lib.QIX_QUERY_NODES_MAX), new_fault()
        numbers = ffi.new("uint32_t[3]")
        status = lib.qix_explain(
            self._pointer, program, len(program), page_id, facts, numbers, numbers + 1, numbers + 2, fault
        )
        self._check(status, fault)
        count, length, found = numbers
        if not found:
            return None
        nodes = tuple(
            NodeFacts(node, depth, counts, bool(c.matches), c.df, c.factor, c.tf, c.score)
            for (node, depth, counts), c in zip(preorder(query), facts[0:count], strict=True)
        )
        return Explanation(nodes[0].matches, nodes[0].score if nodes[0].matches else 0.0, length, nodes)

    def _check(self, status: int, fault: Any) -> None:
        path = self._handles[fault.part].path if self._handles else Path("(snapshot)")
        check(status, fault, path)

    def _room(self, k: int) -> int:
        return ANSWER_ROOM if k <= ANSWER_ROOM else max(1, min(k, TOP_K_MAX, self._doc_count))
