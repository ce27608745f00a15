"""What all handlers share, and how an answer is made: JSON, a page from a template, or an error in either form."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from jird.v1.status_service_pb2 import GetStatusRequest, Status
from jird_client.channel import CALL_TIMEOUT_S, AsyncClient, Metadata
from jird_client.errors import ClientError, DaemonUnreachableError
from jird_client.text import plain
from jird_settings import Web
from jird_web.assets import Assets
from jird_web.errors import HttpError, explain
from jird_web.gate import SearchGate
from jird_web.params import read_fields

log = logging.getLogger("jird_web")

Answer = TypeVar("Answer")

# Results must be as fresh as the index, which takes in a page within a second: browsers ask again each time.
FRESH = "no-cache"


@dataclass(slots=True)
class Site:
    """One frontend.

    Attributes:
        web: Its settings.
        client: The daemon, on search.sock.
        assets: Templates and static files.
        gate: Bounds searches under way.
        daemon_is_lost: Whether the last call found no daemon; kept so that the log says it once.
    """

    web: Web
    client: AsyncClient
    assets: Assets
    gate: SearchGate
    daemon_is_lost: bool = False

    async def call(
        self,
        method: Callable[..., Awaitable[Answer]],
        message: Any,
        timeout_s: float = CALL_TIMEOUT_S,
        metadata: Metadata = (),
    ) -> Answer:
        """Call the daemon, and log when it was lost or is back.

        Raises:
            ClientError: The call failed.
        """
        try:
            response = await self.client.call(method, message, timeout_s, metadata)
        except ClientError as error:
            self._note(error if isinstance(error, DaemonUnreachableError) else None)
            raise
        self._note(None)
        return response

    async def status(self) -> Status:
        """Ask the daemon how it is.

        Raises:
            ClientError: It cannot be asked.
        """
        return await self.call(self.client.stubs.status.GetStatus, GetStatusRequest())

    def href(self, path: str, **fields: object) -> str:
        """Return a link to one of our routes, as a browser must ask for it, without fields that are None or ""."""
        pairs = [(name, str(value)) for name, value in fields.items() if value not in (None, "")]
        return self.web.path_prefix + path + ("?" + urlencode(pairs, quote_via=quote) if pairs else "")

    def absolute(self, request: Request, path: str) -> str:
        """Return a full URL of one of our routes, for programs that keep it."""
        base = self.web.public_url or f"{request.url.scheme}://{request.headers.get('host', '')}"
        return base + self.href(path)

    def page(
        self, name: str, values: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Render a template."""
        text = self.assets.templates.get_template(name).render(
            site=self, href=self.href, extra=self.assets.extra, **values
        )
        return HTMLResponse(text, status, {"Cache-Control": FRESH, **(headers or {})})

    def error(self, request: Request, error: HttpError) -> Response:
        """Answer an error in the form that the request's route and format ask for."""
        headers = {"Cache-Control": "no-store", **error.headers}
        if error.status == 401 or is_for_programs(request):  # J96: JSON, whoever asks
            return json_response(error.as_json(), error.status, headers)
        query = _query_of(request) if error.status != 414 else ""
        heading, sentence, advice = explain(error)
        values = {"error": error, "heading": heading, "sentence": sentence, "advice": advice}
        values |= {"query": query, "route": "/search", "tab": "" if request.method == "POST" else "/search"}
        return self.page("error.html", values, error.status, headers)

    def _note(self, error: ClientError | None) -> None:
        if error is not None and not self.daemon_is_lost:
            log.warning("daemon.lost reason=%s: pages answer 503 until it is back", error.reason)
        elif error is None and self.daemon_is_lost:
            log.warning("daemon.back")
        self.daemon_is_lost = error is not None


def site_of(request: Request) -> Site:
    """Return the site that a request was made to."""
    site: Site = request.app.state.site
    return site


def client_of(request: Request) -> str:
    """Return the address of who asks."""
    return request.client.host if request.client else ""


def json_response(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return data as JSON, readable for people too."""
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(body, status, {"Cache-Control": FRESH, **(headers or {})}, "application/json")


def is_for_programs(request: Request) -> bool:
    """Return whether an error should be JSON."""
    path: str = request.scope["path"]
    if path.startswith("/api/") or path in ("/healthz", "/readyz", "/metrics"):
        return True
    if request.method == "POST":
        return "text/html" not in request.headers.get("accept", "")
    try:
        return read_fields(request.scope["query_string"]).get("format") == "json"
    except HttpError:
        return b"format=json" in request.scope["query_string"]


def _query_of(request: Request) -> str:
    try:
        fields = read_fields(request.scope["query_string"])
    except HttpError:
        return ""
    return plain(fields.get("q") or fields.get("search") or "")
