"""Sitemaps of an origin: found in its robots.txt once a run, and their locations queued like links (J120-J129).

A sitemap is a row of the frontier like a page, so budget, retries, politeness and isolation of runs are the same for it
(J126, F37). The depth of its row says how many indexes led to it; what it names stands one link from a seed.
"""

import asyncio
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from jird_daemon.crawler.admission import Admission
from jird_daemon.crawler.commits import Committer
from jird_daemon.crawler.discovery import discover_found
from jird_daemon.crawler.robots_cache import OriginRobots, RobotsCache
from jird_daemon.crawler.visit import Target, Visit
from jird_daemon.errors import InvalidUrlError
from jird_daemon.extract.document import Location
from jird_daemon.extract.limits import SITEMAP_DEPTH_MAX
from jird_daemon.frontier.batch import FrontierBatch
from jird_daemon.frontier.lease import Lease, Source
from jird_daemon.log import get_logger
from jird_daemon.store.tables import RowKind
from jird_daemon.url.canonical import canonicalize, origin_of

# Locations queued in one transaction, so that no page waits long for the writer.
LOCATIONS_PER_JOB = 1_000

_log = get_logger("sitemaps")


class SitemapStep:
    """Belongs to the event loop's thread."""

    def __init__(self, admission: Admission, robots: RobotsCache, committer: Committer) -> None:
        """Take the parts it works with."""
        self._admission = admission
        self._robots = robots
        self._committer = committer
        self._tasks: set[asyncio.Task[None]] = set()

    def look(self, lease: Lease) -> None:
        """Queue the sitemaps that a leased URL's origin names, once a run; nothing while robots.txt is not known."""
        source = lease.source
        # What a sitemap names is a link away from a seed.
        if source.pace.has_known_sitemaps or lease.run.run.max_depth < 1:
            return
        robots = self._robots.get(source.origin_id)
        if robots is None:
            return
        source.pace = replace(source.pace, has_known_sitemaps=True)
        urls = self._announced(source, robots)
        task = asyncio.get_running_loop().create_task(self._queue_announced(source, urls))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def queue_locations(self, visit: Visit) -> None:
        """Queue what a sitemap or feed names, before its own row ends; after a crash it is read again."""
        sitemap = visit.document.sitemap if visit.document is not None else None
        if sitemap is None:
            return
        target = visit.target
        level, depth = _places(target)
        locations = sitemap.locations
        for start in range(0, len(locations), LOCATIONS_PER_JOB):
            part = locations[start : start + LOCATIONS_PER_JOB]
            if sitemap.is_index:
                if level <= SITEMAP_DEPTH_MAX and target.max_depth >= 1:
                    await self._queue(target.run_id, self._indexed(target, part), level, RowKind.SITEMAP)
            else:
                await self._queue_pages(target, [location.url for location in part], depth)

    async def join(self) -> None:
        """Wait until everything begun is recorded."""
        if self._tasks:
            await asyncio.wait(list(self._tasks))

    def _announced(self, source: Source, robots: OriginRobots) -> list[str]:
        urls: dict[str, None] = {}
        for text in robots.policy.sitemaps:
            try:
                url = canonicalize(text)
            except InvalidUrlError as error:
                _log.info("sitemap.refused", origin=source.origin.name, reason=error.reason, value=text[:200])
                continue
            refusal = self._admission.refusal(url)
            if refusal is None and source.run.scope.includes(origin_of(url), source.origin.name):
                urls[url] = None
        return list(urls)

    async def _queue_announced(self, source: Source, urls: Sequence[str]) -> None:
        run_id, origin_id = source.run.run_id, source.origin_id

        def note(batch: FrontierBatch) -> int:
            batch.note_sitemaps(run_id, origin_id)
            return batch.discover(run_id, urls, 0, kind=RowKind.SITEMAP)

        try:
            count = await self._committer.submit(note)
        except Exception:
            source.pace = replace(source.pace, has_known_sitemaps=False)
            _log.error("sitemaps.unwritable", origin=source.origin.name, exc_info=True, then="tried again")
            return
        if count:
            _log.info("sitemaps.found", origin=source.origin.name, run=run_id, sitemaps=count)

    def _indexed(self, target: Target, locations: Iterable[Location]) -> list[str]:
        urls = [location.url for location in locations]
        return [url for url in urls if url.startswith(target.origin + "/") and self._admission.refusal(url) is None]

    async def _queue_pages(self, target: Target, urls: Sequence[str], depth: int) -> None:
        found = self._admission.of(target.run_id).select(target.origin, urls, depth)

        def record(batch: FrontierBatch) -> None:
            batch.count_refused(target.run_id, found.refused)
            if depth <= target.max_depth:
                discover_found(batch, self._admission, target, found.urls, depth)
            else:
                beyond = sum(not batch.has_row(target.run_id, url) for url in found.urls)
                batch.count(target.run_id, "beyond_depth", beyond)

        await self._committer.submit(record)

    async def _queue(self, run_id: int, urls: Sequence[str], depth: int, kind: RowKind) -> None:
        await self._committer.submit(lambda batch: batch.discover(run_id, urls, depth, kind=kind))


def _places(target: Target) -> tuple[int, int]:
    """Level of the sitemaps, and depth of the pages, that a sitemap's row leads to."""
    if target.row.kind == RowKind.SITEMAP:
        return target.row.depth + 1, 1
    return 1, target.row.depth + 1
