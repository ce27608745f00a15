"""What `jirdctl search` says when it has no result to show."""

import pytest

from jird_cli.__main__ import run
from testkit.fake_daemon import FakeDaemon

Captured = pytest.CaptureFixture[str]


def found(daemon: FakeDaemon, capsys: Captured, *arguments: str) -> str:
    assert run(["--run-dir", str(daemon.run_dir), "search", *arguments]) == 0
    return capsys.readouterr().out


def test_search_without_results_still_says_how_the_query_was_read(daemon: FakeDaemon, capsys: Captured) -> None:
    """A mistyped query finds nothing, and it is then that what it may have been meant to be helps."""
    daemon.notices = ("did you mean: gerbil",)
    assert found(daemon, capsys, "nothing") == "nothing found\ndid you mean: gerbil\n"


def test_offset_past_the_last_result_is_not_taken_for_nothing_found(daemon: FakeDaemon, capsys: Captured) -> None:
    assert (
        found(daemon, capsys, "gerbil", "--offset", "60") == "nothing from rank 60 on, of 45; take a smaller --offset\n"
    )
