"""Searches: pages, the JSON API, SearXNG's shape, pictures, suggestions (J74-J78, U91, U92, S30-S32)."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from jird.v1.document_pb2 import Image
from jird.v1.search_service_pb2 import (
    SearchHit,
    SearchImagesRequest,
    SearchImagesResponse,
    SearchRequest,
    SearchResponse,
    SuggestRequest,
    SuggestResponse,
)
from jird_client.channel import SEARCH_TIMEOUT_S
from jird_client.plain_data import iso_time
from jird_client.text import clean, plain
from jird_web import present
from jird_web.errors import RETRY_AFTER_S, HttpError
from jird_web.headers import IMAGES_SECURITY_POLICY, STATIC_CACHE
from jird_web.params import (
    IMAGE_LIMIT_DEFAULT,
    SUGGESTIONS_DEFAULT,
    SUGGESTIONS_MAX,
    SearchParams,
    read_fields,
    read_search,
    wants_json,
)
from jird_web.site import Site, client_of, json_response, site_of


async def search_page(request: Request) -> Response:
    """`GET /search`: a page, or with format=json the API's answer with SearXNG's `list`."""
    site, fields = _enter(request)
    if wants_json(fields):
        return await _search_json(site, request, fields)
    params = read_search(fields)
    if not params.query:
        values = {"params": params, "query": "", "route": "/search"}
        return site.page("no_query.html", values)
    response = await _search(site, request, params)
    return site.page("results.html", _results(params, response))


async def api_search(request: Request) -> Response:
    """`GET /api/search`."""
    site, fields = _enter(request)
    return await _search_json(site, request, fields)


async def images_page(request: Request) -> Response:
    """`GET /images`: pictures of the pages that match."""
    site, fields = _enter(request)
    if wants_json(fields):
        return await _images_json(site, request, fields)
    params = read_search(fields, IMAGE_LIMIT_DEFAULT)
    headers = {"Content-Security-Policy": IMAGES_SECURITY_POLICY}
    if not params.query:
        values = {"params": params, "query": "", "route": "/images"}
        return site.page("no_query.html", values, headers=headers)
    response = await _search_images(site, request, params)
    pager = _pager(response.offset, response.limit, response.has_more)
    images = [present.image_view(image) for image in response.images]
    values = {"params": params, "query": params.query, "route": "/images", "images": images, "pages": [], **pager}
    return site.page("images.html", values, headers=headers)


async def api_images(request: Request) -> Response:
    """`GET /api/images`."""
    site, fields = _enter(request)
    return await _images_json(site, request, fields)


async def api_suggest(request: Request) -> Response:
    """`GET /api/suggest`: `[query, [completions]]`, as browsers read it from an OpenSearch description."""
    site, fields = _enter(request)
    params = read_search(fields, SUGGESTIONS_DEFAULT, SUGGESTIONS_MAX)
    completions: list[str] = []
    if params.query:
        message = SuggestRequest(query=_valid(params.query), limit=params.limit)
        async with site.gate.enter(client_of(request)):
            answer: SuggestResponse = await site.call(site.client.stubs.search.Suggest, message, SEARCH_TIMEOUT_S)
        completions = [plain(text) for text in answer.completions]
    return json_response([params.query, completions], headers={"Content-Type": "application/x-suggestions+json"})


async def opensearch(request: Request) -> Response:
    """`GET /opensearch.xml`: with it a browser adds jird to its search engines (F115)."""
    site = site_of(request)
    routes = ("/search", "/api/suggest", "/opensearch.xml", "/static/logo.svg")
    addresses = {path: site.absolute(request, path) for path in routes}
    text = site.assets.templates.get_template("opensearch.xml").render(addresses=addresses, extra=site.assets.extra)
    headers = {"Cache-Control": STATIC_CACHE}
    return Response(text, 200, headers, "application/opensearchdescription+xml; charset=utf-8")


def _enter(request: Request) -> tuple[Site, Mapping[str, str]]:
    """Refuse what no person asked for (F113), and read the query string."""
    for name in ("sec-purpose", "purpose", "x-moz"):
        if "prefetch" in request.headers.get(name, "").lower():
            headers = {"Retry-After": str(RETRY_AFTER_S)}
            raise HttpError(503, "PREFETCH_REFUSED", "searches are not answered ahead of time", headers)
    return site_of(request), read_fields(request.scope["query_string"])


def _valid(query: str) -> str:
    if any(char < " " or char == "\x7f" for char in query):
        raise HttpError(400, "QUERY_NOT_TEXT", "the query holds control characters")
    return query


async def _search(site: Site, request: Request, params: SearchParams) -> SearchResponse:
    message = SearchRequest(
        query=_valid(params.query), limit=params.limit, offset=params.offset, show_duplicates=params.duplicates
    )
    async with site.gate.enter(client_of(request)):
        return await site.call(site.client.stubs.search.Search, message, SEARCH_TIMEOUT_S)


async def _search_images(site: Site, request: Request, params: SearchParams) -> SearchImagesResponse:
    message = SearchImagesRequest(query=_valid(params.query), limit=params.limit, offset=params.offset)
    async with site.gate.enter(client_of(request)):
        return await site.call(site.client.stubs.search.SearchImages, message, SEARCH_TIMEOUT_S)


async def _search_json(site: Site, request: Request, fields: Mapping[str, str]) -> Response:
    params = _need_query(read_search(fields))
    response = await _search(site, request, params)
    answer = {
        **_window(params.query, response.offset, response.limit, len(response.hits), response.has_more),
        "match_count": response.match_count,
        "match_count_exact": response.match_count_exact,
        "generation": response.generation,
        "took_ms": round(response.took_us / 1_000, 3),
        "notices": list(response.notices),
        "results": [_hit_json(hit) for hit in response.hits],
        "list": present.hits_as_list(response.hits),
    }
    return json_response(answer)


async def _images_json(site: Site, request: Request, fields: Mapping[str, str]) -> Response:
    params = _need_query(read_search(fields, IMAGE_LIMIT_DEFAULT))
    response = await _search_images(site, request, params)
    window = _window(params.query, response.offset, response.limit, len(response.images), response.has_more)
    return json_response({**window, "results": [_image_json(image) for image in response.images]})


def _need_query(params: SearchParams) -> SearchParams:
    if not params.query:
        raise HttpError(400, "QUERY_MISSING", "there is no query; give one as q")
    return params


def _window(query: str, offset: int, limit: int, count: int, has_more: bool) -> dict[str, Any]:
    following = present.next_offset(offset, limit, has_more)
    return {
        "query": query,
        "limit": limit,
        "offset": offset,
        "count": count,
        "has_more": following is not None,
        "previous_offset": present.previous_offset(offset, limit),
        "next_offset": following,
    }


def _hit_json(hit: SearchHit) -> dict[str, Any]:
    document = hit.document
    return {
        "url": document.url,
        "title": plain(document.title),
        "snippet": clean(hit.snippet.text),
        "score": hit.score,
        "similar": list(hit.similar_urls),
        "is_duplicate": hit.is_duplicate,
        "description": plain(document.description),
        "language": document.language,
        "published": iso_time(document.published_time) if document.published_time.seconds else None,
        "modified": iso_time(document.modified_time) if document.modified_time.seconds else None,
        "last_seen": iso_time(document.last_seen_time) if document.last_seen_time.seconds else None,
        "first_seen": iso_time(document.first_seen_time) if document.first_seen_time.seconds else None,
    }


def _image_json(image: Image) -> dict[str, str]:
    return {
        "url": image.url,
        "alt": plain(image.alt),
        "page_url": image.page_url,
        "page_title": plain(image.page_title),
    }


def _pager(offset: int, limit: int, has_more: bool) -> dict[str, Any]:
    return {
        "offset": offset,
        "limit": limit,
        "previous_offset": present.previous_offset(offset, limit),
        "next_offset": present.next_offset(offset, limit, has_more),
    }


def _results(params: SearchParams, response: SearchResponse) -> dict[str, Any]:
    shown = len(response.hits)
    effective = SearchParams(params.query, response.limit, response.offset)
    return {
        "params": params,
        "query": params.query,
        "route": "/search",
        "results": [present.result_view(hit) for hit in response.hits],
        "match_count": response.match_count,
        "count_words": present.count_words(response.match_count, response.match_count_exact, shown, effective),
        "took_ms": response.took_us / 1_000,
        "notices": [plain(notice) for notice in response.notices],
        "pages": present.page_links(response),
        "duplicates": 1 if params.duplicates else None,
        "has_similar": any(hit.similar_urls for hit in response.hits),
        **_pager(response.offset, response.limit, response.has_more),
    }
