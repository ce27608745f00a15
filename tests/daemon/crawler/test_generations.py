"""A page that is crawled again: what its history and the crawl log say of it."""

from pathlib import Path

from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import GENERATIONS, Generation
from jird_daemon.store.urls import find_url
from testkit.crawling import Crawl, crawling, html
from testkit.origin import Origin, Reply


def generations(crawl: Crawl, path: str) -> list[Generation]:
    with crawl.store.read() as txn:
        url_id = find_url(txn, crawl.origin.url(path))
        assert url_id is not None
        return [generation for _, generation in txn.scan(GENERATIONS, (url_id, 0), (url_id + 1, 0))]


async def test_the_same_again_is_one_generation_with_a_log_entry_each_and_no_duplicate(
    origin: Origin, tmp_path: Path
) -> None:
    """U148: generation kept, last seen extended, the crawl recorded; not recorded as a duplicate."""
    origin.add("/", Reply.html(html("Front", body="the same words")))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        (first,) = generations(crawl, "/")
        crawl.move_ahead(1_000.0)
        await crawl.run("/", name="again", force_recrawl=True)
        (again,) = generations(crawl, "/")
        assert (again.uuid, again.first_seen_s, again.confirmed_end_s) == (first.uuid, first.first_seen_s, None)
        assert again.last_seen_s >= first.last_seen_s + 1_000.0
        assert crawl.exit_codes("/") == [ExitCode.FILE_INGESTED] * 2
        page = crawl.page("/")
        assert page is not None
        assert not page.is_duplicate


async def test_new_words_begin_a_generation_where_the_old_one_ends(origin: Origin, tmp_path: Path) -> None:
    """U149: first and last seen are the time of the request, no duplicate, the older one is closed."""
    origin.add("/", Reply.html(html("Front", body="old words")))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        crawl.move_ahead(1_000.0)
        origin.add("/", Reply.html(html("Front", body="new words")))
        await crawl.run("/", name="again", force_recrawl=True)
        old, new = generations(crawl, "/")
        entry = crawl.log("/")[-1]
        assert new.first_seen_s == new.last_seen_s
        assert entry.start_time_s <= new.first_seen_s <= entry.start_time_s + entry.duration_ms / 1_000 + 1.0
        assert (old.confirmed_end_s, new.confirmed_end_s) == (new.first_seen_s, None)
        page = crawl.page("/")
        assert page is not None
        assert not page.is_duplicate
