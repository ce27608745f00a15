"""What each kind of answer does to the page, the row and the log."""

from pathlib import Path

import pytest

from jird_daemon.outcome import ExitCode
from jird_daemon.store.pages import INDEX_GENERATION
from jird_daemon.store.tables import RowState, RunState
from testkit.crawling import crawling, html, site
from testkit.origin import Exchange, Origin, Reply, Route

MISUNDERSTOOD = [ExitCode.DID_NOT_UNDERSTAND_ANSWER]


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("/drop", [ExitCode.ERROR_READING_RESPONSE] * 3),
        ("/reset", [ExitCode.ERROR_READING_RESPONSE] * 3),
        ("/short-body", [ExitCode.ERROR_READING_RESPONSE] * 3),
        ("/bad-chunk", [ExitCode.ERROR_READING_RESPONSE] * 3),
        ("/open-chunk", [ExitCode.ERROR_READING_RESPONSE] * 3),
        ("/bad-length", MISUNDERSTOOD),
        ("/not-http", MISUNDERSTOOD),
        ("/huge-header", MISUNDERSTOOD),
        ("/many-headers", MISUNDERSTOOD),
        ("/big", MISUNDERSTOOD),
        ("/endless", MISUNDERSTOOD),
        ("/gzip-bomb", MISUNDERSTOOD),
        ("/br-bomb", MISUNDERSTOOD),
        ("/broken-gzip", MISUNDERSTOOD),
        ("/coded?coding=unheard-of", MISUNDERSTOOD),
        ("/status?code=400", [ExitCode.SERVER_BLAMED_CLIENT]),
        ("/status?code=451", [ExitCode.SERVER_BLAMED_CLIENT]),
        ("/status?code=500", [ExitCode.SERVER_INTERNAL_ERROR] * 3),
        ("/status?code=503", [ExitCode.SERVER_INTERNAL_ERROR] * 3),
        ("/status?code=408", [ExitCode.SERVER_BLAMED_CLIENT] * 3),
        ("/status?code=425", [ExitCode.SERVER_BLAMED_CLIENT] * 3),
        ("/status?code=204", MISUNDERSTOOD),
        ("/status?code=206", MISUNDERSTOOD),
        ("/status?code=304", MISUNDERSTOOD),
        ("/status?code=404", [ExitCode.FILE_NOT_FOUND]),
        ("/status?code=410", [ExitCode.FILE_GONE]),
    ],
)
async def test_an_answer_that_is_no_page_ends_in_its_exit_code(
    origin: Origin, tmp_path: Path, path: str, codes: list[ExitCode]
) -> None:
    """F55, F59, J63, S56, J149, J150, U48, U53: transient ones after all attempts, others at once; it goes on."""
    site(origin, {"/": (path, "/last"), "/last": ()})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
        assert crawl.exit_codes(path) == codes
        assert [entry.attempt for entry in crawl.log(path)] == list(range(1, len(codes) + 1))
        row = crawl.row(1, path)
        assert row is not None
        assert row.attempts == len(codes)
        assert set(crawl.indexed()) == {origin.url("/"), origin.url("/last")}
    assert (run.state, run.counts.failed, run.counts.requests) == (RunState.COMPLETED, 1, 2 + len(codes))


@pytest.mark.parametrize("path", ["/slow-header", "/half-header", "/slow-body", "/drip"])
async def test_a_slow_answer_ends_at_the_total_deadline(origin: Origin, tmp_path: Path, path: str) -> None:
    """F57, J169: whatever drips, and however slowly."""
    async with crawling(origin, tmp_path, {"crawl": {"request_timeout_ms": 300, "max_attempts": 1}}) as crawl:
        await crawl.run(path)
        (entry,) = crawl.log(path)
    assert entry.exit_code == ExitCode.REQUEST_TIMEOUT
    assert entry.duration_ms < 2_000


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "raw-deflate", "br", "twice"])
async def test_content_codings_are_decoded(origin: Origin, tmp_path: Path, coding: str) -> None:
    """F55: and the log counts the bytes as transferred."""
    path = f"/coded?coding={coding}"
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run(path)
        assert crawl.indexed() == {origin.url(path): "A coded page"}
        assert crawl.log(path)[0].body_bytes == run.counts.received_bytes


@pytest.mark.parametrize("host", ["expired.test", "wrong-name.test", "self-signed.test"])
async def test_a_bad_certificate_is_no_connection(origin: Origin, tmp_path: Path, host: str) -> None:
    """F1, J44: nothing is sent over it, so robots.txt is not to be had and nothing is fetched."""
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run(origin.url("/ok", host=host))
        assert set(crawl.robots_codes()) == {ExitCode.CONNECTION_FAILED}
    assert origin.log.entries(host=host) == []
    assert (run.state, run.counts.requests, run.counts.failed) == (RunState.COMPLETED, 0, 1)


async def test_every_line_of_a_repeated_header_counts(origin: Origin, tmp_path: Path) -> None:
    """F77, J136: the second X-Robots-Tag says noindex."""
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/duplicate-header")
        assert crawl.exit_codes("/duplicate-header") == [ExitCode.BLOCKED_AT_REQUEST_OF_REMOTE]


async def test_unchanged_page_is_confirmed_and_its_links_are_followed(origin: Origin, tmp_path: Path) -> None:
    """J170, J171, J172, F69: a 304 keeps page and generation, and replays the approved links to the new run."""
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/etag")
        before = crawl.page("/etag")
        run = await crawl.run("/etag")
        after = crawl.page("/etag")
        assert crawl.exit_codes("/etag") == [ExitCode.FILE_INGESTED, ExitCode.FILE_DID_NOT_CHANGE]
        assert origin.url("/etag") in crawl.indexed()
    assert before is not None
    assert after is not None
    assert (after.etag, after.title, after.text_digest) == ('"v1"', before.title, before.text_digest)
    assert after.fetch_time_s > before.fetch_time_s
    assert origin.log.targets() == ["/robots.txt", "/etag", "/ok", "/etag", "/ok"]
    asked = origin.log.entries(path="/etag")[1].headers
    assert asked["if-none-match"] == '"v1"'
    assert "if-modified-since" in asked
    assert (run.counts.unchanged, run.counts.ingested) == (2, 2)


async def test_validators_that_are_too_long_are_not_sent_back(origin: Origin, tmp_path: Path) -> None:
    """J170."""
    long_etag = '"' + "x" * 1_100 + '"'
    origin.add("/long", Reply.html(html("Long"), ("ETag", long_etag)))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/long")
        await crawl.run("/long")
    assert "if-none-match" not in origin.log.entries(path="/long")[1].headers


@pytest.mark.parametrize("status", [404, 410])
async def test_a_page_that_is_gone_is_retired_and_comes_back(origin: Origin, tmp_path: Path, status: int) -> None:
    """J173, J174, J176: title and text are kept, validators are not, and a later success restores it."""
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/etag", max_depth=0)
        origin.set_gone("/etag", status)
        run = await crawl.run("/etag", max_depth=0)
        gone = crawl.page("/etag")
        assert gone is not None
        assert (gone.http_status, gone.is_indexable, gone.title, gone.etag) == (status, False, "Conditional", "")
        assert gone.text_digest
        assert run.counts.retired == 1
        assert crawl.indexed() == {}
        origin.set_gone("/etag", None)
        await crawl.run("/etag", max_depth=0)
        assert list(crawl.indexed()) == [origin.url("/etag")]


@pytest.mark.parametrize("code", [408, 429, 500, 503, 403])
async def test_trouble_never_retires_the_last_good_version(origin: Origin, tmp_path: Path, code: int) -> None:
    """J175."""
    origin.add("/page", Reply.html(html("Good")))
    settings = {"crawl": {"max_attempts": 1}}
    async with crawling(origin, tmp_path, settings) as crawl:
        await crawl.run("/page")
        origin.add("/page", Reply.html(html("Bad"), status=code))
        await crawl.run("/page")
        assert crawl.indexed() == {origin.url("/page"): "Good"}


async def test_the_same_text_again_is_unchanged(origin: Origin, tmp_path: Path) -> None:
    """U71: counted as unchanged, without a new generation."""
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/ok")
        run = await crawl.run("/ok")
    assert (run.counts.unchanged, run.counts.ingested) == (1, 1)


async def test_a_transient_failure_is_tried_again_and_succeeds(origin: Origin, tmp_path: Path) -> None:
    """S22, J149, J151: durable attempts; each counts against the budget."""
    answers = [Reply.html("no", status=503), Reply.html(html("At last"))]
    origin.add("/late", _in_turn(answers))
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/late")
        assert crawl.exit_codes("/late") == [ExitCode.SERVER_INTERNAL_ERROR, ExitCode.FILE_INGESTED]
        row = crawl.row(1, "/late")
    assert row is not None
    assert (row.state, row.attempts) == (RowState.DONE, 2)
    assert (run.counts.requests, run.counts.ingested, run.counts.failed, run.counts.waiting) == (2, 1, 0, 0)


async def test_a_fluke_is_tried_again_at_once(origin: Origin, tmp_path: Path) -> None:
    """U53, U129: one time, as an attempt; the page is fetched without a back-off."""

    async def drop_once(exchange: Exchange) -> None:
        if len(origin.log.entries(path="/flaky")) == 1:
            exchange.drop()
        else:
            await exchange.send(Reply.html(html("Steady")))

    origin.add("/flaky", drop_once)
    # A back-off would take longer than the test waits.
    async with crawling(origin, tmp_path, {"crawl": {"retry_base_ms": 600_000, "retry_max_ms": 600_000}}) as crawl:
        await crawl.run("/flaky", timeout_s=10)
        codes = crawl.exit_codes("/flaky")
        assert codes == [ExitCode.ERROR_READING_RESPONSE, ExitCode.FILE_INGESTED]


async def test_patience_ends_and_the_rest_of_the_origin_is_given_up(origin: Origin, tmp_path: Path) -> None:
    """U133, U140, U145: five lasting failures, then nothing more is asked, and the run ends."""
    paths = [f"/status?code=500&n={number}" for number in range(20)]
    site(origin, {"/": tuple(paths)})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
    assert len(origin.log.entries(path="/status")) == 5
    assert (run.state, run.counts.failed, run.counts.queued, run.counts.waiting) == (RunState.COMPLETED, 20, 0, 0)


async def test_a_blocked_host_does_not_hold_up_another(origin: Origin, tmp_path: Path) -> None:
    """S11, S17, F75, U144: 429 sets one host back by a minute; the other's pages are fetched meanwhile."""
    other = origin.add_host("other.fault.test")
    origin.add("/", Reply.html("slow down", status=429), host="fault.test")
    origin.add("/", Reply.html(html("Home", *(f"/p{number}" for number in range(20)))), host=other)
    site(origin, {f"/p{number}": () for number in range(20)})
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", origin.url("/", host=other))
        await crawl.until(lambda: crawl.get_run(run_id).counts.ingested == 21, timeout_s=10)
        row = crawl.row(run_id, "/")
        waiting = crawl.crawler.activity().waiting_reasons
        run = crawl.get_run(run_id)
    assert row is not None
    assert row.state == RowState.WAITING
    assert 59_000 < row.not_before_ms - run.create_time_s * 1000 < 70_000
    assert waiting == {origin.origin(): "rate_limited"}
    assert run.counts.waiting == 1


async def test_a_parse_that_fails_loses_its_page_and_nothing_else(origin: Origin, tmp_path: Path) -> None:
    """J5, J150: recorded as such."""
    site(origin, {"/": ("/a",), "/a": ()})
    async with crawling(origin, tmp_path) as crawl:
        crawl.parser.fail_on = origin.url("/a")
        run = await crawl.run("/")
        (entry,) = crawl.log("/a")
    assert entry.exit_code == ExitCode.DID_NOT_UNDERSTAND_ANSWER
    assert "CRASHED" in entry.message
    assert (run.state, run.counts.skipped, run.counts.ingested) == (RunState.COMPLETED, 1, 1)


def _in_turn(answers: list[Reply]) -> Route:
    rest = iter(answers)

    async def answer(exchange: Exchange) -> None:
        await exchange.send(next(rest))

    return answer


@pytest.mark.parametrize("times", [1, 3])
async def test_a_page_that_found_no_worker_is_asked_for_again(origin: Origin, tmp_path: Path, times: int) -> None:
    """J149, J150: nothing is wrong with the page; its attempts are those of any URL, its last good version stays."""
    site(origin, {"/": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        crawl.parser.busy = times
        run = await crawl.run("/")
        codes = crawl.exit_codes("/")[1:]
        assert "NO_WORKER" in crawl.log("/")[1].message
        assert crawl.indexed() == {origin.url("/"): "Page /"}
    if times == 1:
        assert codes == [ExitCode.UNKNOWN_ERROR, ExitCode.FILE_INGESTED]
        assert (run.counts.requests, run.counts.ingested) == (2, 1)
    else:
        assert codes == [ExitCode.UNKNOWN_ERROR] * 3
        assert (run.state, run.counts.failed) == (RunState.COMPLETED, 1)


async def test_a_page_whose_text_is_damaged_is_fetched_anew(origin: Origin, tmp_path: Path) -> None:
    """J171, J14: asked for without validators, so that "not modified" does not leave it without its text for ever."""
    origin.add("/", Reply.html(html("Home", body="words"), ("ETag", '"1"')))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        (volume,) = (tmp_path / "state" / "blobs").iterdir()
        volume.write_bytes(bytes(byte ^ 255 for byte in volume.read_bytes()))
        with crawl.store.read() as txn:
            before = txn.number(INDEX_GENERATION)
        await crawl.run("/")
        page = crawl.page("/")
        assert page is not None
        assert crawl.store.get_blob(page.text_digest)
        with crawl.store.read() as txn:
            assert txn.number(INDEX_GENERATION) > before, "the index has the page without its words"
        await crawl.run("/")
    conditions = [access.headers.get("if-none-match") for access in origin.log.entries(path="/")]
    assert conditions == [None, None, '"1"']
