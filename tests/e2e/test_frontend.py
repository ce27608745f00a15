"""The frontend and jirdctl in front of the real daemon: crawl, search through HTTP, administer, lose the daemon."""

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from testkit.daemon import FAST, Daemon, Web
from testkit.origin import Origin, Reply
from testkit.processes import wait_until

TOKEN = "an-admin-token-of-more-than-32-characters"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
PAGES = 30


@dataclass
class Site:
    """Everything that runs."""

    origin: Origin
    daemon: Daemon
    web: Web

    def ctl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "jird_cli", "--run-dir", str(self.daemon.run_dir), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def get(self, path: str, **fields: Any) -> Any:
        return self.web.client.get(path, params=fields).json()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with Origin(folder / "origin") as origin:
        origin.add_host("file.fault.test")
        links = "".join(f"<a href='/burrow/{number}'>burrow {number}</a> " for number in range(PAGES))
        origin.add("/", Reply.html(f"<html lang=en><title>All burrows</title><body>{links}"))
        for number in range(PAGES):
            text = f"<html lang=en><title>Burrow {number}</title><body><p>A jird digs burrow number {number}.</p>"
            origin.add(f"/burrow/{number}", Reply.html(text + "<img src='/jird.png' alt='a jird at its burrow'>"))
        settings = {"web": {"accepts_per_second_per_ip": 10_000}}
        with Daemon(folder, origin.settings(), FAST, settings, admin_token=TOKEN) as daemon, Web(daemon) as web:
            site = Site(origin, daemon, web)
            done = site.ctl("crawl", "start", origin.url("/"), "--wait", "--json")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["counts"]["ingested_count"] == PAGES + 1
            wait_until(lambda: site.get("/api/search", q="jird")["match_count"] == PAGES, "all pages can be found")
            yield site


def test_crawled_pages_are_found_page_by_page(site: Site) -> None:
    """J74-J78, F111."""
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = site.get("/api/search", q="jird digs", limit=7, offset=offset)
        found += [hit["url"] for hit in answer["results"]]
        offset = answer["next_offset"]
    assert sorted(found) == sorted(site.origin.url(f"/burrow/{number}") for number in range(PAGES))


def test_page_marks_what_matched(site: Site) -> None:
    text = site.web.client.get("/search", params={"q": '"burrow number 7"'}).text
    assert "<mark>" in text
    assert 'lang="en"' in text
    assert site.origin.url("/burrow/7").removeprefix("https://").partition("/")[0] in text


def test_searxng_finds_the_same(site: Site) -> None:
    """U92."""
    answer = site.get("/search", format="json", search="burrows", page=0)
    assert answer["list"][0]["url"] == answer["results"][0]["url"]


@pytest.mark.parametrize(
    ("query", "status"), [("x" * 1_025, 414), ("a\x00b", 400), ("", 400), ("jird", 200), ("\N{ZERO WIDTH SPACE}", 200)]
)
def test_query_that_cannot_be_is_refused(site: Site, query: str, status: int) -> None:
    """J103."""
    assert site.web.client.get("/api/search", params={"q": query}).status_code == status


def test_health_readiness_and_metrics_agree_with_the_daemon(site: Site) -> None:
    """J85-J89."""
    assert site.web.client.get("/healthz").status_code == 200
    assert site.get("/readyz")["ok"] is True
    assert f"\njird_index_documents {PAGES + 1}.0\n" in site.web.client.get("/metrics").text
    assert site.web.client.get("/stats").status_code == 200


@pytest.mark.parametrize(
    "route",
    ["/crawl", "/api/crawl", "/api/crawl/stop", "/api/index/checkpoint", "/api/index/compact", "/api/content/gc"],
)
def test_token_is_compared_by_the_daemon(site: Site, route: str) -> None:
    """J96, J98."""
    assert site.web.client.post(route).status_code == 401
    assert site.web.client.post(route, headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_maintenance_through_http_and_jirdctl(site: Site) -> None:
    """J90, J92, J93, J94."""
    for route in ("/api/crawl/stop", "/api/index/checkpoint", "/api/index/compact", "/api/content/gc"):
        answer = site.web.client.post(route, headers=BEARER)
        assert (answer.status_code, answer.json()["ok"]) == (200, True), answer.text
    for command in (["index", "checkpoint"], ["index", "compact"], ["index", "verify"], ["content", "gc"]):
        done = site.ctl(*command, "--json")
        assert done.returncode == 0, (command, done.stderr)
    assert site.get("/api/status")["segments"] == 1


@pytest.mark.parametrize(
    "seed", ["http://docs.test/", "https://127.0.0.1/", "https://10.0.0.1/", "ftp://a.test/", "https://a.test:99999/"]
)
def test_seed_that_is_not_allowed_is_refused_with_its_reason(site: Site, seed: str) -> None:
    """J43, J44."""
    done = site.ctl("crawl", "start", seed, "--json")
    error = json.loads(done.stderr)
    assert (done.returncode, error["error"]) == (1, "failed")
    answer = site.web.client.post("/api/crawl", json={"url": seed}, headers=BEARER)
    assert (answer.status_code, answer.json()["reason"]) == (400, error["reason"])
    assert answer.json()["message"]


def test_every_command_answers_in_json(site: Site) -> None:
    url = site.origin.url("/burrow/7")
    for command in (
        ["status"], ["crawl", "list"], ["crawl", "show", "1"], ["crawl", "watch", "1"], ["search", "jird"],
        ["page", "show", url, "--text"], ["log", "query", "--url", url], ["crawl", "stop", "--all"],
        ["log", "prune", "--keep-latest", "3"], ["debug", "url", url],
    ):  # fmt: skip
        done = site.ctl(*command, "--json")
        assert done.returncode == 0, (command, done.stderr)
        assert json.loads(done.stdout), command
        assert site.ctl(*command).stdout.strip(), command


def test_crawl_log_is_filtered(site: Site) -> None:
    done = site.ctl("log", "query", "--exit-code", "file_ingested", "--limit", "1000", "--json")
    entries = json.loads(done.stdout)["entries"]
    assert sum(entry["crawl_type"] == "file" for entry in entries) == PAGES + 1  # beside robots.txt
    assert {entry["exit_code"] for entry in entries} == {"file_ingested"}
    assert json.loads(site.ctl("log", "query", "--exit-code", "44", "--json").stdout) == {"entries": []}


def test_budget_that_ends_a_crawl_is_told(site: Site) -> None:
    """Y26."""
    done = site.ctl("crawl", "start", site.origin.url("/burrow/1"), site.origin.url("/"), "--max-pages", "1", "--wait")
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "budget" in done.stdout


def test_a_crawl_file_from_terminal_to_search(site: Site, tmp_path: Path) -> None:
    """U5, U113, U114, U110, J120: policies, sitemap and schedule, through confined workers; `debug url` explains."""
    host = "file.fault.test"
    at = functools.partial(site.origin.url, host=host)
    site.origin.set_robots(Reply.text(f"Sitemap: {at('/map.xml')}\n"), host=host)
    entries = "".join(f"<url><loc>{at(path)}</loc></url>" for path in ("/mapped", "/issues/1", "/list?page=2&x=1"))
    site.origin.add("/map.xml", Reply(body=f"<urlset>{entries}</urlset>".encode()), host=host)
    for path in ("/", "/mapped"):
        site.origin.add(path, Reply.html(f"<title>{path}</title><p>hoopoes at {path}"), host=host)
    path = tmp_path / "crawl.toml"
    path.write_text(
        f'name = "hoopoes"\nseeds = ["{at("/")}"]\nrecrawl_interval = "4 weeks"\n'
        '[[do_not_crawl]]\nreason = "the tracker"\nif.url.path.has_prefix = "/issues"\n'
        '[[url_query_paramters]]\nif = "always"\nallow = ["page"]\n'
    )
    done = site.ctl("crawl", "start", "--file", str(path), "--wait", "--json")
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert (run["counts"]["ingested_count"], run["counts"]["sitemap_count"]) == (2, 1)
    assert run["next_recrawl_time"]
    wait_until(lambda: site.get("/api/search", q="hoopoes")["match_count"] == 2, "what the sitemap named is found")
    for url, rule in ((at("/issues/1"), "do_not_crawl"), (at("/list?page=2&x=1"), "query")):
        done = site.ctl("debug", "url", url, "--run", str(run["run_id"]), "--json")
        assert json.loads(done.stdout)["deciding"]["rule"] == rule
    assert site.ctl("crawl", "stop", str(run["run_id"])).returncode == 0


def test_frontend_outlasts_its_daemon(site: Site, tmp_path: Path) -> None:
    """J85: 503 while the daemon is away, searches again when it is back; nothing of what was crawled is lost."""
    site.daemon.kill()
    answer = site.web.client.get("/search", params={"q": "jird"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert site.web.client.get("/healthz").status_code == 200
    assert site.ctl("status").returncode == 4
    site.daemon.start()
    wait_until(lambda: site.web.client.get("/readyz").status_code == 200, "the daemon is found again")
    assert site.get("/api/search", q="jird digs")["match_count"] == PAGES
