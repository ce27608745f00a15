"""Who may use the admin routes (DESIGN: `token`, `local`, `off`; J95-J100).

With a token the daemon decides: the frontend hands on what the client sent, and knows no token itself. Without one,
`local` trusts a person at this machine, and nobody who only seems to be there.
"""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request

from jird.v1.status_service_pb2 import Status
from jird_settings import Web, is_loopback
from jird_web.connections import is_loopback as is_loopback_address
from jird_web.errors import HttpError

# A header of any of these names says that somebody else asked, and a proxy on this machine only passed it on. Proxies
# agree on no name, so these are kinds of names; no browser sends one.
_FORWARDING = re.compile(
    r"(?:x-)?(?:forwarded|real|original|client|cluster|proxy|remote|envoy|scheme)(?:-.*)?"
    r"|via|.*(?:client|connecting)-?ip|(?:cf|fastly|fly|x-azure|x-appengine)-.*"
)

_LOOPBACK_HOST = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?", re.IGNORECASE)

# What the daemon compares has at most 1,024 characters (J52), and a scheme before it.
CREDENTIAL_CHARS_MAX = 1_100


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a request came from.

    Attributes:
        peer: Address of the other end of the connection itself.
        scheme: "http" or "https".
        headers: The request's headers.
        http_version: As the request says, e.g. "1.1".
    """

    peer: str
    scheme: str
    headers: Headers
    http_version: str = "1.1"

    @classmethod
    def of(cls, request: Request) -> "Caller":
        """Describe the caller of a request."""
        scope = request.scope
        return cls(scope.get("jird.peer", ""), request.url.scheme, request.headers, scope["http_version"])


def needs_token(web: Web, status: Status) -> bool:
    """Return whether the admin routes ask for a token: in mode `token`, and wherever one is configured (J96)."""
    return web.admin == "token" or status.has_admin_token


def refuse_when_off(web: Web) -> None:
    """Refuse before anything else is looked at.

    Raises:
        HttpError: 403: admin is off.
    """
    if web.admin == "off":
        raise HttpError(403, "ADMIN_OFF", "administration over HTTP is switched off; use jirdctl")


def credentials(web: Web, status: Status, caller: Caller) -> list[tuple[str, str]]:
    """Return the metadata that an admin call carries.

    Raises:
        HttpError: 403: admin is open only to this machine, and the caller is not there.
    """
    if needs_token(web, status):
        given = caller.headers.get("authorization", "")
        is_plain = given.isascii() and given.isprintable() and len(given) <= CREDENTIAL_CHARS_MAX
        return [("authorization", given)] if given and is_plain else []
    problem = local_problem(web, caller)
    if problem:
        raise HttpError(403, "NOT_LOCAL", problem)
    return [("jird-admin-local", "1")]


def local_problem(web: Web, caller: Caller) -> str:
    """Return why a caller is not taken for a person at this machine; "" when it is."""
    headers = caller.headers
    if not is_loopback(web.bind):
        return "without a token, administration needs a loopback bind"
    if not is_loopback_address(caller.peer):
        return "without a token, administration is for this machine only"
    # HTTP/1.0 is what nginx speaks to us unless told otherwise, with a loopback Host and no header of its own.
    if caller.http_version == "1.0" or any(_FORWARDING.fullmatch(name.replace("_", "-")) for name in headers):
        return "without a token, administration does not pass through a proxy"
    # A name of the attacker's may resolve to 127.0.0.1 (DNS rebinding); the Host header then shows the name.
    host = headers.get("host", "")
    if not _LOOPBACK_HOST.fullmatch(host):
        return "without a token, administration needs a loopback address in the Host header"
    # A page of another site may post a form here; browsers then say where it came from.
    origin = headers.get("origin")
    if origin is not None and origin.lower() != f"{caller.scheme}://{host}".lower():
        return "without a token, administration is not open to other sites' pages"
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return "without a token, administration is not open to other sites' pages"
    return ""


def shows_admin(web: Web, status: Status, caller: Caller) -> bool:
    """Return whether pages show admin forms to this caller: never where a token is asked for (J97)."""
    return web.admin == "local" and not needs_token(web, status) and not local_problem(web, caller)
