"""The routes that change something (J90-J96): exactly six, all POST, all decided by `authority` and the daemon."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jird.v1.crawl_service_pb2 import CrawlRun, StartCrawlRequest, StopCrawlRequest, StopCrawlResponse
from jird.v1.index_service_pb2 import (
    CheckpointRequest,
    CollectGarbageRequest,
    CollectGarbageResponse,
    CompactRequest,
    IndexProgress,
    IndexState,
)
from jird_client.channel import CALL_TIMEOUT_S, WORK_TIMEOUT_S
from jird_client.errors import InvalidRequestError
from jird_client.plain_data import to_plain
from jird_web.authority import Caller, credentials, refuse_when_off
from jird_web.body import crawl_request, parse_fields, read_body, run_number
from jird_web.errors import HttpError
from jird_web.site import Site, json_response, site_of

Metadata = list[tuple[str, str]]
Work = Callable[[Site, Metadata], Awaitable[dict[str, Any]]]
Parsed = TypeVar("Parsed")


async def start_crawl(request: Request) -> Response:
    """`POST /crawl` from the form of the home page, `POST /api/crawl` from programs."""
    body, metadata = await _enter(request)
    site = site_of(request)
    message = await _read(request, body, metadata, crawl_request)
    run: CrawlRun = await site.call(site.client.stubs.crawl.StartCrawl, message, CALL_TIMEOUT_S, metadata)
    if _is_browser(request):
        return RedirectResponse(site.href("/stats", refresh=1), 303)  # the crawl goes on while a person looks at it
    return json_response({"ok": True, "crawl_id": run.run_id, "crawl": _without_seeds(run)}, 202)


async def stop_crawl(request: Request) -> Response:
    """`POST /api/crawl/stop`: answers when no request of the stopped runs is in flight (J94)."""
    body, metadata = await _enter(request)
    site = site_of(request)
    message = StopCrawlRequest(run_id=await _read(request, body, metadata, run_number))
    answer: StopCrawlResponse = await site.call(site.client.stubs.crawl.StopCrawl, message, WORK_TIMEOUT_S, metadata)
    return _done(request, {"stopped": [run.run_id for run in answer.runs]})


async def checkpoint(request: Request) -> Response:
    """`POST /api/index/checkpoint` (J90)."""
    return await _work(request, _checkpoint)


async def compact(request: Request) -> Response:
    """`POST /api/index/compact` (J92): answers when the one segment is there."""
    return await _work(request, _compact)


async def collect_garbage(request: Request) -> Response:
    """`POST /api/content/gc` (J93)."""
    return await _work(request, _collect)


async def _enter(request: Request) -> tuple[bytes, Metadata]:
    body = await read_body(request)
    site = site_of(request)
    refuse_when_off(site.web)
    return body, credentials(site.web, await site.status(), Caller.of(request))


async def _read(request: Request, body: bytes, metadata: Metadata, parse: Callable[[dict[str, Any]], Parsed]) -> Parsed:
    try:
        return parse(parse_fields(body, request.headers.get("content-type", "")))
    except HttpError as error:
        # J96: whoever has no right to ask learns that first, and not what is wrong with the question. The daemon
        # looks at the credential before it looks at the seeds, and refuses a run without any.
        site = site_of(request)
        with contextlib.suppress(InvalidRequestError):
            await site.call(site.client.stubs.crawl.StartCrawl, StartCrawlRequest(), CALL_TIMEOUT_S, metadata)
        raise error from None


async def _work(request: Request, work: Work) -> Response:
    _, metadata = await _enter(request)
    return _done(request, await work(site_of(request), metadata))


def _done(request: Request, answer: dict[str, Any]) -> Response:
    if _is_browser(request):
        return RedirectResponse(site_of(request).href("/stats"), 303)
    return json_response({"ok": True, **answer})


async def _checkpoint(site: Site, metadata: Metadata) -> dict[str, Any]:
    state: IndexState = await site.call(
        site.client.stubs.index.Checkpoint, CheckpointRequest(), WORK_TIMEOUT_S, metadata
    )
    return _state(state)


async def _compact(site: Site, metadata: Metadata) -> dict[str, Any]:
    last = IndexProgress()
    async for progress in site.client.stream(site.client.stubs.index.Compact, CompactRequest(), metadata):
        last = progress
    if not last.done:
        raise HttpError(500, "INCOMPLETE", "the compaction ended before it was done")
    return _state(last.state)


async def _collect(site: Site, metadata: Metadata) -> dict[str, Any]:
    answer: CollectGarbageResponse = await site.call(
        site.client.stubs.index.CollectGarbage, CollectGarbageRequest(), WORK_TIMEOUT_S, metadata
    )
    return {"removed_blobs": answer.blob_count, "freed_bytes": answer.freed_bytes}


def _state(state: IndexState) -> dict[str, Any]:
    return {
        "generation": state.generation,
        "checkpoint_generation": state.checkpoint_generation,
        "segments": state.segment_count,
        "documents": state.document_count,
    }


def _without_seeds(run: CrawlRun) -> dict[str, Any]:
    data = to_plain(run)
    del data["seeds"]
    return data


def _is_browser(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")
