"""`jirdctl crawl start` from a crawl file (U5, U106-U119)."""

from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict

from jird.v1.crawl_service_pb2 import CRAWL_QUERY_URLS_POLICY, CrawlScope
from jird_cli.__main__ import run
from testkit.fake_daemon import FakeDaemon

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "crawl.toml"
Captured = pytest.CaptureFixture[str]


def ctl(daemon: FakeDaemon, *arguments: str | Path) -> int:
    return run(["--run-dir", str(daemon.run_dir), "crawl", "start", *map(str, arguments)])


def test_a_file_says_everything(daemon: FakeDaemon, tmp_path: Path) -> None:
    """U5, U112, U113, U114, U115: what it does not say about query strings is that policies decide."""
    assert ctl(daemon, "--file", EXAMPLE) == 0
    request = daemon.calls("StartCrawl")[0].request
    assert list(request.seeds) == ["https://docs.example.org/", "https://wiki.example.net/Main_Page"]
    assert (request.max_pages, request.max_depth, request.delay.ToMilliseconds()) == (200, 8, 1_500)
    assert (request.recrawl_interval.ToSeconds(), request.scope) == (2_419_200, CrawlScope.CRAWL_SCOPE_SEEDS)
    rules = request.rules
    assert rules.query_urls == CRAWL_QUERY_URLS_POLICY
    assert rules.user_agent.startswith("example-crawler ")
    assert list(rules.skip_url_patterns) == ["*/archive/*.tar.gz"]
    assert MessageToDict(rules.do_not_crawl[0].criterium) == {
        "and": [{"url": {"host": {"equals": "wiki.example.net"}}}, {"url": {"path": {"has_prefix": "/issues"}}}]
    }
    assert list(rules.url_query_parameters[0].allow) == ["page"]


def test_options_win_over_the_file(daemon: FakeDaemon) -> None:
    """U109, U110, U111, U112, U119."""
    options = ["--max-commands", "7", "--delay", "2s", "--user-agent", "x-bot", "--name", "n", "--force-recrawl"]
    more = ["--recrawl-interval", "never", "--scope", "open", "--max-depth", "1"]
    assert ctl(daemon, "--file", EXAMPLE, "https://other.example/", *options, *more) == 0
    request = daemon.calls("StartCrawl")[0].request
    assert (list(request.seeds), request.max_pages, request.name) == (["https://other.example/"], 7, "n")
    assert (request.delay.ToMilliseconds(), request.max_depth, request.scope) == (2_000, 1, 3)
    assert (request.recrawl_interval.ToSeconds(), request.force_recrawl) == (0, True)
    assert request.rules.user_agent == "x-bot"


def test_database_file_can_be_ignored(daemon: FakeDaemon, tmp_path: Path) -> None:
    """U107."""
    path = tmp_path / "c.toml"
    path.write_text('seeds = ["https://a.example/"]\ndatabase_file = "search/main"\n')
    assert ctl(daemon, "--file", path) == 0
    assert ctl(daemon, "--file", path, "--ignore-db-name-from-config") == 0
    assert [call.request.state_path for call in daemon.calls("StartCrawl")] == ["search/main", ""]


def test_policy_files_do_without_a_crawl_file(daemon: FakeDaemon, tmp_path: Path) -> None:
    """U118."""
    path = tmp_path / "policies.toml"
    path.write_text('[[do_not_crawl]]\nif = "never"\n')
    assert ctl(daemon, "https://a.example/", "--policy-file", path, "--policy-file", EXAMPLE) == 0
    request = daemon.calls("StartCrawl")[0].request
    assert (len(request.rules.do_not_crawl), list(request.seeds)) == (3, ["https://a.example/"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_depth = 33\nseeds = ['https://a.example/']", "c.toml:1: max_depth is 33; it must be 0 to 32"),
        ("", "name one URL or more, or a --file with seeds"),
    ],
)
def test_a_faulty_file_is_wrong_usage(
    daemon: FakeDaemon, tmp_path: Path, capsys: Captured, text: str, words: str
) -> None:
    """U106: nothing is sent, and the place of the fault is told."""
    path = tmp_path / "c.toml"
    path.write_text(text)
    assert ctl(daemon, "--file", path) == 2
    assert words in capsys.readouterr().err
    assert daemon.calls("StartCrawl") == []


def test_a_bad_interval_is_wrong_usage(daemon: FakeDaemon, capsys: Captured) -> None:
    """U110."""
    assert ctl(daemon, "https://a.example/", "--recrawl-interval", "soon") == 2
    assert '"4 weeks"' in capsys.readouterr().err
