"""The six routes that change something: with a token, for this machine, and off."""

import json
from collections.abc import Iterator
from pathlib import Path

import grpc
import httpx
import pytest

from jird.v1.crawl_service_pb2 import OriginQueue, WatchCrawlRunResponse
from testkit.fake_daemon import TOKEN, FakeDaemon, Fault
from testkit.frontend import Frontend, make_settings, receive_all

ROUTES = [
    "/crawl",
    "/api/crawl",
    "/api/crawl/stop",
    "/api/index/checkpoint",
    "/api/index/compact",
    "/api/content/gc",
]
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def local(run_dir: Path) -> Iterator[tuple[Frontend, FakeDaemon]]:
    with (
        FakeDaemon(run_dir, admin_mode="local", token="") as daemon,
        Frontend(make_settings(run_dir, admin="local")) as frontend,
    ):
        yield frontend, daemon


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("credential", [None, "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer " + "x" * 2_000])
def test_wrong_credential_is_401(http: httpx.Client, route: str, credential: str | None) -> None:
    """J96: whatever the body; and nothing about the body is told."""
    headers = {"Authorization": credential} if credential else {}
    headers |= {"Content-Type": "application/json", "Accept": "text/html"}
    answer = http.post(route, content=b"{not json", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["error"] == "unauthenticated"


def test_no_other_route_changes_anything(http: httpx.Client) -> None:
    """J95."""
    from jird_web.app import ROUTES as ALL

    posts = [route.path for route in ALL if "POST" in (route.methods or ())]  # type: ignore[attr-defined]
    assert sorted(posts) == sorted(ROUTES)
    for path in ("/", "/search", "/api/status", "/api/search"):
        assert http.post(path, headers=BEARER).status_code == 405
    for path in ROUTES:
        assert http.get(path, headers=BEARER).status_code == 405


def test_search_status_and_health_stay_public(http: httpx.Client) -> None:
    """J98."""
    for path in ("/search?q=x", "/api/search?q=x", "/api/status", "/healthz", "/readyz", "/metrics", "/"):
        assert http.get(path).status_code == 200


def test_home_hides_its_form_where_a_token_is_asked_for(http: httpx.Client) -> None:
    """J97."""
    assert "/crawl" not in http.get("/").text
    assert "/api/index/compact" not in http.get("/stats").text


def test_crawl_starts_with_the_token(http: httpx.Client, daemon: FakeDaemon) -> None:
    body = {"url": "https://docs.test/", "max_depth": 0, "max_pages": 5, "scope": "open", "delay_ms": 1_500}
    answer = http.post("/api/crawl", json=body, headers=BEARER)
    assert (answer.status_code, answer.json()["crawl_id"]) == (202, 4)
    assert "docs.test" not in answer.text
    request = daemon.calls("StartCrawl")[0].request
    assert list(request.seeds) == ["https://docs.test/"]
    assert (request.max_depth, request.max_pages, request.scope) == (0, 5, 3)
    assert (request.delay.seconds, request.delay.nanos) == (1, 500_000_000)


def test_form_takes_seeds_one_a_line(http: httpx.Client, daemon: FakeDaemon) -> None:
    data = {"seeds": "https://a.test/\r\nhttps://b.test/\r\n", "max_depth": "", "max_pages": "7"}
    assert http.post("/crawl", data=data, headers=BEARER).status_code == 202
    request = daemon.calls("StartCrawl")[0].request
    assert list(request.seeds) == ["https://a.test/", "https://b.test/"]
    assert not request.HasField("max_depth")


def test_maintenance_answers_with_generations_and_no_path(http: httpx.Client) -> None:
    """J90, J92, J93, J94."""
    for route in ("/api/index/checkpoint", "/api/index/compact"):
        data = http.post(route, headers=BEARER).json()
        assert data == {"ok": True, "generation": 17, "checkpoint_generation": 17, "segments": 1, "documents": 3_214}
    assert http.post("/api/content/gc", headers=BEARER).json() == {"ok": True, "removed_blobs": 3, "freed_bytes": 4_096}
    assert http.post("/api/crawl/stop", headers=BEARER).json() == {"ok": True, "stopped": [4]}
    assert http.post("/api/crawl/stop", json={"run_id": 99}, headers=BEARER).status_code == 404


def test_collection_during_a_crawl_is_409(http: httpx.Client, daemon: FakeDaemon) -> None:
    """J93."""
    daemon.faults["CollectGarbage"] = Fault(grpc.StatusCode.FAILED_PRECONDITION, "CRAWL_RUNNING", "a crawl is running")
    answer = http.post("/api/content/gc", headers=BEARER)
    assert (answer.status_code, answer.json()["reason"]) == (409, "CRAWL_RUNNING")
    assert answer.json()["message"] == "a crawl is running; stop it first"  # search.sock tells the reason alone


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{}", "NO_SEEDS"),
        (b"[]", "BAD_JSON"),
        (b"{", "BAD_JSON"),
        (b"[" * 20_000, "BAD_JSON"),
        (b'{"url": "https://a.test/", "max_depth": -1}', "BAD_NUMBER"),
        (b'{"url": "https://a.test/", "max_depth": true}', "BAD_NUMBER"),
        (b'{"url": "https://a.test/", "scope": "world"}', "BAD_SCOPE"),
        (b'{"url": "https://a.test/", "name": 5}', "BAD_VALUE"),
        (json.dumps({"url": "https://a.test/" + "x" * 4_096}).encode(), "SEED_TOO_LONG"),
        (json.dumps({"seeds": ["https://a.test/"] * 1_001}).encode(), "TOO_MANY_SEEDS"),
        (b'{"url": "http://a.test/"}', "URL_SCHEME"),
        (rb'{"url": "https://a.test/\ud800"}', "BAD_JSON"),
        (rb'{"url": "https://a.test/", "name": "\udc00"}', "BAD_JSON"),
    ],
)
def test_malformed_crawl_is_400_with_its_reason(http: httpx.Client, body: bytes, reason: str) -> None:
    """J104, J43."""
    answer = http.post("/api/crawl", content=body, headers={**BEARER, "Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)


def test_seed_of_4096_characters_is_passed_on(http: httpx.Client) -> None:
    """J104."""
    seed = "https://a.test/" + "x" * (4_096 - len("https://a.test/"))
    assert http.post("/api/crawl", json={"url": seed}, headers=BEARER).status_code == 202


def test_other_media_type_is_415(http: httpx.Client) -> None:
    answer = http.post("/api/crawl", content=b"<x/>", headers={**BEARER, "Content-Type": "text/xml"})
    assert answer.status_code == 415


@pytest.mark.parametrize("route", ROUTES)
def test_body_above_64_kib_is_413_before_it_is_decoded(http: httpx.Client, daemon: FakeDaemon, route: str) -> None:
    """J102: with its length declared, and in chunks."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert http.post(route, content=b"u" * 65_537, headers=form).status_code == 413
    chunks = (b"u" * 8_192 for _ in range(9))
    assert http.post(route, content=chunks, headers=form).status_code == 413
    assert daemon.seen == []


def test_without_a_configured_token_the_routes_are_403(http: httpx.Client, daemon: FakeDaemon) -> None:
    daemon.token = ""
    for route in ROUTES:
        answer = http.post(route, json={"url": "https://a.test/"}, headers=BEARER)
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")


def test_off_refuses_without_asking_the_daemon(run_dir: Path) -> None:
    with FakeDaemon(run_dir) as daemon, Frontend(make_settings(run_dir, admin="off")) as frontend:
        for route in ROUTES:
            answer = frontend.http.post(route, headers=BEARER)
            assert (answer.status_code, answer.json()["reason"]) == (403, "ADMIN_OFF")
        assert daemon.seen == []


def test_person_at_this_machine_needs_no_token(local: tuple[Frontend, FakeDaemon]) -> None:
    """J100."""
    frontend, daemon = local
    assert 'action="/crawl"' in frontend.http.get("/").text
    origin = f"http://127.0.0.1:{frontend.port}"
    browser = {"Origin": origin, "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    answer = frontend.http.post("/crawl", data={"url": "https://docs.test/"}, headers=browser)
    assert (answer.status_code, answer.headers["location"]) == (303, "/stats?refresh=1")
    assert daemon.calls("StartCrawl")[0].metadata["jird-admin-local"] == "1"
    assert frontend.http.post("/api/index/checkpoint").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "192.0.2.1"},
        {"X-Real-IP": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"Via": "1.1 proxy"},
        {"X-Forwarded-Prefix": "/search"},
        {"X_Forwarded_For": "192.0.2.1"},
        {"X-Forwarded": "for=192.0.2.1"},
        {"X-Client-IP": "192.0.2.1"},
        {"True-Client-IP": "192.0.2.1"},
        {"CF-Ray": "1"},
        {"X-Cluster-Client-IP": "192.0.2.1"},
        {"X-Original-URL": "/"},
        {"Host": "attacker.example"},
        {"Host": "127.0.0.1.attacker.example"},
        {"Host": "192.0.2.1:8890"},
        {"Origin": "https://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_whoever_only_seems_to_be_local_is_403(local: tuple[Frontend, FakeDaemon], headers: dict[str, str]) -> None:
    """J100: a proxy on this machine, a page of another site, or a rebound name does not open admin."""
    frontend, daemon = local
    for route in ROUTES:
        answer = frontend.http.post(route, json={"url": "https://a.test/"}, headers=headers)
        assert (answer.status_code, answer.json()["reason"]) == (403, "NOT_LOCAL")
    assert {call.method for call in daemon.seen} == {"GetStatus"}
    if "Origin" not in headers and "Sec-Fetch-Site" not in headers:
        assert 'action="/crawl"' not in frontend.http.get("/", headers=headers).text


def test_proxy_that_adds_no_header_is_told_by_its_http_1_0(local: tuple[Frontend, FakeDaemon]) -> None:
    """J100: nginx with `proxy_pass http://127.0.0.1:8890;` alone sends that address as Host, and HTTP/1.0."""
    frontend, daemon = local
    with frontend.connect() as connection:
        connection.sendall(b"POST /api/index/compact HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n" % frontend.port)
        assert b" 403 " in receive_all(connection)
    assert {call.method for call in daemon.seen} == {"GetStatus"}


def test_configured_token_is_asked_for_in_local_mode_too(local: tuple[Frontend, FakeDaemon]) -> None:
    """J96: bearer token where one is set."""
    frontend, daemon = local
    daemon.token = TOKEN
    daemon.admin_mode = "token"
    assert frontend.http.post("/api/index/checkpoint").status_code == 401
    assert frontend.http.post("/api/index/checkpoint", headers=BEARER).status_code == 200
    assert 'action="/crawl"' not in frontend.http.get("/").text


def test_only_who_may_begin_a_crawl_sees_which_sites_wait(local: tuple[Frontend, FakeDaemon]) -> None:
    """J82: the public statistics name no site that is being crawled."""
    frontend, daemon = local
    queue = OriginQueue(origin="https://slow.test", queued_count=12_345, waiting_reason="failing")
    daemon.watch = [WatchCrawlRunResponse(run=daemon.run, origins=[queue])]
    page = frontend.http.get("/stats").text
    assert '<th scope="row">https://slow.test</th><td class="num">12,345</td><td>it gives no usable answer</td>' in page
    assert "slow.test" not in frontend.http.get("/stats", headers={"X-Forwarded-For": "192.0.2.7"}).text


def test_refused_seed_is_a_page_for_a_browser(local: tuple[Frontend, FakeDaemon]) -> None:
    frontend, _ = local
    answer = frontend.http.post("/crawl", data={"url": "http://docs.test/"}, headers={"Accept": "text/html"})
    assert answer.status_code == 400
    assert "http://docs.test/: only https is allowed" in answer.text
