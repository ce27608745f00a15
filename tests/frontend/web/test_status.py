"""Status, readiness and metrics for programs."""

from pathlib import Path

import httpx

from testkit.fake_daemon import TOKEN, FakeDaemon


def test_status_has_everything_that_operators_watch(http: httpx.Client) -> None:
    """J79, J80, J159."""
    data = http.get("/api/status").json()
    assert data["crawler"]["state"] == "running"
    assert (data["generation"], data["checkpoint_generation"], data["segments"]) == (17, 15, 5)
    assert (data["changed_documents"], data["changed_document_limit"]) == (120, 1_000)
    assert (data["query_engine"], data["core_resident"]) == ("hybrid", False)
    assert data["compaction"] == {"running": True, "failed": False}
    assert (data["source"], data["dirty"]) == ("manifest+volatile", True)
    assert (data["documents"], data["terms"], data["terms_exact"]) == (3_214, 91_000, False)
    assert data["search_page_window"] == 100_000


def test_status_shows_the_frontends_own_limits(http: httpx.Client) -> None:
    """J81."""
    limits = http.get("/api/status").json()["http"]
    assert limits["authentication"] == {"mode": "token", "token_configured": True}
    assert (limits["max_connections"], limits["max_connections_per_ip"]) == (128, 16)
    timeouts = [limits[f"{name}_timeout_ms"] for name in ("idle", "header", "body")]
    assert timeouts == [5_000, 15_000, 30_000]
    assert (limits["max_body_bytes"], limits["max_query_chars"], limits["max_seed_chars"]) == (65_536, 1_024, 4_096)
    assert (limits["max_limit"], limits["max_offset"], limits["max_header_bytes"]) == (100, 1_000, 16_384)


def test_status_scopes_the_crawl_to_its_run(http: httpx.Client) -> None:
    """J83, J84."""
    crawl = http.get("/api/status").json()["crawl"]
    assert (crawl["crawl_id"], crawl["state"], crawl["max_frontier"]) == (4, "running", 1_000_000)
    assert crawl["frontier"]["queued"] == 30
    assert crawl["not_modified_this_run"] == 0
    assert crawl["sitemaps_this_run"] == 2


def test_status_tells_how_the_latest_runs_ended(http: httpx.Client) -> None:
    """J83: to programs, and to a person who looks for the crawl that was just begun."""
    (ended,) = http.get("/api/status").json()["recent_crawls"]
    assert (ended["crawl_id"], ended["state"], ended["reason"]) == (3, "completed", "drained")
    names = ["connection_failed", "server_internal_error", "rate_limited", "file_not_found"]  # the most frequent first
    assert list(ended["endings"]) == names
    assert ended["endings"]["connection_failed"] == 10
    page = http.get("/stats").text
    assert "completed (drained)" in page
    assert "connection_failed 10, server_internal_error 3, rate_limited 2, and 1 more" in page


def test_statistics_show_pace_budget_and_waiting_sites(http: httpx.Client) -> None:
    crawl = http.get("/api/status").json()
    assert (crawl["crawler"]["requests_per_second"], crawl["crawler"]["waiting_origins"]) == (2.5, {"blamed": 2})
    assert (crawl["crawl"]["budget_left"], crawl["crawl"]["active_s"], crawl["crawl"]["scope_reached"]) == (
        988,
        6,
        False,
    )
    page = http.get("/stats").text
    assert "2.5 requests a second, 6 in flight. 2 sites wait: it answered 401 or 403." in page
    assert '<td class="num">988</td>' in page


def test_status_shows_no_secret_seed_or_path(http: httpx.Client, daemon: FakeDaemon) -> None:
    """J82, J99."""
    text = http.get("/api/status").text
    assert TOKEN not in text
    assert "docs.test" not in text
    assert str(daemon.run_dir) not in text


def test_ready_names_generation_and_engine(http: httpx.Client, daemon: FakeDaemon) -> None:
    """J86."""
    answer = http.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "generation": 7, "query_engine": "hybrid"})
    daemon.is_ready = False
    answer = http.get("/readyz")
    assert (answer.status_code, answer.json()["message"]) == (503, "the last merge failed")


def test_metrics_are_fixed_gauges_with_our_prefix(http: httpx.Client) -> None:
    """J87, J88, J127, J130."""
    answer = http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    assert all(line.startswith("jird_") for line in lines)
    values = dict(line.rsplit(" ", 1) for line in lines)
    expected = {
        "jird_up": 1, "jird_ready": 1, "jird_index_documents": 3_214, "jird_index_terms": 91_000,
        "jird_index_generation": 17, "jird_index_segments": 5, "jird_index_overlay_documents": 120,
        "jird_index_dirty": 1, "jird_index_compaction_running": 1, "jird_crawler_running": 1,
        "jird_crawler_workers": 2, "jird_crawl_frontier_queued": 30, "jird_crawl_not_modified": 0,
        "jird_crawl_max_frontier": 1_000_000, "jird_crawl_sitemaps": 2,
        "jird_robots_cache_origins": 3, "jird_host_deadlines": 11,
    }  # fmt: skip
    assert {name: float(values[name]) for name in expected} == expected
    labelled = [name for name in values if "{" in name and not name.startswith("jird_search_seconds_bucket")]
    assert labelled == []


def test_every_metric_is_documented(http: httpx.Client) -> None:
    """J88: the names are fixed and documented."""
    families = [line.split()[2] for line in http.get("/metrics").text.splitlines() if line.startswith("# TYPE")]
    page = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()
    assert [name for name in families if f"`{name}`" not in page] == []
