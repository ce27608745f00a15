"""A whole site that is not found is an outage; single pages that are not found are gone."""

from pathlib import Path

import pytest

from jird_daemon.crawler.outage import LOSSES_MIN, WINDOW_S, is_held, note_alive
from jird_daemon.frontier.batch import FrontierBatch, SeenRows
from jird_daemon.outcome import ExitCode
from jird_daemon.store import Store
from jird_daemon.store.pages import document_count
from jird_daemon.store.tables import ORIGIN_DOCUMENTS
from testkit.crawling import Crawl, crawling, site
from testkit.origin import Origin, Reply

PAGES = tuple(f"/p{number:02}" for number in range(20))


async def _crawled(crawl: Crawl, gone: tuple[str, ...], status: int | None) -> None:
    for path in gone:
        crawl.origin.set_gone(path, status)
    await crawl.run("/")


def _indexed(crawl: Crawl) -> set[str]:
    return {url.removeprefix(crawl.origin.url("")) for url in crawl.indexed()}


@pytest.mark.parametrize("status", [404, 410])
async def test_outage_of_a_whole_site_does_not_empty_the_index(origin: Origin, tmp_path: Path, status: int) -> None:
    """F71: all but the first few stay, are counted, and say why; when the site is back nothing is missing."""
    site(origin, {"/": PAGES, **dict.fromkeys(PAGES, ())})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        for path in PAGES:
            origin.set_gone(path, status)
        run = await crawl.run("/")
        kept = _indexed(crawl) & set(PAGES)
        assert len(kept) == len(PAGES) - LOSSES_MIN
        assert (run.counts.retired, run.counts.held) == (LOSSES_MIN, len(kept))
        held = crawl.log(min(kept))[-1]
        code = ExitCode.FILE_NOT_FOUND if status == 404 else ExitCode.FILE_GONE
        assert (held.exit_code, held.message) == (code, "kept: much of this site is not found")
        await _crawled(crawl, PAGES, None)
        assert _indexed(crawl) == {"/", *PAGES}


async def test_pages_that_go_one_by_one_are_retired_at_once(origin: Origin, tmp_path: Path) -> None:
    """J173: a site that lost a few of its pages has no outage."""
    site(origin, {"/": PAGES, **dict.fromkeys(PAGES, ())})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        await _crawled(crawl, PAGES[:LOSSES_MIN], 404)
        assert _indexed(crawl) == {"/", *PAGES[LOSSES_MIN:]}


def _redirect_all(origin: Origin, target: str) -> None:
    for path in PAGES:
        origin.add(path, Reply.redirect(target.format(path)))


@pytest.mark.parametrize("target", ["/login?next={}", "https://status.fault.test/maintenance", "/"])
async def test_redirect_of_all_pages_to_one_does_not_empty_the_index(
    origin: Origin, tmp_path: Path, target: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """F71: a login for everything, or a notice of maintenance, on this origin or another."""
    site(origin, {"/": PAGES, **dict.fromkeys(PAGES, ()), "/login": ()})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        _redirect_all(origin, target)
        run = await crawl.run("/")
        kept = _indexed(crawl) & set(PAGES)
        # The first one may be a move; it is the second that leads to the same page. A login is a page for each.
        assert len(kept) == len(PAGES) - LOSSES_MIN - (2 if "{" in target else 1)
        assert run.counts.held == len(kept)
        held = crawl.log(min(kept))[-1]
        assert held.exit_code == ExitCode.REDIRECT
        assert "kept: much of this site leads to one page" in held.message
        site(origin, dict.fromkeys(PAGES, ()))
        await crawl.run("/")
        assert {"/", *PAGES} <= _indexed(crawl)
    assert "origin.outage" in capfd.readouterr().err


async def test_site_that_moves_is_followed(origin: Origin, tmp_path: Path) -> None:
    """F71: each page leads to another, so the old addresses go and the new ones come."""
    site(origin, {"/": PAGES, **dict.fromkeys(PAGES, ())})
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        site(origin, {f"/new{path}": () for path in PAGES})
        _redirect_all(origin, "/new{}")
        run = await crawl.run("/")
        assert _indexed(crawl) == {"/", *(f"/new{path}" for path in PAGES)}
        assert run.counts.held == 0


def _losses(store: Store, count: int, now_s: float, documents: int) -> list[bool]:
    """Lose pages of origin 1, one after the other; which of them are held."""
    found = []
    for _ in range(count):
        with store.write() as txn:
            if now_s == 0.0 and not found:
                txn.put(ORIGIN_DOCUMENTS, 1, documents)
            found.append(is_held(FrontierBatch(txn, SeenRows(), now_s), 1, "https://a.test"))
            if not found[-1]:
                txn.put(ORIGIN_DOCUMENTS, 1, document_count(txn, 1) - 1)
    return found


def _answers(store: Store, count: int, now_s: float) -> None:
    with store.write() as txn:
        for _ in range(count):
            note_alive(FrontierBatch(txn, SeenRows(), now_s), 1)


def test_a_quarter_of_a_large_site_may_go_in_a_day_and_another_quarter_the_next(tmp_path: Path) -> None:
    """F71: clearing out over days is no outage."""
    with Store.open(tmp_path / "s", map_bytes=1 << 30) as store:
        assert not any(_losses(store, 25, 0.0, documents=100))
        assert not any(_losses(store, 18, WINDOW_S + 1, documents=0))


def test_site_that_stays_so_for_a_day_is_believed(tmp_path: Path) -> None:
    """F71, J173: a guard that never lets go would keep dead pages for ever."""
    with Store.open(tmp_path / "s", map_bytes=1 << 30) as store:
        assert _losses(store, 60, 0.0, documents=100) == [False] * 25 + [True] * 35
        assert all(_losses(store, 60, WINDOW_S - 1, documents=0))
        assert not any(_losses(store, 60, WINDOW_S + 1, documents=0))


def test_site_that_recovered_is_guarded_anew(tmp_path: Path) -> None:
    """F71: the second outage of a site is not taken for the first one going on."""
    with Store.open(tmp_path / "s", map_bytes=1 << 30) as store:
        _losses(store, 60, 0.0, documents=100)
        _answers(store, 38, 3_600.0)
        assert _losses(store, 30, 3_600.0, documents=0)[18:] == [True] * 12
        _answers(store, 40, 7_200.0)
        assert _losses(store, 60, WINDOW_S * 9, documents=0)[-1]
