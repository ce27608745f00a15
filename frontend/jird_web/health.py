"""Liveness and readiness, for systemd, proxies and monitors (J85, J86, J89)."""

from starlette.requests import Request
from starlette.responses import Response

from jird.v1.status_service_pb2 import GetReadinessRequest, Readiness
from jird_client.errors import ClientError
from jird_web.errors import RETRY_AFTER_S
from jird_web.site import json_response, site_of

# A monitor's own patience is usually five seconds or more.
READINESS_TIMEOUT_S = 3.0

_NO_STORE = {"Cache-Control": "no-store"}


async def healthz(_: Request) -> Response:
    """`GET /healthz`: this process lives. Asks nobody, so that it answers when the daemon does not."""
    return json_response({"ok": True}, headers=_NO_STORE)


async def readyz(request: Request) -> Response:
    """`GET /readyz`: searches can be answered."""
    site = site_of(request)
    try:
        ready: Readiness = await site.call(
            site.client.stubs.status.GetReadiness, GetReadinessRequest(), READINESS_TIMEOUT_S
        )
    except ClientError as error:
        return _not_ready(error.reason, "the daemon cannot be asked")
    if not ready.is_ready:
        return _not_ready("NOT_READY", ready.reason)
    answer = {"ok": True, "generation": ready.generation, "query_engine": ready.query_engine}
    return json_response(answer, headers=_NO_STORE)


def _not_ready(reason: str, message: str) -> Response:
    answer = {"ok": False, "error": "unavailable", "reason": reason, "message": message}
    return json_response(answer, 503, {**_NO_STORE, "Retry-After": str(RETRY_AFTER_S)})
