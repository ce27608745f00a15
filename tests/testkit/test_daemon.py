"""The daemon as tests start it: real processes, a crawl over TLS, a search; and its readiness and end."""

from pathlib import Path

from testkit.daemon import FAST, Daemon, Web
from testkit.origin import Origin, Reply


def test_daemon_crawls_an_origin_and_finds_its_page(origin: Origin, tmp_path: Path) -> None:
    origin.add("/", Reply.html("<title>Home</title><a href='/gerbils'>on</a>"))
    origin.add("/gerbils", Reply.html("<title>Gerbils</title><p>They drum with their feet.</p>"))
    with Daemon(tmp_path, origin.settings(), FAST) as daemon, Web(daemon) as web:
        run = daemon.crawl(origin.url("/"))
        assert run.counts.ingested_count == 2
        daemon.wait_for_documents(2)
        assert [hit.document.url for hit in daemon.search("drum feet").hits] == [origin.url("/gerbils")]
        assert "drum" in web.client.get("/search", params={"q": "drum"}).text
        assert {"serve", "ingest", "parse-0"} <= daemon.pids().keys()


def test_stop_right_after_readiness_ends_with_zero(tmp_path: Path) -> None:
    """J45: ingest may still be opening when serve is ready; a stop at that moment is an ordered one all the same."""
    daemon = Daemon(tmp_path)
    daemon.start()
    assert daemon.stop() == 0, daemon.program.log
