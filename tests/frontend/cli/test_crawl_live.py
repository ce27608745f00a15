"""What a person sees of a run while it is at work, and when it has ended."""

import pytest

from jird.v1.crawl_service_pb2 import CrawlRun, OriginQueue, WatchCrawlRunResponse
from jird_cli.crawl_live import ENDINGS_SHOWN, live_view, progress_line
from jird_cli.crawl_report import run_report
from testkit.fake_daemon import make_run


def look(run: CrawlRun) -> WatchCrawlRunResponse:
    waiting = OriginQueue(origin="https://slow.test", queued_count=12_345, waiting_reason="rate_limited")
    waiting.next_time.FromJsonString("2026-11-30T20:43:14Z")
    asked = OriginQueue(origin="https://docs.test", queued_count=7)
    return WatchCrawlRunResponse(run=run, requests_per_second=2.46, origins=[waiting, asked])


def test_view_shows_pace_budget_endings_and_why_origins_wait() -> None:
    lines = live_view(look(make_run(in_flight_count=3))).splitlines()
    assert "run       4 docs, running for 6 s" in lines
    assert "pace      2.5 requests a second, 3 in flight" in lines
    assert "budget    12 requests made, 988 of 1,000 left" in lines
    assert "queued    30 (0 wait for a retry)" in lines
    assert "file_ingested       9" in lines
    slow = next(line for line in lines if line.startswith("https://slow.test"))
    assert slow.split(maxsplit=2)[1:] == ["12,345", "it asked for a slower pace  2026-11-30T20:43:14Z"]
    assert "https://docs.test       7" in lines


def test_view_fits_a_terminal_whatever_happened() -> None:
    run = make_run()
    run.counts.exit_code_counts.update({code: code for code in (40, 41, 42, 49, 50, 100, 101)})
    run.name = "many\nlines"
    view = live_view(look(run))
    assert len(view.splitlines()) <= 24
    assert f"{9 - ENDINGS_SHOWN} other ways" in view
    assert "many lines" in view


def test_guard_that_holds_a_run_back_is_named() -> None:
    """Y22: whoever watches learns why nothing moves."""
    held = look(make_run())
    held.guard = "the machine has 90 MB of memory left"
    assert "held back  the machine has 90 MB of memory left" in live_view(held)
    assert progress_line(held).endswith("(held back: the machine has 90 MB of memory left)")


@pytest.mark.parametrize(
    ("state", "reason", "counts", "words"),
    [
        ("COMPLETED", "DRAINED", {"queued_count": 0}, "reached"),
        (
            "COMPLETED", "DRAINED", {"queued_count": 0, "beyond_depth_count": 1_200},
            "reached up to depth 3; 1,200 links lie beyond it",
        ),
        (
            "COMPLETED", "DRAINED", {"queued_count": 0, "ingested_count": 0},
            "NOT reached: nothing could be stored; how each request ended is below",
        ),
        ("PAUSED", "BUDGET", {}, "NOT reached: the budget is spent and 30 URLs were not asked for"),
        ("PAUSED", "STOPPED", {}, "NOT reached: 30 URLs were not asked for"),
        (
            "COMPLETED", "UNSPECIFIED", {"queued_count": 0, "dropped_count": 5},
            "NOT reached: 5 URLs found no room in the queue (at most 1,000,000)",
        ),
    ],
)  # fmt: skip
def test_report_says_whether_the_planned_scope_was_reached(
    state: str, reason: str, counts: dict[str, int], words: str
) -> None:
    """Y26: stopping at a limit is told from having done everything."""
    report = run_report(make_run(state, reason, **counts)).splitlines()
    assert f"planned scope  {words}" in report
    assert "active         6 s, 2.0 requests a second" in report


def test_report_counts_the_links_that_each_rule_refused() -> None:
    run = make_run("COMPLETED", "DRAINED")
    run.counts.refused_link_counts.update({"scope": 12, "skip_pattern": 1_500})
    lines = run_report(run).splitlines()
    assert lines[-3:] == ["links refused by  count", "skip pattern      1,500", "scope                12"]
