"""ExplainQuery: what index/explaining.py finds, with the names of pages."""

from jird.v1 import index_service_pb2 as index_pb
from jird_daemon.errors import NotFoundError, NotReadyError
from jird_daemon.index.explaining import QueryExplanation
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.search_service import effective_limit
from jird_daemon.store.tables import PAGES, URLS
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import find_url
from jird_daemon.url.canonical import canonicalize
from jird_native import Explanation, NodeFacts

HITS_DEFAULT, HITS_MAX = 10, 100


async def explain_query(backend: Backend, request: index_pb.ExplainQueryRequest) -> index_pb.ExplainQueryResponse:
    """Search and explain.

    Raises:
        InvalidQueryError: As a search.
        NotFoundError: The page that was named is not in the index.
        NotReadyError: No view is in use yet.
    """
    if backend.searcher.view is None:
        raise NotReadyError("the index is being opened or rebuilt", "INDEX_NOT_READY")
    limit = effective_limit(request.limit, HITS_DEFAULT, HITS_MAX)
    url = canonicalize(request.url) if request.url else ""
    page_id = await backend.read(lambda txn: _page_id(txn, url)) if url else None
    timeout_s = backend.settings().search.timeout_ms / 1_000
    found = await backend.searches.run(lambda: backend.searcher.explain(request.query, limit, page_id), timeout_s)
    if page_id is not None and found.nodes and not found.hits:
        raise _not_indexed(url)
    return await backend.read(lambda txn: _message(txn, found))


def _page_id(txn: Txn, url: str) -> int:
    page_id = find_url(txn, url)
    if page_id is None:
        raise _not_indexed(url)
    return page_id


def _not_indexed(url: str) -> NotFoundError:
    return NotFoundError(f"{url} is not in the index (`jirdctl page show` says why)", "PAGE_NOT_INDEXED")


def _message(txn: Txn, found: QueryExplanation) -> index_pb.ExplainQueryResponse:
    result = found.result
    return index_pb.ExplainQueryResponse(
        query=found.parsed.text,
        notices=found.parsed.notices,
        nodes=[
            index_pb.QueryNode(
                depth=node.depth,
                text=node.text,
                counts=node.counts,
                document_count=node.df,
                idf=node.idf,
                is_term=node.is_term,
            )
            for node in found.nodes
        ],
        plan=result.plan,
        segment_count=found.segment_count,
        posting_count=result.postings_total,
        decoded_posting_count=result.postings_decoded,
        block_count=result.blocks_total,
        decoded_block_count=result.blocks_decoded,
        match_count=result.match_count,
        match_count_exact=result.exact,
        search_us=found.search_us,
        hits=[_hit(txn, page_id, explanation) for page_id, explanation in found.hits],
    )


def _hit(txn: Txn, page_id: int, found: Explanation) -> index_pb.ExplainedHit:
    url, page = txn.get(URLS, page_id), txn.get(PAGES, page_id)
    return index_pb.ExplainedHit(
        url=url.url if url else "",
        title=page.title if page else "",
        matches=found.matches,
        score=found.score,
        length=found.length,
        parts=[_part(number, node) for number, node in enumerate(found.nodes) if node.counts or not node.matches],
    )


def _part(number: int, node: NodeFacts) -> index_pb.ScorePart:
    return index_pb.ScorePart(node=number, matches=node.matches, frequency=node.tf, score=node.score)
