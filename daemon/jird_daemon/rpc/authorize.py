"""Who may call what. admin.sock is guarded by its group alone; on search.sock this module decides.

Searches and the public status are free. The calls behind the frontend's admin routes need the bearer token, which the
daemon compares, or, where `web.admin` is "local", the frontend's word that the request came from this machine. All
other calls are for admin.sock (F121).
"""

from collections.abc import Sequence

from jird_daemon.errors import PermissionDeniedError, UnauthenticatedError
from jird_settings import Settings

FREE = frozenset(
    {
        "/jird.v1.SearchService/Search",
        "/jird.v1.SearchService/Suggest",
        "/jird.v1.SearchService/SearchImages",
        "/jird.v1.StatusService/GetStatus",
        "/jird.v1.StatusService/GetReadiness",
        "/grpc.health.v1.Health/Check",
        "/grpc.health.v1.Health/Watch",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    }
)
WITH_TOKEN = frozenset(
    {
        "/jird.v1.CrawlService/StartCrawl",
        "/jird.v1.CrawlService/StopCrawl",
        "/jird.v1.CrawlService/WatchCrawlRun",
        "/jird.v1.IndexService/Checkpoint",
        "/jird.v1.IndexService/Compact",
        "/jird.v1.IndexService/CollectGarbage",
    }
)
AUTHORIZATION_KEY = "authorization"
LOCAL_KEY = "jird-admin-local"
_SCHEME = "bearer "

Metadata = Sequence[tuple[str, str | bytes]]


def authorize_public(method: str, metadata: Metadata, settings: Settings) -> None:
    """Let a call on search.sock pass, or refuse it.

    Args:
        method: Full name, e.g. "/jird.v1.SearchService/Search".
        metadata: What came with the call.
        settings: `web.admin` and the admin token in effect.

    Raises:
        PermissionDeniedError: No token would help.
        UnauthenticatedError: The token is missing or wrong.
    """
    if method in FREE:
        return
    if method not in WITH_TOKEN:
        raise PermissionDeniedError("this call is only on admin.sock", "ADMIN_SOCKET_ONLY")
    mode, token = settings.web.admin, settings.admin_token
    if mode == "off":
        raise PermissionDeniedError("admin calls are off (web.admin)", "ADMIN_OFF")
    if mode == "local" and _values(metadata, LOCAL_KEY) == ["1"]:
        return
    if token is None:
        reason = "ADMIN_NOT_LOCAL" if mode == "local" else "ADMIN_TOKEN_MISSING"
        raise PermissionDeniedError("admin calls are closed: no admin token is configured", reason)
    given = _values(metadata, AUTHORIZATION_KEY)
    if not given:
        raise UnauthenticatedError("this call needs the admin token", "ADMIN_TOKEN_NEEDED")
    candidate = given[0][len(_SCHEME) :] if given[0].lower().startswith(_SCHEME) else ""
    if not token.is_same(candidate) or len(given) > 1:
        raise UnauthenticatedError("the admin token is wrong", "ADMIN_TOKEN_WRONG")


def _values(metadata: Metadata, key: str) -> list[str]:
    return [value for name, value in metadata if name == key and isinstance(value, str)]
