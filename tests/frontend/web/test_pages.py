"""Home, statistics, static files, headers."""

import re

import httpx
import pytest

from testkit.fake_daemon import FakeDaemon

ROUTES = ["/", "/search?q=x", "/search?q=nothing", "/search", "/images?q=x", "/stats", "/nope"]


@pytest.mark.parametrize("route", [*ROUTES, "/api/search?q=x", "/healthz", "/static/style.css", "/metrics"])
def test_every_answer_carries_the_security_headers(http: httpx.Client, route: str) -> None:
    """U86."""
    headers = http.get(route).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "strict-origin"
    assert headers["permissions-policy"] == "interest-cohort=()"
    policy = headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'"):
        assert part in policy
    assert "form-action 'self'; frame-ancestors 'none'" in policy
    assert "server" not in headers


def test_static_files_are_cached_as_recommended(http: httpx.Client) -> None:
    """U86, U89."""
    answer = http.get("/static/style.css")
    expected = "max-age=3600, min-fresh=600, stale-if-error=86400, must-revalidate"
    assert answer.headers["cache-control"] == expected
    again = http.get("/static/style.css", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("route", ROUTES)
def test_page_needs_no_script_and_nothing_from_elsewhere(http: httpx.Client, route: str) -> None:
    """U87: one deferred script of our own; no inline script or style that the policy would refuse."""
    text = http.get(route).text
    assert re.findall(r"<script[^>]*>", text) == re.findall(r'<script src="/static/jird\.js\?v=\w+" defer>', text)
    assert not re.search(r"\sstyle=|\son\w+=|<style", text)
    loaded = re.findall(r'<(?:link|script)[^>]*(?:href|src)="([^"]+)"', text)
    assert all(address.startswith("/") for address in loaded)
    assert '<html lang="en">' in text
    assert '<meta name="viewport"' in text


@pytest.mark.parametrize("route", ROUTES)
def test_page_is_well_formed(http: httpx.Client, route: str) -> None:
    """Every element that is opened is closed, and every input has a label."""
    text = http.get(route).text
    for name in ("main", "form", "nav", "header", "footer", "ol", "li", "section", "details", "dl", "h1", "p", "div"):
        assert len(re.findall(rf"<{name}[\s>]", text)) == text.count(f"</{name}>"), name
    assert len(re.findall(r"<h1[\s>]", text)) <= 1 or route == "/stats"
    assert 'for="q"' in text or 'id="q"' not in text


def test_home_shows_how_much_can_be_found(http: httpx.Client) -> None:
    """J42."""
    answer = http.get("/")
    assert answer.status_code == 200
    assert "3,214 pages can be found, and growing" in answer.text
    assert 'name="q" type="search"' in answer.text


def test_home_with_a_query_is_a_search(http: httpx.Client) -> None:
    answer = http.get("/?q=gerbil")
    assert (answer.status_code, answer.headers["location"]) == (307, "/search?q=gerbil")


def test_statistics_show_counts_processes_and_limits(http: httpx.Client) -> None:
    text = http.get("/stats").text
    for part in ("3,214", "12,345", "6.3 MB", "running", "ingest", "max_query_chars", "search_page_window"):
        assert part in text
    assert 'http-equiv="refresh" content="5"' in http.get("/stats?refresh=1").text


def test_unknown_route_and_method_are_told(http: httpx.Client) -> None:
    assert http.get("/nope").status_code == 404
    assert "There is no such page" in http.get("/nope").text
    assert http.get("/api/nope").json() == {
        "error": "not_found", "reason": "NOT_FOUND", "message": "there is no such page",
    }  # fmt: skip
    answer = http.get("/api/content/gc")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert http.get("/static/../app.py").status_code == 404
    assert http.get("/static/%2e%2e/app.py").status_code == 404


def test_crawlers_are_kept_from_result_pages(http: httpx.Client) -> None:
    """F113."""
    assert "Disallow: /search" in http.get("/robots.txt").text


def test_lost_daemon_is_503_and_health_still_answers(http: httpx.Client, daemon: FakeDaemon) -> None:
    """J85, J89: pages and the API say that they will be back; liveness does not depend on the daemon."""
    daemon.stop()
    try:
        for route in ("/", "/search?q=x", "/stats"):
            answer = http.get(route)
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "2"
            assert "<h1" in answer.text
            assert "Searches cannot be answered just now" in answer.text
        answer = http.get("/api/search?q=x")
        assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        assert http.get("/healthz").json() == {"ok": True}
        ready = http.get("/readyz")
        assert (ready.status_code, ready.json()["message"]) == (503, "the daemon cannot be asked")
        assert str(daemon.run_dir) not in ready.text
        metrics = http.get("/metrics")
        assert metrics.status_code == 503
        assert "\njird_up 0.0\n" in metrics.text
        assert "jird_index_documents" not in metrics.text
    finally:
        daemon.start()
    wait_until_ready(http)


def test_loss_and_return_of_the_daemon_are_logged_once(
    http: httpx.Client, daemon: FakeDaemon, caplog: pytest.LogCaptureFixture
) -> None:
    """F127: not once for each request."""
    wait_until_ready(http)
    caplog.clear()
    daemon.stop()
    for _ in range(3):
        assert http.get("/readyz").status_code == 503
    daemon.start()
    wait_until_ready(http)
    messages = [record.message for record in caplog.records if record.name == "jird_web"]
    assert messages == ["daemon.lost reason=UNAVAILABLE: pages answer 503 until it is back", "daemon.back"]


def wait_until_ready(http: httpx.Client) -> None:
    """The frontend looks for the daemon again within half a second."""
    for _attempt in range(1_000):
        if http.get("/readyz").status_code == 200:
            return
    pytest.fail("the daemon was not found again")
