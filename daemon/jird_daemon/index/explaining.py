"""Why a query's hits are what they are, for people: the tree, the plan, and the parts of each score.

The engine says it (qix_explain.c), with the functions that search and score; nothing is computed a second time here.
"""

import time
from dataclasses import dataclass

from jird_daemon.index.opened_view import OpenedView
from jird_daemon.index.query import ParsedQuery
from jird_native import And, Explanation, Field, Namespace, NodeFacts, Not, Or, Phrase, Query, SearchResult, Term
from jird_native.explanation import preorder

_FIELD_WORDS = {Field.TITLE: "title", Field.HEADINGS: "headings", Field.ANCHORS: "links", Field.URL: "address"}
_NAMESPACE_WORDS = {Namespace.HOST: "host", Namespace.SITE: "site", Namespace.LANGUAGE: "language"}
_NOTHING = SearchResult([], [], 0, True, 0)


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node of the tree; as NodeFacts, without what belongs to a document."""

    depth: int
    text: str
    counts: bool
    df: int
    idf: float
    is_term: bool


@dataclass(frozen=True, slots=True)
class QueryExplanation:
    """How a query was answered; `hits` are (page id, explanation), best first."""

    parsed: ParsedQuery
    nodes: list[NodeView]
    result: SearchResult
    segment_count: int
    search_us: int
    hits: list[tuple[int, Explanation]]


def explain_query(opened: OpenedView, parsed: ParsedQuery, limit: int, page_id: int | None) -> QueryExplanation:
    """Search, and explain the hits, or the one page that is named."""
    if parsed.tree is None:
        return QueryExplanation(parsed, [], _NOTHING, len(opened.segments), 0, [])
    begun_ns = time.perf_counter_ns()
    result = opened.snapshot.search(parsed.tree, limit)
    search_us = (time.perf_counter_ns() - begun_ns) // 1_000
    wanted = result.page_ids if page_id is None else [page_id]
    explained = ((page, opened.snapshot.explain(parsed.tree, page)) for page in wanted)
    hits = [(page, found) for page, found in explained if found is not None]
    return QueryExplanation(
        parsed,
        _nodes(opened, parsed.tree, hits[0][1].nodes if hits else ()),
        result,
        len(opened.segments),
        search_us,
        hits,
    )


def _nodes(opened: OpenedView, tree: Query, facts: tuple[NodeFacts, ...]) -> list[NodeView]:
    """The tree; where nothing is found, a word that no document holds is often why."""
    if facts:
        return [_view(fact.node, fact.depth, fact.counts, fact.df, fact.idf) for fact in facts]
    return [_view(node, depth, counts, _df(opened, node), 0.0) for node, depth, counts in preorder(tree)]


def _view(node: Query, depth: int, counts: bool, df: int, idf: float) -> NodeView:
    return NodeView(depth, describe(node), counts, df, idf, isinstance(node, Term))


def _df(opened: OpenedView, node: Query) -> int:
    return opened.snapshot.df(node.term, node.namespace) if isinstance(node, Term) else 0


def describe(node: Query) -> str:
    """What a node is, for people."""
    if isinstance(node, Term):
        name = f"{_NAMESPACE_WORDS[node.namespace]} {node.term}" if node.namespace in _NAMESPACE_WORDS else node.term
        return name + _restriction(node.fields, node.weight)
    if isinstance(node, Phrase):
        return f"phrase of {len(node.terms)} words" + _restriction(node.fields, node.weight)
    if isinstance(node, And):
        return "all of"
    if isinstance(node, Or):
        return "any of"
    return "none of" if isinstance(node, Not) else "only where"


def _restriction(fields: frozenset[Field] | None, weight: float) -> str:
    places = " or ".join(_FIELD_WORDS.get(place, "text") for place in sorted(fields)) if fields else ""
    return (f" in {places}" if places else "") + (f", times {weight:.2g}" if weight != 1.0 else "")
