"""Stored bytes parsed again: the result is that of a fresh crawl, history stays, and a restart goes on."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jird_daemon.clock import SystemClock
from jird_daemon.control import ReindexState
from jird_daemon.crawler.derived import Source, derive_page
from jird_daemon.crawler.reindex import BATCH, Reindexer, read_state
from jird_daemon.errors import ParserFailedError, WrongStateError
from jird_daemon.extract.document import ParsedDocument, ParseJob, ParseKind
from jird_daemon.extract.page import parse_page
from jird_daemon.outcome import ExitCode
from jird_daemon.store import Store
from jird_daemon.store.pages import get_page, retire_page, store_page
from jird_daemon.store.tables import GENERATIONS, LINKS, PAGES, Page
from jird_daemon.store.text_pile import TextPile, encode_pile, pile_digest
from jird_settings import Content

NOW_S = 1_796_000_000.0
HEADERS = {"content_type": "text/html; charset=utf-8", "etag": '"e"', "last_modified": "Wed, 03 Feb 2021 04:05:06 GMT"}


class InProcess:
    """Parses at once; `failing` URLs are lost as if their worker had died, `gate` holds all up."""

    def __init__(self) -> None:
        self.failing: set[str] = set()
        self.parsed: list[str] = []
        self.gate: asyncio.Event | None = None

    async def parse(self, job: ParseJob) -> ParsedDocument:
        self.parsed.append(job.url)
        if self.gate is not None:
            await self.gate.wait()
        if job.url in self.failing:
            raise ParserFailedError("killed", "CRASHED")
        return parse_page(job, NOW_S)


def url_of(number: int, host: str = "a.test") -> str:
    return f"https://{host}/{number}"


def source(number: int, host: str = "a.test") -> Source:
    url = url_of(number, host)
    body = f"<html lang=en><title>T{number}</title><h1>H</h1><p>Text {number} <a href=/x{number}>to x</a></html>"
    return Source(url, 1_000.0 + number, body.encode(), **HEADERS)  # type: ignore[arg-type]


def put_fresh(store: Store, *sources: Source) -> None:
    """As a crawl of today does."""
    with store.write() as txn:
        for each in sources:
            job = ParseJob(each.url, each.body, each.content_type, last_modified=each.last_modified)
            store_page(txn, derive_page(each, parse_page(job, NOW_S), Content(), ExitCode.FILE_INGESTED, ""))


def put_stale(store: Store, *sources: Source) -> None:
    """As an older release did, which read another text, title and no links from the same bytes."""
    with store.write() as txn:
        for each in sources:
            pile = TextPile(f"old reading of {each.url}")
            old = ParsedDocument(
                parse_page(ParseJob(each.url, each.body, each.content_type), NOW_S).kind,
                "text/html", "utf-8", "old", pile_bytes=encode_pile(pile), pile_digest=pile_digest(pile),
            )  # fmt: skip
            store_page(txn, derive_page(each, old, Content(), ExitCode.FILE_INGESTED, ""))


def export(store: Store) -> list[tuple[str, Page, Any]]:
    """All that is known of each page."""
    with store.read() as txn:
        return [(url_of(i), page, txn.get(LINKS, i)) for i, page in txn.scan(PAGES)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "one") as opened:
        yield opened


def reindexer(store: Store, parser: InProcess) -> Reindexer:
    return Reindexer(store, parser, Content(), SystemClock(), lambda: None, "jird")


async def until_done(store: Store) -> ReindexState:
    async with asyncio.timeout(20):
        while True:
            with store.read() as txn:
                state = read_state(txn)
            if state is not None and state.end_time_s is not None:
                return state
            await asyncio.sleep(0.01)


async def test_derived_pages_are_those_of_a_fresh_crawl_of_the_same_bytes(store: Store, tmp_path: Path) -> None:
    """The store holds what it would hold had today's code crawled; the history says that the site did not change."""
    sources = [source(number) for number in range(10)]
    put_stale(store, *sources)
    await reindexer(store, InProcess()).start("", 0.0)
    state = await until_done(store)
    assert (state.derived, state.changed, state.failed, state.skipped) == (10, 10, 0, 0)
    with Store.open(tmp_path / "two") as other:
        put_fresh(other, *sources)
        with store.read() as mine, other.read() as theirs:
            for each in sources:
                one, two = get_page(mine, each.url), get_page(theirs, each.url)
                assert one is not None
                assert two is not None
                assert one[1] == two[1]
                assert one[1].modified_s == 1_612_325_106.0
                assert mine.get(LINKS, one[0]) == theirs.get(LINKS, two[0])
                (generation,) = [g for _, g in mine.scan(GENERATIONS, (one[0], 0), (one[0] + 1, 0))]
                assert generation.first_seen_s == generation.last_seen_s == each.time_s
                assert generation.pile_digest == one[1].pile_digest


async def test_a_second_time_changes_nothing(store: Store) -> None:
    put_fresh(store, *(source(number) for number in range(5)))
    before = export(store)
    await reindexer(store, InProcess()).start("", 0.0)
    assert (await until_done(store)).changed == 0
    assert export(store) == before


async def test_only_the_host_or_the_time_that_was_asked_for(store: Store) -> None:
    put_stale(store, source(1), source(2), source(3, "b.test"))
    parser = InProcess()
    work = reindexer(store, parser)
    await work.start("b.test", 0.0)
    await until_done(store)
    assert parser.parsed == [url_of(3, "b.test")]
    parser.parsed.clear()
    await work.close()
    await work.start("", 1_002.0)
    state = await until_done(store)
    assert parser.parsed == [url_of(2), url_of(3, "b.test")]
    assert state.skipped == 1


async def test_pages_that_are_gone_stay_gone_and_lost_ones_stay_as_they_were(store: Store) -> None:
    put_stale(store, source(1), source(2))
    with store.write() as txn:
        retire_page(txn, url_of(1), 2_000.0, http_status=404)
    parser = InProcess()
    parser.failing.add(url_of(2))
    before = export(store)
    await reindexer(store, parser).start("", 0.0)
    assert (await until_done(store)).failed == 1
    assert export(store) == before


async def test_bytes_that_today_are_no_page_are_left_out_as_a_crawl_leaves_them_out(store: Store) -> None:
    """F87: a picture that was called a page, and was taken for one."""
    lie = replace(source(1), body=b"\x89PNG\r\n\x1a\n" + bytes(50))
    with store.write() as txn:
        pile = TextPile("PNG and other rubbish")
        old = ParsedDocument(
            ParseKind.DOCUMENT, "text/html", "utf-8", "old", pile_bytes=encode_pile(pile), pile_digest=pile_digest(pile)
        )
        store_page(txn, derive_page(lie, old, Content(), ExitCode.FILE_INGESTED, ""))
    await reindexer(store, InProcess()).start("", 0.0)
    assert (await until_done(store)).changed == 1
    with store.read() as txn:
        found = get_page(txn, lie.url)
    assert found is not None
    assert (found[1].not_indexable_reason, found[1].media_type) == ("media type", "image/png")
    assert found[1].fetch_time_s == lie.time_s


async def test_work_goes_on_after_a_restart_where_it_was(store: Store) -> None:
    """What was committed is not parsed a second time; what was in work is."""
    put_stale(store, *(source(number) for number in range(3 * BATCH)))
    first = InProcess()
    work = reindexer(store, first)
    await work.start("", 0.0)
    with pytest.raises(WrongStateError):
        await work.start("", 0.0)
    await work.close()
    with store.read() as txn:
        state = read_state(txn)
    assert state is not None
    done = state.derived
    second = InProcess()
    assert await reindexer(store, second).resume() is (state.end_time_s is None)
    state = await until_done(store)
    assert state.derived == 3 * BATCH
    assert len(second.parsed) == 3 * BATCH - done
    assert not await reindexer(store, second).resume()


async def test_stop_ends_it_for_good(store: Store) -> None:
    put_stale(store, *(source(number) for number in range(2)))
    parser = InProcess()
    parser.gate = asyncio.Event()
    work = reindexer(store, parser)
    await work.start("", 0.0)
    stopping = asyncio.create_task(work.stop())
    parser.gate.set()
    await stopping
    with store.read() as txn:
        state = read_state(txn)
    assert state is not None
    assert state.end_time_s is not None
    assert not await reindexer(store, parser).resume()


async def test_a_crawl_that_was_faster_is_not_overwritten(store: Store) -> None:
    put_stale(store, source(1))
    parser = InProcess()
    parser.gate = asyncio.Event()
    await reindexer(store, parser).start("", 0.0)
    while not parser.parsed:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    put_fresh(store, found_later(source(1)))
    parser.gate.set()
    await until_done(store)
    with store.read() as txn:
        found = get_page(txn, url_of(1))
    assert found is not None
    assert found[1].fetch_time_s == 9_000.0


def found_later(old: Source) -> Source:
    """The page as a later crawl finds it."""
    return Source(old.url, 9_000.0, b"<title>newer</title><p>newer", **HEADERS)  # type: ignore[arg-type]
