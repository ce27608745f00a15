"""Every command of jirdctl against a daemon on real sockets: what it prints, and what it ends with."""

import json
from pathlib import Path

import grpc
import pytest

from jird.v1.crawl_service_pb2 import OriginQueue, WatchCrawlRunResponse
from jird.v1.document_pb2 import CrawlExitCode
from jird_cli.__main__ import run
from testkit.fake_daemon import FakeDaemon, Fault, make_entry, make_run

Captured = pytest.CaptureFixture[str]


def ctl(daemon: FakeDaemon, *arguments: str) -> int:
    return run(["--run-dir", str(daemon.run_dir), *arguments])


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["status"], "index"),
        (["crawl", "start", "https://docs.test/"], "run_id"),
        (["crawl", "stop", "--all"], "runs"),
        (["crawl", "stop", "4"], "runs"),
        (["crawl", "list"], "runs"),
        (["crawl", "show", "4"], "counts"),
        (["search", "gerbil"], "hits"),
        (["debug", "explain", "gerbil"], "plan"),
        (["page", "show", "https://docs.test/page/1"], "document"),
        (["page", "history", "https://docs.test/page/1"], "generations"),
        (["page", "diff", "https://docs.test/page/1"], "hunks"),
        (["index", "checkpoint"], "checkpoint_generation"),
        (["index", "compact"], "state"),
        (["index", "verify"], "faults"),
        (["index", "rebuild"], "state"),
        (["reindex", "--host", "docs.test", "--since", "1d"], "derived_count"),
        (["reindex", "--status"], "derived_count"),
        (["reindex", "--stop"], "is_stopped"),
        (["content", "gc"], "freed_bytes"),
        (["log", "query"], "entries"),
        (["log", "prune", "--keep-latest", "5"], "forgotten_count"),
        (["debug", "sandbox"], "probes"),
        (["debug", "indexiness", "https://docs.test/page/1"], "score"),
        (["debug", "url", "https://docs.test/issues/1"], "verdicts"),
    ],
)
def test_every_command_answers_in_json_and_in_words(
    daemon: FakeDaemon, capsys: Captured, arguments: list[str], key: str
) -> None:
    assert ctl(daemon, *arguments, "--json") == 0
    answer = capsys.readouterr()
    assert key in json.loads(answer.out)
    assert answer.err == ""
    assert ctl(daemon, *arguments) == 0
    words = capsys.readouterr().out
    assert words.strip()
    assert not words.startswith("{")


def test_start_sends_exactly_what_was_asked_for(daemon: FakeDaemon) -> None:
    options = ["--max-depth", "0", "--max-pages", "7", "--scope", "seeds", "--delay", "1.5s", "--name", "two sites"]
    assert ctl(daemon, "crawl", "start", "https://a.test/", "https://b.test/", *options) == 0
    request = daemon.calls("StartCrawl")[0].request
    assert list(request.seeds) == ["https://a.test/", "https://b.test/"]
    assert (request.max_depth, request.max_pages, request.name) == (0, 7, "two sites")
    assert (request.scope, request.delay.seconds, request.delay.nanos) == (2, 1, 500_000_000)


def test_start_leaves_defaults_to_the_daemon(daemon: FakeDaemon) -> None:
    assert ctl(daemon, "crawl", "start", "https://a.test/") == 0
    request = daemon.calls("StartCrawl")[0].request
    assert not any(request.HasField(name) for name in ("max_depth", "max_pages", "delay"))
    assert request.scope == 0


def test_refused_seed_fails_with_its_reason(daemon: FakeDaemon, capsys: Captured) -> None:
    """J43: the daemon's refusal reaches the person in one line."""
    assert ctl(daemon, "crawl", "start", "http://docs.test/") == 1
    assert capsys.readouterr().err == "jirdctl: http://docs.test/: only https is allowed\n"
    assert ctl(daemon, "crawl", "start", "http://docs.test/", "--json") == 1
    answer = json.loads(capsys.readouterr().err)
    assert answer == {"error": "failed", "reason": "URL_SCHEME", "message": "http://docs.test/: only https is allowed"}


@pytest.mark.parametrize(
    ("state", "reason", "expected"),
    [("COMPLETED", "DRAINED", 0), ("COMPLETED", "BUDGET", 3), ("PAUSED", "STOPPED", 3), ("PAUSED", "GUARD", 3)],
)
def test_exit_code_of_a_waited_run_tells_how_it_ended(
    daemon: FakeDaemon, capsys: Captured, state: str, reason: str, expected: int
) -> None:
    """Y26: stopping at a limit is not plain success."""
    daemon.watch = [WatchCrawlRunResponse(run=make_run()), WatchCrawlRunResponse(run=make_run(state, reason))]
    assert ctl(daemon, "crawl", "start", "https://docs.test/", "--wait") == expected
    answer = capsys.readouterr()
    assert reason.lower() in answer.out
    assert "run 4 running: 12 requested, 9 stored, 30 queued" in answer.err  # plain lines without a terminal


def test_run_that_stored_nothing_fails_and_says_why(daemon: FakeDaemon, capsys: Captured) -> None:
    """An unreachable seed is no success (Y26)."""
    entry = make_entry(1, CrawlExitCode.CRAWL_EXIT_CODE_CONNECTION_FAILED)
    entry.http_status, entry.message = 0, "DNS: Domain name not found"
    daemon.entries = [entry]
    daemon.watch = [WatchCrawlRunResponse(run=make_run("COMPLETED", "DRAINED", ingested_count=0, failed_count=1))]
    assert ctl(daemon, "crawl", "start", "https://docs.test/", "--wait") == 1
    answer = capsys.readouterr()
    assert "completed (drained)" in answer.out
    why = "https://docs.test/page/1: connection_failed: DNS: Domain name not found"
    assert f"jirdctl: run 4 stored nothing; the last it met: {why} (" in answer.err
    assert ctl(daemon, "crawl", "watch", "4", "--json") == 1
    assert json.loads(capsys.readouterr().err)["reason"] == "NOTHING_STORED"


def test_progress_says_why_an_origin_waits_and_until_when(daemon: FakeDaemon, capsys: Captured) -> None:
    queue = OriginQueue(origin="https://docs.test", queued_count=7, waiting_reason="blamed")
    queue.next_time.FromJsonString("2026-11-30T20:43:14Z")
    daemon.watch = [
        WatchCrawlRunResponse(run=make_run(), origins=[queue]),
        WatchCrawlRunResponse(run=make_run("COMPLETED", "DRAINED")),
    ]
    assert ctl(daemon, "crawl", "watch", "4") == 0
    assert "(https://docs.test waits until 2026-11-30T20:43:14Z: it answered 401 or 403)" in capsys.readouterr().err


def test_explained_query_shows_plan_tree_and_parts_of_scores(daemon: FakeDaemon, capsys: Captured) -> None:
    assert ctl(daemon, "debug", "explain", "gerbil absent", "--limit", "3", "--url", "https://docs.test/page/1") == 0
    (request,) = (call.request for call in daemon.calls("ExplainQuery"))
    assert (request.query, request.limit, request.url) == ("gerbil absent", 3, "https://docs.test/page/1")
    lines = capsys.readouterr().out.splitlines()
    assert "plan         or, in 2 segments" in lines
    assert "postings     256 decoded, 644 of 900 skipped" in lines
    assert "matches      at least 7" in lines
    assert [line.split() for line in lines if line.startswith("  ")] == [
        ["gerbil", "4", "2.500"], ["absent", "0", "8.250"],
        ["Page", "1", "(120", "words)"], ["part", "frequency", "score"],
        ["gerbil", "3", "1.7500"], ["absent", "-", "-"],
    ]  # fmt: skip
    assert "1. 1.7500  https://docs.test/page/1" in lines


def test_paused_run_says_how_it_goes_on(daemon: FakeDaemon, capsys: Captured) -> None:
    """J166: a restart leaves a run paused; starting its seeds again resumes it (J164)."""
    assert ctl(daemon, "crawl", "show", "4") == 0
    assert "to go on" not in capsys.readouterr().out
    daemon.run = make_run("PAUSED", "RESTART")
    assert ctl(daemon, "crawl", "show", "4") == 0
    assert "to go on       jirdctl crawl start https://docs.test/\n" in capsys.readouterr().out


def test_verified_index_is_said_to_be_sound(daemon: FakeDaemon, capsys: Captured) -> None:
    assert ctl(daemon, "index", "verify") == 0
    assert capsys.readouterr().out.startswith("no damage\n3,214 documents in 1 segment;")


def test_waited_run_in_json_is_one_document(daemon: FakeDaemon, capsys: Captured) -> None:
    daemon.watch = [WatchCrawlRunResponse(run=make_run("COMPLETED", "DRAINED"))]
    assert ctl(daemon, "crawl", "start", "https://docs.test/", "--wait", "--json") == 0
    answer = capsys.readouterr()
    assert json.loads(answer.out)["state"] == "completed"
    assert answer.err == ""


def test_watch_in_json_is_one_line_a_look(daemon: FakeDaemon, capsys: Captured) -> None:
    daemon.watch = [
        WatchCrawlRunResponse(run=make_run(), requests_per_second=2.5),
        WatchCrawlRunResponse(run=make_run("COMPLETED", "DRAINED")),
    ]
    assert ctl(daemon, "crawl", "watch", "4", "--json") == 0
    looks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [look["run"]["state"] for look in looks] == ["running", "completed"]


def test_unknown_run_is_a_failure(daemon: FakeDaemon, capsys: Captured) -> None:
    assert ctl(daemon, "crawl", "show", "99") == 1
    assert capsys.readouterr().err == "jirdctl: there is no crawl run 99\n"


def test_damage_is_listed_and_fails(daemon: FakeDaemon, capsys: Captured) -> None:
    daemon.index_faults = ["7f3a.qix: offset 4096: chunk checksum differs"]
    assert ctl(daemon, "index", "verify") == 1
    answer = capsys.readouterr()
    assert "7f3a.qix: offset 4096: chunk checksum differs" in answer.out
    assert answer.err.endswith("jirdctl: 1 segment is damaged\n")


def test_leak_of_the_sandbox_fails(daemon: FakeDaemon, capsys: Captured) -> None:
    daemon.allow_leaks = True
    assert ctl(daemon, "debug", "sandbox") == 1
    answer = capsys.readouterr()
    assert "ALLOWED" in answer.out
    assert "the sandbox let through: connect" in answer.err


def test_collection_during_a_crawl_is_refused(daemon: FakeDaemon, capsys: Captured) -> None:
    """J93."""
    daemon.faults["CollectGarbage"] = Fault(grpc.StatusCode.FAILED_PRECONDITION, "CRAWL_RUNNING", "a crawl is running")
    assert ctl(daemon, "content", "gc", "--json") == 1
    assert json.loads(capsys.readouterr().err)["reason"] == "CRAWL_RUNNING"


def test_log_is_asked_for_page_by_page(daemon: FakeDaemon, capsys: Captured) -> None:
    daemon.entries = [make_entry(number) for number in range(2_500)]
    assert ctl(daemon, "log", "query", "--limit", "2200", "--json") == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert [entry["uuid"] for entry in entries] == [f"0193-{number}" for number in range(2_200)]
    assert [call.request.page_size for call in daemon.calls("ListCrawlLogEntries")] == [1_000, 1_000, 200]


@pytest.mark.parametrize("code", ["file_not_found", "44", "FILE-NOT-FOUND"])
def test_exit_code_filter_takes_name_or_number(daemon: FakeDaemon, code: str) -> None:
    assert ctl(daemon, "log", "query", "--exit-code", code, "--host", "docs.test", "--run", "4") == 0
    request = daemon.calls("ListCrawlLogEntries")[0].request
    assert request.exit_code == CrawlExitCode.CRAWL_EXIT_CODE_FILE_NOT_FOUND
    assert (request.host, request.run_id) == ("docs.test", 4)


def test_negative_exit_code_is_understood(daemon: FakeDaemon) -> None:
    assert ctl(daemon, "log", "query", "--exit-code", "-999") == 0
    assert daemon.calls("ListCrawlLogEntries")[0].request.exit_code == -999


def test_search_words_are_one_query(daemon: FakeDaemon, capsys: Captured) -> None:
    assert ctl(daemon, "search", "desert", "rodents", "--limit", "3", "--offset", "20") == 0
    request = daemon.calls("Search")[0].request
    assert (request.query, request.limit, request.offset) == ("desert rodents", 3, 20)
    assert "21 to 23 of 45" in capsys.readouterr().out


def test_terminal_escapes_of_a_page_do_not_reach_the_terminal(daemon: FakeDaemon, capsys: Captured) -> None:
    from testkit.fake_daemon import make_hit

    def hostile(number: int):  # type: ignore[no-untyped-def]
        hit = make_hit(number)
        hit.document.title = "bell\x07 \x1b]0;title\x07"
        hit.snippet.text = "\x1b[2J" + hit.snippet.text
        del hit.snippet.highlights[:]
        return hit

    daemon.hit = hostile
    assert ctl(daemon, "search", "gerbil", "--limit", "1") == 0
    out = capsys.readouterr().out
    assert "\x07" not in out
    assert "\x1b[2J" not in out


def test_search_needs_no_access_to_the_admin_socket(daemon: FakeDaemon, run_dir: Path) -> None:
    (run_dir / "admin.sock").unlink()
    assert ctl(daemon, "search", "gerbil") == 0
    assert ctl(daemon, "status") == 0
    assert ctl(daemon, "crawl", "list") == 4


def test_missing_daemon_ends_with_four(tmp_path: Path, capsys: Captured) -> None:
    assert run(["--run-dir", str(tmp_path), "status"]) == 4
    assert f"cannot reach the jird daemon at {tmp_path}/admin.sock" in capsys.readouterr().err
    assert run(["--run-dir", str(tmp_path), "status", "--json"]) == 4
    assert json.loads(capsys.readouterr().err)["error"] == "unreachable"


def test_configuration_names_the_sockets_folder(daemon: FakeDaemon, tmp_path: Path, capsys: Captured) -> None:
    config = tmp_path / "jird.toml"
    config.write_text(f'[storage]\nrun_dir = "{daemon.run_dir}"\n')
    assert run(["--config", str(config), "status"]) == 0
    config.write_text("[web]\nport = 70000\n")
    capsys.readouterr()
    assert run(["--config", str(config), "status"]) == 2
    assert capsys.readouterr().err == f"jirdctl: {config}:2: web.port is 70000; it must be 0 to 65535\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["crawl", "stop"],
        ["crawl", "stop", "4", "--all"],
        ["crawl", "start"],
        ["crawl", "start", "https://a.test/", "--max-depth", "33"],
        ["crawl", "start", "https://a.test/", "--delay", "soon"],
        ["log", "query", "--exit-code", "nonsense"],
        ["log", "query", "--since", "yesterday"],
    ],
)
def test_wrong_usage_ends_with_two(daemon: FakeDaemon, capsys: Captured, arguments: list[str]) -> None:
    assert ctl(daemon, *arguments) == 2
    assert capsys.readouterr().err.startswith("jirdctl: ")
    assert ctl(daemon, *arguments, "--json") == 2
    assert json.loads(capsys.readouterr().err)["reason"] == "USAGE"
    assert daemon.seen == []


@pytest.mark.parametrize("command", [["search"], ["page", "show"], ["crawl", "start"], ["log", "query", "--host"]])
def test_argument_that_is_no_text_is_wrong_usage(daemon: FakeDaemon, capsys: Captured, command: list[str]) -> None:
    """A byte that is not UTF-8 reaches Python as half a surrogate pair, which no message to the daemon can hold."""
    assert ctl(daemon, *command, "a\udcff") == 2
    assert "not valid UTF-8" in capsys.readouterr().err


def test_debug_url_shows_each_rule_and_which_decides(daemon: FakeDaemon, capsys: Captured) -> None:
    """In order; what a rule says cannot steer the terminal."""
    assert ctl(daemon, "debug", "url", "https://docs.test/issues/1", "--run", "7") == 0
    assert daemon.calls("ExplainUrl")[0].request.run_id == 7
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split(None, 2) for line in lines if line.startswith(("scope", "do_not_crawl"))]
    assert rows[0] == ["scope", "allowed"]
    assert rows[1][:2] == ["do_not_crawl", "refused"]
    assert "\x1b" not in "".join(lines)
    assert lines[-1] == "It is not asked for: do_not_crawl refuses it."


def test_log_prune_is_a_simulation_unless_it_is_to_be_applied(daemon: FakeDaemon, capsys: Captured) -> None:
    """U123."""
    assert ctl(daemon, "log", "prune", "--keep-latest", "5") == 0
    assert "1,200 of 1,500 entries of 30 URLs would be forgotten" in capsys.readouterr().out
    assert ctl(daemon, "log", "prune", "--keep-latest", "5", "--apply") == 0
    assert "1,200 of 1,500 entries of 30 URLs forgotten" in capsys.readouterr().out
    assert [call.request.apply for call in daemon.calls("PruneCrawlLog")] == [False, True]
    assert ctl(daemon, "log", "prune") == 2
    assert ctl(daemon, "log", "prune", "--keep-latest", "0") == 2


def test_log_query_has_a_span_of_time(daemon: FakeDaemon) -> None:
    """U125."""
    assert ctl(daemon, "log", "query", "--since", "2026-11-01", "--until", "2026-11-02T12:00") == 0
    request = daemon.calls("ListCrawlLogEntries")[0].request
    assert request.end_time.seconds - request.start_time.seconds == 36 * 3_600
