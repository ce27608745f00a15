"""`jirdctl page`: history and differences as people read them."""

import pytest

from jird_cli.__main__ import run
from testkit.fake_daemon import FakeDaemon

URL = "https://docs.test/page/1"


def test_history_is_asked_for_page_by_page(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    """U71, U73: every generation with its times, the open one named so."""
    assert run(["--run-dir", str(daemon.run_dir), "page", "history", URL]) == 0
    head, new, old = capsys.readouterr().out.splitlines()
    assert head.split() == ["generation", "first", "seen", "last", "seen", "ended", "text"]
    assert "open" in new
    assert "not kept" in old
    assert len(daemon.calls("ListGenerations")) == 2


def test_history_ends_at_the_limit(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--run-dir", str(daemon.run_dir), "page", "history", URL, "--limit", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_diff_shows_lines_with_signs_and_no_control_characters(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """F117: a page's text cannot steer the terminal."""
    assert run(["--run-dir", str(daemon.run_dir), "page", "diff", URL, "--from", "x"]) == 0
    out = capsys.readouterr().out
    assert "\n Gerbils\n-are small.\n+are  [31msmaller.\n" in out
    assert out.endswith("1 lines added, 1 removed\n")
    assert daemon.calls("DiffGenerations")[0].request.from_uuid == "x"
