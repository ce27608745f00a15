"""The application: which route is answered where, and what happens around every request."""

import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jird_client.channel import AsyncClient
from jird_client.errors import ClientError
from jird_client.sockets import SEARCH_SOCKET
from jird_settings import Settings
from jird_web import admin, health, pages, search
from jird_web.assets import Assets
from jird_web.client_address import ProxyHeaders
from jird_web.connections import ConnectionBudget
from jird_web.errors import HttpError, from_client_error
from jird_web.gate import SearchGate
from jird_web.headers import SecurityHeaders
from jird_web.metrics import Metrics, metrics
from jird_web.site import Site, site_of

log = logging.getLogger("jird_web")

# J95: these, and no other, change anything.
_ADMIN_ROUTES = (
    Route("/crawl", admin.start_crawl, methods=["POST"]),
    Route("/api/crawl", admin.start_crawl, methods=["POST"]),
    Route("/api/crawl/stop", admin.stop_crawl, methods=["POST"]),
    Route("/api/index/checkpoint", admin.checkpoint, methods=["POST"]),
    Route("/api/index/compact", admin.compact, methods=["POST"]),
    Route("/api/content/gc", admin.collect_garbage, methods=["POST"]),
)

ROUTES: Sequence[BaseRoute] = (
    Route("/", pages.home),
    Route("/search", search.search_page),
    Route("/images", search.images_page),
    Route("/stats", pages.stats),
    Route("/api/search", search.api_search),
    Route("/api/images", search.api_images),
    Route("/api/suggest", search.api_suggest),
    Route("/api/status", pages.api_status),
    Route("/opensearch.xml", search.opensearch),
    Route("/healthz", health.healthz),
    Route("/readyz", health.readyz),
    Route("/metrics", metrics),
    Route("/static/{path:path}", pages.static),
    Route("/favicon.ico", pages.favicon),
    Route("/robots.txt", pages.robots),
    *_ADMIN_ROUTES,
)

_SEARCH_PATHS = frozenset({"/search", "/images", "/api/search", "/api/images"})


def build_app(settings: Settings, budget: ConnectionBudget | None = None) -> Starlette:
    """Make the application.

    Args:
        settings: All settings; those of `web` and `storage.run_dir` are used.
        budget: Where the guard counts connections, for the metrics.

    Raises:
        SettingsError: The operator's templates cannot be read.
        DaemonUnreachableError: The socket's path is too long for the kernel.
    """
    web = settings.web
    gate = SearchGate(web.search_concurrency, web.search_queue)
    site = Site(
        web=web,
        client=AsyncClient(settings.storage.run_dir / SEARCH_SOCKET),
        assets=Assets.load(web.template_dir),
        gate=gate,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await site.client.close()

    app = Starlette(
        routes=ROUTES,
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(ProxyHeaders, trusted=web.trusted_proxies),
            Middleware(PathPrefix, prefix=web.path_prefix),
            Middleware(Count),
        ],
        exception_handlers={
            HttpError: _on_http_error,
            ClientError: _on_client_error,
            HTTPException: _on_routing_error,
            ClientDisconnect: _on_disconnect,
            Exception: _on_fault,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.site = site
    app.state.metrics = Metrics(budget, gate)
    return app


class PathPrefix:
    """ASGI middleware for a proxy that shows us under a path: takes the prefix off where the proxy did not."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and self._prefix:
            path: str = scope["path"]
            if path == self._prefix or path.startswith(self._prefix + "/"):
                scope = {**scope, "path": path[len(self._prefix) :] or "/"}
        await self._app(scope, receive, send)


class Count:
    """ASGI middleware that counts requests and times searches."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        counted: Metrics = scope["app"].state.metrics
        begin = time.perf_counter()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                counted.requests.inc()
                if message["status"] >= 500:
                    counted.errors.inc()
                if scope["path"] in _SEARCH_PATHS:
                    counted.search_seconds.observe(time.perf_counter() - begin)
            await send(message)

        await self._app(scope, receive, send_counted)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HttpError)
    return site_of(request).error(request, error)


async def _on_client_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ClientError)
    answer = from_client_error(error)
    if answer.status == 500:
        log.error("daemon.fault reason=%s path=%s: %s", error.reason, request.scope["path"], error.message)
    return site_of(request).error(request, answer)


async def _on_routing_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "there is no such page", 405: "this address does not take this method"}
    message = messages.get(error.status_code, "the request cannot be answered")
    reason = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}.get(error.status_code, "BAD_REQUEST")
    return site_of(request).error(request, HttpError(error.status_code, reason, message, dict(error.headers or {})))


async def _on_disconnect(_: Request, error: Exception) -> Response:
    # The body ended before its end: nobody is there to answer, and a stranger's doing is not worth a traceback.
    return Response(status_code=400)


async def _on_fault(request: Request, error: Exception) -> Response:
    # Starlette raises it again after this answer, and uvicorn logs it with its traceback, once.
    fault = HttpError(500, "INTERNAL", "the search engine met an internal error; its log says more")
    return site_of(request).error(request, fault)
