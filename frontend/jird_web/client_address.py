"""Who asks: the peer, or what a trusted proxy says of it. Nobody else's forwarding headers are believed."""

from ipaddress import IPv4Network, IPv6Network, ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from jird_web.connections import is_within

# A longer chain of proxies is none that we were told of.
HOPS_MAX = 32


class ProxyHeaders:
    """ASGI middleware: sets scope["client"] and scope["scheme"]; keeps the peer's own address as scope["jird.peer"].

    Args:
        app: The application.
        trusted: Networks of proxies that may speak for others.
    """

    def __init__(self, app: ASGIApp, trusted: tuple[IPv4Network | IPv6Network, ...]) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            peer = scope["client"][0] if scope.get("client") else ""
            scope["jird.peer"] = peer
            if is_within(peer, self._trusted):
                headers = Headers(scope=scope)
                address = forwarded_client(headers.get("x-forwarded-for", ""), peer, self._trusted)
                scope["client"] = (address, 0)
                proto = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
                if proto in ("http", "https"):
                    scope["scheme"] = proto
        await self._app(scope, receive, send)


def forwarded_client(header: str, peer: str, trusted: tuple[IPv4Network | IPv6Network, ...]) -> str:
    """Return the nearest address of X-Forwarded-For that is no trusted proxy.

    Read from the right, since what stands further left was written by whoever sent the request.
    """
    client = peer
    for text in reversed(header.split(",")[-HOPS_MAX:]):
        try:
            client = str(ip_address(text.strip().strip("[]")))
        except ValueError:
            break
        if not is_within(client, trusted):
            break
    return client
