"""Who may call what on search.sock."""

import pytest

from jird.v1 import crawl_service_pb2, index_service_pb2, search_service_pb2, status_service_pb2
from jird_daemon.errors import PermissionDeniedError, UnauthenticatedError
from jird_daemon.rpc.authorize import FREE, WITH_TOKEN, Metadata, authorize_public
from jird_settings import Secret, Settings, Web

TOKEN = "t" * 40
START = "/jird.v1.CrawlService/StartCrawl"
BEARER: Metadata = [("authorization", f"Bearer {TOKEN}")]
LOCAL: Metadata = [("jird-admin-local", "1")]


def settings(admin: str = "token", token: str = TOKEN) -> Settings:
    return Settings(web=Web(admin=admin), admin_token=Secret(token) if token else None)


def methods() -> list[str]:
    files = (search_service_pb2, crawl_service_pb2, index_service_pb2, status_service_pb2)
    services = [service for file in files for service in file.DESCRIPTOR.services_by_name.values()]
    return [f"/{service.full_name}/{method.name}" for service in services for method in service.methods]


def reason_of(metadata: Metadata, method: str = START, **given: str) -> str:
    with pytest.raises((PermissionDeniedError, UnauthenticatedError)) as caught:
        authorize_public(method, metadata, settings(**given))
    return caught.value.reason


@pytest.mark.parametrize("method", methods())
def test_each_method_is_free_or_needs_the_token_or_is_refused(method: str) -> None:
    """J95, J96, J98, F121: the list of what the frontend may do is complete."""
    if method in FREE:
        authorize_public(method, [], settings(admin="off", token=""))
    elif method in WITH_TOKEN:
        authorize_public(method, BEARER, settings())
        assert reason_of([], method) == "ADMIN_TOKEN_NEEDED"
    else:
        assert reason_of(BEARER, method) == "ADMIN_SOCKET_ONLY"
        assert reason_of(LOCAL, method, admin="local") == "ADMIN_SOCKET_ONLY"


def test_methods_with_the_token_are_those_of_the_admin_routes() -> None:
    """J95: exactly these change state through the frontend, and one shows the operator's own crawl."""
    assert {method.rpartition("/")[2] for method in WITH_TOKEN} == {
        "StartCrawl", "StopCrawl", "WatchCrawlRun", "Checkpoint", "Compact", "CollectGarbage",
    }  # fmt: skip


@pytest.mark.parametrize(
    "metadata",
    [
        [("authorization", f"Bearer {TOKEN}x")],
        [("authorization", f"Bearer {TOKEN[:-1]}")],
        [("authorization", TOKEN)],
        [("authorization", "Bearer ")],
        [("authorization", f"Basic {TOKEN}")],
        [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")],
    ],
)
def test_wrong_token_is_refused(metadata: Metadata) -> None:
    """J96, J99."""
    assert reason_of(metadata) == "ADMIN_TOKEN_WRONG"


def test_scheme_may_be_in_any_case() -> None:
    """RFC 9110 section 11.1: the scheme is case-insensitive."""
    authorize_public(START, [("authorization", f"bEARER {TOKEN}")], settings())


def test_word_of_the_frontend_counts_only_in_local_mode() -> None:
    authorize_public(START, LOCAL, settings(admin="local", token=""))
    assert reason_of(LOCAL) == "ADMIN_TOKEN_NEEDED"
    assert reason_of(LOCAL, admin="off") == "ADMIN_OFF"
    assert reason_of([("jird-admin-local", "yes")], admin="local", token="") == "ADMIN_NOT_LOCAL"


def test_token_counts_in_local_mode_too() -> None:
    authorize_public(START, BEARER, settings(admin="local"))


def test_nothing_helps_where_admin_is_off_or_no_token_is_configured() -> None:
    assert reason_of(BEARER, admin="off") == "ADMIN_OFF"
    assert reason_of(BEARER, token="") == "ADMIN_TOKEN_MISSING"
