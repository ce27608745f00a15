"""Headers of every answer (U86): what a page may load, who may frame it, what is told to other sites."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Everything from this site alone; no inline script or style. connect-src is for the suggestions of the search box.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src {images}; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
CONTENT_SECURITY_POLICY = _POLICY.format(images="'self'")

# S32: tiles of a picture search load from where the pictures are.
IMAGES_SECURITY_POLICY = _POLICY.format(images="'self' https: http:")

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin",
    "Permissions-Policy": "interest-cohort=()",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
}

# What does not change with the index: the style, the logo, the description for browsers.
STATIC_CACHE = "max-age=3600, min-fresh=600, stale-if-error=86400, must-revalidate"


class SecurityHeaders:
    """ASGI middleware that sets the headers; a header that a handler set itself stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
