"""SearchService: queries, completions and pictures, computed in a few threads."""

from collections.abc import Callable
from typing import TypeVar

from jird.v1 import document_pb2 as document_pb
from jird.v1 import search_service_pb2 as search_pb
from jird.v1 import search_service_pb2_grpc as search_grpc
from jird_daemon.errors import InvalidArgumentError, NotReadyError
from jird_daemon.index.hydrate import ImageHit, SearchHit
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.convert import document_message
from jird_daemon.rpc.gate import Context

T = TypeVar("T")

# J75: caps, not errors; the answer shows what is in effect.
LIMIT_DEFAULT, LIMIT_MAX = 20, 100
SUGGESTIONS_DEFAULT, SUGGESTIONS_MAX = 8, 20
IMAGES_DEFAULT, IMAGES_MAX = 40, 100
OFFSET_MAX = 1_000


class SearchService(search_grpc.SearchServiceServicer):
    """See search_service.proto."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def Search(self, request: search_pb.SearchRequest, context: Context) -> search_pb.SearchResponse:
        """Return one page of the ranking."""
        limit = effective_limit(request.limit, LIMIT_DEFAULT, LIMIT_MAX)
        offset = effective_offset(request.offset)
        begun_s = self._backend.clock.monotonic_s()
        searcher, query, show_all = self._backend.searcher, request.query, request.show_duplicates
        found = await self._run(lambda: searcher.search(query, limit, offset, show_duplicates=show_all))
        return search_pb.SearchResponse(
            query=found.query,
            limit=limit,
            offset=offset,
            hits=[_hit_message(hit) for hit in found.hits],
            has_more=found.has_more,
            match_count=found.match_count,
            match_count_exact=found.match_count_exact,
            generation=found.generation,
            took_us=int((self._backend.clock.monotonic_s() - begun_s) * 1_000_000),
            notices=found.notices,
        )

    async def Suggest(self, request: search_pb.SuggestRequest, context: Context) -> search_pb.SuggestResponse:
        """Complete the last word of a query."""
        limit = effective_limit(request.limit, SUGGESTIONS_DEFAULT, SUGGESTIONS_MAX)
        found = await self._run(lambda: self._backend.searcher.suggest(request.query, limit))
        return search_pb.SuggestResponse(completions=found)

    async def SearchImages(
        self, request: search_pb.SearchImagesRequest, context: Context
    ) -> search_pb.SearchImagesResponse:
        """Return pictures of the pages that match."""
        limit = effective_limit(request.limit, IMAGES_DEFAULT, IMAGES_MAX)
        offset = effective_offset(request.offset)
        found = await self._run(lambda: self._backend.searcher.search_images(request.query, limit, offset))
        return search_pb.SearchImagesResponse(
            images=[_image_message(image) for image in found.images],
            limit=limit,
            offset=offset,
            has_more=found.has_more,
        )

    async def _run(self, work: Callable[[], T]) -> T:
        backend = self._backend
        if backend.searcher.view is None:
            raise NotReadyError("the index is being opened or rebuilt", "INDEX_NOT_READY")
        return await backend.searches.run(work, backend.settings().search.timeout_ms / 1_000)


def _hit_message(hit: SearchHit) -> search_pb.SearchHit:
    ranges = [search_pb.TextRange(start=start, end=end) for start, end in hit.snippet.highlights]
    return search_pb.SearchHit(
        document=document_message(hit.url, hit.page, hit.generation),
        score=hit.score,
        snippet=search_pb.Snippet(text=hit.snippet.text, highlights=ranges),
        similar_urls=hit.similar_urls,
        is_duplicate=hit.page.is_duplicate,
    )


def _image_message(hit: ImageHit) -> document_pb.Image:
    return document_pb.Image(url=hit.image.url, alt=hit.image.alt, page_url=hit.page_url, page_title=hit.page_title)


def effective_limit(wanted: int, default: int, most: int) -> int:
    """The limit in effect: 0 means the default, too much is lowered.

    Raises:
        InvalidArgumentError: It is negative.
    """
    if wanted < 0:
        raise InvalidArgumentError(f"limit is {wanted}; it must be 0 to {most}", "LIMIT")
    return min(wanted, most) or default


def effective_offset(wanted: int) -> int:
    """The offset in effect: too much is lowered (J75).

    Raises:
        InvalidArgumentError: It is negative.
    """
    if wanted < 0:
        raise InvalidArgumentError(f"offset is {wanted}; it must be 0 to {OFFSET_MAX}", "OFFSET")
    return min(wanted, OFFSET_MAX)
