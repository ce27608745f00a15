"""Behind a reverse proxy: whose word counts, and under which path."""

from ipaddress import ip_network
from pathlib import Path

import pytest

from jird_web.client_address import forwarded_client
from testkit.fake_daemon import FakeDaemon
from testkit.frontend import Frontend, make_settings

TRUSTED = (ip_network("127.0.0.1/32"), ip_network("10.0.0.0/8"))


@pytest.mark.parametrize(
    ("header", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("203.0.113.9, 192.0.2.7", "192.0.2.7"),  # what stands further left was written by the client
        ("192.0.2.7, 10.0.0.5", "192.0.2.7"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("", "127.0.0.1"),
        ("unknown", "127.0.0.1"),
        ("192.0.2.7, garbage, 10.0.0.5", "10.0.0.5"),
    ],
)
def test_nearest_address_that_is_no_proxy_is_the_client(header: str, client: str) -> None:
    assert forwarded_client(header, "127.0.0.1", TRUSTED) == client


@pytest.mark.parametrize("prefix", ["", "/find", "/a/b"])
def test_links_stand_under_the_prefix(run_dir: Path, prefix: str) -> None:
    with FakeDaemon(run_dir), Frontend(make_settings(run_dir, path_prefix=prefix)) as frontend:
        for path in ("/search?q=x", f"{prefix}/search?q=x"):
            text = frontend.http.get(path).text
            assert f'href="{prefix}/search?q=x&amp;offset=20"' in text
            assert f'href="{prefix}/static/style.css?v=' in text
            assert f'action="{prefix}/search"' in text
        assert frontend.http.get(f"{prefix}/").status_code == 200
        assert frontend.http.get(f"{prefix}/static/style.css").status_code == 200
        assert frontend.http.get(f"{prefix}/api/search").json()["reason"] == "QUERY_MISSING"


def test_outside_address_is_taken_from_a_trusted_proxy_or_the_settings(run_dir: Path) -> None:
    forwarded = {"X-Forwarded-Proto": "https", "Host": "find.example"}
    with FakeDaemon(run_dir):
        with Frontend(make_settings(run_dir, trusted_proxies=TRUSTED)) as frontend:
            assert "https://find.example/search?q=" in frontend.http.get("/opensearch.xml", headers=forwarded).text
        with Frontend(make_settings(run_dir)) as frontend:
            assert "http://find.example/search?q=" in frontend.http.get("/opensearch.xml", headers=forwarded).text
        with Frontend(make_settings(run_dir, public_url="https://our.example", path_prefix="/find")) as frontend:
            assert "https://our.example/find/search?q=" in frontend.http.get("/opensearch.xml").text
