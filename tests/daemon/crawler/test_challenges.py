"""A site that answers with challenges is left alone, and what it said before stays."""

from pathlib import Path

import pytest

from jird_daemon.frontier.politeness import PATIENCE, BackoffRule, Trouble, after_trouble
from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import OriginState, RunOrigin, RunReason, RunState
from testkit.crawling import crawling, site
from testkit.origin import Origin, Reply

CHALLENGE = (
    "<!doctype html><title>Just a moment...</title><script>window._cf_chl_opt={};"
    "a.src='/cdn-cgi/challenge-platform/h/b'</script><p>Checking"
)


@pytest.mark.parametrize("status", [200, 403, 429, 503])
async def test_a_challenge_has_an_exit_code_of_its_own_and_its_origin_a_rest(
    origin: Origin, tmp_path: Path, status: int
) -> None:
    """U51, J175: whatever its status; the last good page stays, and nothing more is asked for ten minutes."""
    site(origin, {"/": ("/a", "/b"), "/a": (), "/b": ()})
    async with crawling(origin, tmp_path, stop_reason=RunReason.RESTART) as crawl:
        await crawl.run("/")
        origin.add("/a", Reply.html(CHALLENGE, status=status))
        run_id = await crawl.start("/")
        await crawl.until(lambda: len(crawl.log("/a")) == 2)
        entry = crawl.log("/a")[-1]
        assert (entry.exit_code, entry.message) == (ExitCode.BLOCKED_BY_CHALLENGE, "challenge page of Cloudflare")
        await crawl.until(lambda: crawl.crawler.activity().waiting_reasons == {origin.origin(): "challenged"})
        assert len(crawl.log("/b")) == 1
        assert crawl.indexed()[origin.url("/a")] == "Page /a"
        assert crawl.get_run(run_id).state == RunState.RUNNING
    async with crawling(origin, tmp_path, ahead_s=700) as crawl:
        assert await crawl.start("/") == run_id
        await crawl.until(lambda: crawl.exit_codes("/b") == [ExitCode.FILE_INGESTED] * 2, timeout_s=10)


def test_a_site_of_nothing_but_challenges_is_given_up() -> None:
    """U140, U51: after five of them, so that a run does not wait for it for days."""
    origin, run = OriginState(), RunOrigin()
    for _ in range(PATIENCE):
        assert run.patience
        pace = after_trouble(
            origin,
            run,
            0.0,
            Trouble.CHALLENGED,
            rule=BackoffRule(1.0, 60.0),
            delay_s=0.5,
            jitter=0.0,
            retry_after_s=None,
        )
        origin, run = pace.origin, pace.run
    assert run.patience == 0
    assert origin.next_time_s == 7_200.0
