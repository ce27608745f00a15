"""A real crawler over a real store, in the test's own event loop, against the misbehaving server.

    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
        assert crawl.exit_codes("/drop") == [...]

Only the parse workers' sandbox is left out: pages are read by the same function, in process.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jird_daemon.clock import SystemClock
from jird_daemon.control import StartCrawl
from jird_daemon.crawler.crawler import Crawler
from jird_daemon.errors import ParserFailedError
from jird_daemon.extract.document import ParsedDocument, ParseJob
from jird_daemon.extract.page import parse_page
from jird_daemon.outcome import CrawlType, ExitCode
from jird_daemon.store import Store
from jird_daemon.store.pages import get_page
from jird_daemon.store.tables import CRAWL_LOG, PAGES, RUNS, URLS, LogEntry, Page, Row, Run, RunReason, RunState
from jird_daemon.store.tables import ROWS as ROWS_TABLE
from jird_daemon.store.urls import find_url
from jird_settings import Settings, load
from testkit import toml
from testkit.origin import HOST, Origin, Reply

FAST: toml.Tables = {
    "crawl": {"delay_ms": 0, "retry_base_ms": 20, "retry_max_ms": 100, "request_timeout_ms": 3_000},
    "hosts": [{"match": "*", "delay_ms": 0, "adaptive": False}],
}
"""Settings for tests that are not about time."""


class ShiftedClock:
    """The machine's clock, with a wall clock that a test can move ahead."""

    def __init__(self) -> None:
        self.ahead_s = 0.0
        self._clock = SystemClock()

    def now_s(self) -> float:
        """Seconds since 1970 UTC, as moved."""
        return self._clock.now_s() + self.ahead_s

    def monotonic_s(self) -> float:
        """The machine's own."""
        return self._clock.monotonic_s()


class InlineParser:
    """Reads pages in process."""

    def __init__(self) -> None:
        self.fail_on = ""  # URL on which the parser is to crash
        self.busy = 0  # how many more pages find no worker

    async def parse(self, job: ParseJob) -> ParsedDocument:
        """Parse one page."""
        if self.busy:
            self.busy -= 1
            raise ParserFailedError("no worker could be started", "NO_WORKER")
        if job.url == self.fail_on:
            raise ParserFailedError("the worker is gone", "CRASHED")
        return parse_page(job, SystemClock().now_s())


def make_settings(origin: Origin, directory: Path, *layers: toml.Tables) -> Settings:
    """The settings that a jird.toml with these tables gives; the origin's own are the first layer."""
    path = directory / "jird.toml"
    storage = {"storage": {"state_dir": str(directory / "state"), "run_dir": str(directory / "run")}}
    path.write_text(toml.dump(toml.merge(storage, origin.settings(), *layers)))
    return load(path, {})


@dataclass(slots=True)
class Crawl:
    """A crawler that runs, and what it has left in the store."""

    origin: Origin
    store: Store
    crawler: Crawler
    parser: InlineParser
    committed: asyncio.Condition
    clock: ShiftedClock

    def move_ahead(self, seconds: float) -> None:
        """Move the wall clock, and let the crawl loop see it."""
        self.clock.ahead_s += seconds
        self.crawler.wake()

    async def start(self, *paths: str, **options: Any) -> int:
        """Begin a run at paths of the origin, or at whole URLs; returns its number."""
        seeds = tuple(path if "://" in path else self.origin.url(path) for path in paths)
        return await self.crawler.runs.start(StartCrawl(seeds, **options))

    async def run(self, *paths: str, timeout_s: float = 30.0, **options: Any) -> Run:
        """Begin a run and wait for its end."""
        return await self.ended(await self.start(*paths, **options), timeout_s=timeout_s)

    async def ended(self, run_id: int, *, timeout_s: float = 30.0) -> Run:
        """Wait until a run is no longer running, and nothing of it is in memory."""

        def is_over() -> bool:
            return self.get_run(run_id).state != RunState.RUNNING and run_id not in self.crawler.frontier.runs

        await self.until(is_over, timeout_s=timeout_s)
        return self.get_run(run_id)

    async def until(self, condition: Callable[[], bool], *, timeout_s: float = 30.0) -> None:
        """Wait until a condition holds; it is looked at after each commit, and a few times a second."""
        async with asyncio.timeout(timeout_s):
            while not condition():
                async with self.committed:
                    try:
                        async with asyncio.timeout(0.05):
                            await self.committed.wait()
                    except TimeoutError:
                        continue

    def get_run(self, run_id: int) -> Run:
        """A run as it is in the store."""
        with self.store.read() as txn:
            run = txn.get(RUNS, run_id)
        assert run is not None
        return run

    def page(self, path: str, *, host: str = HOST) -> Page | None:
        """What is known of a URL."""
        with self.store.read() as txn:
            found = get_page(txn, self.origin.url(path, host=host))
        return None if found is None else found[1]

    def row(self, run_id: int, path: str, *, host: str = HOST) -> Row | None:
        """A URL's row in a run."""
        with self.store.read() as txn:
            url_id = find_url(txn, self.origin.url(path, host=host))
            return None if url_id is None else txn.get(ROWS_TABLE, (run_id, url_id))

    def log(self, path: str | None = None, *, host: str = HOST) -> list[LogEntry]:
        """Entries of the crawl log, oldest first; of one URL or of all."""
        wanted = None if path is None else self.origin.url(path, host=host)
        with self.store.read() as txn:
            entries = [(entry, txn.get(URLS, entry.url_id)) for _, entry in txn.scan(CRAWL_LOG)]
        return [entry for entry, url in entries if wanted is None or (url is not None and url.url == wanted)]

    def exit_codes(self, path: str, *, host: str = HOST) -> list[ExitCode]:
        """How the actions for a URL ended, in order."""
        return [ExitCode(entry.exit_code) for entry in self.log(path, host=host)]

    def indexed(self) -> dict[str, str]:
        """URL to title of every page that can be found."""
        with self.store.read() as txn:
            found = [(txn.get(URLS, url_id), page) for url_id, page in txn.scan(PAGES) if page.is_indexable]
        return {url.url: page.title for url, page in found if url is not None}

    def robots_codes(self) -> list[ExitCode]:
        """How the requests for robots.txt ended."""
        return [ExitCode(entry.exit_code) for entry in self.log() if entry.crawl_type == CrawlType.ROBOTSTXT_FETCH]


@asynccontextmanager
async def crawling(
    origin: Origin,
    directory: Path,
    *layers: toml.Tables,
    fast: bool = True,
    map_bytes: int = 1 << 30,
    ahead_s: float = 0.0,
    stop_reason: RunReason | None = None,
) -> AsyncIterator[Crawl]:
    """Start a crawler.

    Args:
        origin: The server, started.
        directory: Where the state goes; a second call with the same one finds the state of the first.
        layers: Further tables of jird.toml.
        fast: Without delays and with short retries.
        map_bytes: Size of the metadata's map; small ones are soon full.
        stop_reason: Why runs are paused at its end, as by the stop of a daemon; None leaves them running in the store.
        ahead_s: How far its wall clock is ahead of the machine's.
    """
    settings = make_settings(origin, directory, *([FAST] if fast else []), *layers)
    with Store.open(settings.storage.state_dir, map_bytes=map_bytes) as store:
        committed = asyncio.Condition()
        tasks: set[asyncio.Task[None]] = set()

        async def tell() -> None:
            async with committed:
                committed.notify_all()

        def on_commit() -> None:
            task = asyncio.get_running_loop().create_task(tell())
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        parser, clock = InlineParser(), ShiftedClock()
        clock.ahead_s = ahead_s
        crawler = Crawler(store, settings, parser, clock, on_commit=on_commit)
        await crawler.start()
        try:
            yield Crawl(origin, store, crawler, parser, committed, clock)
        finally:
            await crawler.stop(stop_reason)


def html(title: str, *links: str, head: str = "", body: str = "") -> str:
    """A page with links."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body>{anchors}<p>{body or title}</p>"
    )


def site(origin: Origin, pages: Mapping[str, tuple[str, ...]]) -> None:
    """Serve pages that link to each other: path to links."""
    for path, links in pages.items():
        origin.add(path, Reply.html(html(f"Page {path}", *links)))
