"""The home page, the statistics, and the files that pages are made of."""

from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jird.v1.crawl_service_pb2 import OriginQueue, WatchCrawlRunRequest
from jird.v1.status_service_pb2 import Status
from jird_client.errors import ClientError
from jird_web import status_data
from jird_web.authority import Caller, credentials, shows_admin
from jird_web.errors import HttpError, from_client_error
from jird_web.headers import STATIC_CACHE
from jird_web.params import read_fields, wants_json
from jird_web.site import Site, json_response, site_of

# Seconds between reloads of the statistics that a person asked to be kept fresh.
REFRESH_S = 5
# Runs whose queues are looked at, and queues shown: a look is a scan of a run's origins.
QUEUED_RUNS_MAX = 5
QUEUES_MAX = 10


async def home(request: Request) -> Response:
    """`GET /`: the search box; with format=json, what this engine is."""
    site = site_of(request)
    fields = read_fields(request.scope["query_string"])
    is_json = wants_json(fields)
    if fields.get("q") or fields.get("search"):
        return RedirectResponse(site.href("/search", **fields), 307)
    try:
        status = await site.status()
    except ClientError as error:
        if is_json:
            raise
        problem = from_client_error(error)
        values = {"status": None, "problem": problem, "is_admin": False, "query": ""}
        return site.page("home.html", values, problem.status, problem.headers)
    if is_json:
        return json_response({"name": "jird", "version": status.version, "documents": status.index.document_count})
    is_admin = shows_admin(site.web, status, Caller.of(request))
    return site.page("home.html", {"status": status, "problem": None, "is_admin": is_admin, "query": ""})


async def stats(request: Request) -> Response:
    """`GET /stats`: what the engine holds and does, for people."""
    site = site_of(request)
    fields = read_fields(request.scope["query_string"])
    if wants_json(fields):
        return await api_status(request)
    status = await site.status()
    data = status_data.status_data(status, site.web)
    caller = Caller.of(request)
    is_admin = shows_admin(site.web, status, caller)
    values = {
        "status": status,
        "queues": await _queues(site, status, caller) if is_admin else [],
        "runs": data["crawls"],
        "recent_runs": data["recent_crawls"],
        "http": status_data.http_data(status, site.web),
        "source": status_data.source_of(status.index),
        "is_admin": is_admin,
        "refresh_s": REFRESH_S if fields.get("refresh") else 0,
        "query": "",
        "route": "/search",
    }
    return site.page("stats.html", values)


async def _queues(site: Site, status: Status, caller: Caller) -> list[OriginQueue]:
    """The longest queues of the runs that are running; whoever may begin a crawl may see where it goes."""
    metadata = credentials(site.web, status, caller)
    found: list[OriginQueue] = []
    for run in status.crawler.runs[:QUEUED_RUNS_MAX]:
        watch = site.client.stream(
            site.client.stubs.crawl.WatchCrawlRun, WatchCrawlRunRequest(run_id=run.run_id), metadata
        )
        async with aclosing(watch) as looks:
            found.extend((await anext(looks)).origins)
    return sorted(found, key=lambda queue: -queue.queued_count)[:QUEUES_MAX]


async def api_status(request: Request) -> Response:
    """`GET /api/status`: the same for programs."""
    site = site_of(request)
    return json_response(status_data.status_data(await site.status(), site.web))


async def static(request: Request) -> Response:
    """`GET /static/...`: style, script, logo."""
    file = site_of(request).assets.static.get(request.path_params["path"])
    if file is None:
        raise HttpError(404, "NOT_FOUND", "there is no such file")
    headers = {"Cache-Control": STATIC_CACHE, "ETag": f'"{file.tag}"'}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers, media_type=file.media_type)


async def favicon(request: Request) -> Response:
    """`GET /favicon.ico`: for browsers that do not read the page first."""
    request.path_params["path"] = "logo.svg"
    return await static(request)


async def robots(_: Request) -> Response:
    """`GET /robots.txt`: result pages are no pages for other search engines (F113)."""
    rules = "User-agent: *\nDisallow: /search\nDisallow: /images\nDisallow: /api/\nDisallow: /stats\n"
    return Response(rules, headers={"Cache-Control": STATIC_CACHE}, media_type="text/plain; charset=utf-8")
