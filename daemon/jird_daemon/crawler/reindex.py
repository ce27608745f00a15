"""Re-derivation: stored bytes are parsed again with today's code and settings, without a request to anyone.

Pages are taken in the order of their numbers, a batch at a time; each batch is one transaction, which also notes the
last number, so that a restart goes on behind it. While one batch is written the next is parsed. The site has said
nothing, so times, history and validators stay: the latest generation takes the new text in place.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import msgspec

from jird_daemon.clock import Clock
from jird_daemon.control import ReindexState
from jird_daemon.crawler.derived import MEDIA_TYPE, NOINDEX, Source, derive_page, judge_stored
from jird_daemon.crawler.variants import NOT_CANONICAL, restore_variants
from jird_daemon.errors import CorruptBlobError, JirdError, ParserFailedError, WrongStateError
from jird_daemon.extract.document import ParsedDocument, ParseJob, ParseKind
from jird_daemon.log import get_logger
from jird_daemon.outcome import ExitCode
from jird_daemon.store.env import Store
from jird_daemon.store.pages import FetchedPage, PageChange, mark_not_indexable, store_page
from jird_daemon.store.tables import META, PAGES, URLS, Page
from jird_daemon.store.txn import Txn
from jird_daemon.url.canonical import split
from jird_settings import Content

# META: where the work stands; kept when it has ended, to be shown.
REINDEX_KEY = "reindex"
# Pages of one transaction; at 700 pages a second, some seven transactions a second.
BATCH = 96
# Reasons that an answer with content has: only such pages are derived again.
_DERIVED_REASONS = frozenset({"", NOINDEX, NOT_CANONICAL})

_log = get_logger("reindex")


class Parser(Protocol):
    """What is needed of extract.pool.ParsePool."""

    async def parse(self, job: ParseJob) -> ParsedDocument:
        """Parse one page. Raises ParserFailedError."""
        ...


@dataclass(frozen=True, slots=True)
class _Stored:
    """A page with its bytes."""

    url_id: int
    page: Page
    source: Source


@dataclass(frozen=True, slots=True)
class _Batch:
    pages: list[_Stored]
    after: int  # number of the last page that was looked at
    looked_at: int
    skipped: int
    is_last: bool


def read_state(txn: Txn) -> ReindexState | None:
    """Where the last re-derivation stands; None when there was none."""
    found = txn.get(META, REINDEX_KEY)
    return msgspec.convert(found, ReindexState) if found is not None else None


class Reindexer:
    """One re-derivation at a time. Belongs to an event loop; the store is used in threads."""

    def __init__(
        self, store: Store, parser: Parser, content: Content, clock: Clock, on_commit: Callable[[], None], token: str
    ) -> None:
        """Nothing happens before `start` or `resume`.

        Args:
            store: Open for writing.
            parser: The parse workers.
            content: What is kept of a page.
            clock: For the times of the work itself.
            on_commit: Called after each transaction.
            token: Name by which robots directives may address us.
        """
        self._store = store
        self._parser = parser
        self.content = content
        self._clock = clock
        self._on_commit = on_commit
        self._token = token
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False

    @property
    def is_running(self) -> bool:
        """Whether there is work."""
        return self._task is not None and not self._task.done()

    async def start(self, host: str, since_s: float) -> None:
        """Begin; `host` "" means all, `since_s` those whose content came then or later.

        Raises:
            WrongStateError: Another one is running.
        """
        if self.is_running:
            raise WrongStateError("stored pages are being parsed again already", "REINDEX_RUNNING")
        await asyncio.to_thread(self._begin, host, since_s)
        self._go()

    async def resume(self) -> bool:
        """Go on with what a restart interrupted; returns whether there was anything."""
        with self._store.read() as txn:
            state = read_state(txn)
        if state is None or state.end_time_s is not None:
            return False
        self._go()
        return True

    async def stop(self) -> None:
        """End the work for good, after the batch that is being worked on."""
        await self.close()
        await asyncio.to_thread(self._end)

    async def close(self) -> None:
        """Break off after the batch that is being worked on; the next start goes on there."""
        self._is_stopping = True
        if self._task is not None:
            await self._task

    def _go(self) -> None:
        self._is_stopping = False
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            await self._work()
        except (JirdError, OSError) as error:
            _log.error("reindex.failed", reason=str(error), then="goes on with the next start of the daemon")

    async def _work(self) -> None:
        with self._store.read() as txn:
            state = read_state(txn)
        assert state is not None
        writing: asyncio.Task[None] | None = None
        after = state.after
        while not self._is_stopping:
            batch = await asyncio.to_thread(self._read, state, after)
            documents = await asyncio.gather(*(self._parse(stored) for stored in batch.pages))
            if writing is not None:
                await writing
            writing = asyncio.create_task(asyncio.to_thread(self._write, batch, documents))
            after = batch.after
            if batch.is_last:
                break
        if writing is not None:
            await writing

    def _begin(self, host: str, since_s: float) -> None:
        with self._store.write() as txn:
            state = ReindexState(host, since_s, txn.count(PAGES), self._clock.now_s())
            txn.put(META, REINDEX_KEY, msgspec.to_builtins(state))

    def _end(self) -> None:
        with self._store.write() as txn:
            state = read_state(txn)
            if state is not None and state.end_time_s is None:
                state = msgspec.structs.replace(state, end_time_s=self._clock.now_s(), is_stopped=True)
                txn.put(META, REINDEX_KEY, msgspec.to_builtins(state))

    def _read(self, state: ReindexState, after: int) -> _Batch:
        pages: list[_Stored] = []
        looked_at = skipped = 0
        with self._store.read() as txn:
            for url_id, page in txn.scan(PAGES, after + 1):
                after, looked_at = url_id, looked_at + 1
                stored = _stored(txn, state, url_id, page)
                if stored is None:
                    skipped += 1
                else:
                    pages.append(stored)
                if len(pages) == BATCH or looked_at == 20 * BATCH:
                    return _Batch(pages, after, looked_at, skipped, is_last=False)
        return _Batch(pages, after, looked_at, skipped, is_last=True)

    async def _parse(self, stored: _Stored) -> ParsedDocument | None:
        source = stored.source
        job = ParseJob(
            source.url, source.body, source.content_type, source.robots_headers, source.link_headers, self._token,
            last_modified=source.last_modified,
        )  # fmt: skip
        try:
            return await self._parser.parse(job)
        except ParserFailedError as error:
            _log.warning("reindex.page_failed", url=source.url, reason=error.message, then="it stays as it is")
            return None

    def _write(self, batch: _Batch, documents: list[ParsedDocument | None]) -> None:
        with self._store.write() as txn:
            changed = failed = 0
            for stored, document in zip(batch.pages, documents, strict=True):
                if document is None:
                    failed += 1
                elif txn.get(PAGES, stored.url_id) == stored.page:  # else a crawl was faster
                    changed += self._store_again(txn, stored, document).is_index_changed
            state = read_state(txn)
            assert state is not None
            state = msgspec.structs.replace(
                state,
                after=batch.after,
                looked_at=state.looked_at + batch.looked_at,
                derived=state.derived + len(batch.pages) - failed,
                changed=state.changed + changed,
                failed=state.failed + failed,
                skipped=state.skipped + batch.skipped,
                end_time_s=self._clock.now_s() if batch.is_last else None,
            )
            txn.put(META, REINDEX_KEY, msgspec.to_builtins(state))
        self._on_commit()

    def _store_again(self, txn: Txn, stored: _Stored, document: ParsedDocument) -> PageChange:
        is_feed = document.kind is ParseKind.SITEMAP and self.content.index_feeds
        if document.kind is ParseKind.DOCUMENT or is_feed:
            derived = self._derive(txn, stored, document)
            is_found = not derived.not_indexable_reason
            change = store_page(txn, derived, is_derived=True)
        else:
            # Today's code or settings would not have stored it: as a crawl leaves it, with its times as they were.
            page, is_found = stored.page, False
            change = mark_not_indexable(
                txn, stored.source.url, page.fetch_time_s, reason=MEDIA_TYPE, http_status=page.http_status,
                exit_code=ExitCode.FILE_OF_UNKNOWN_TYPE, media_type=document.media_type,
            )  # fmt: skip
        if change.is_index_changed and not is_found:
            restore_variants(txn, change.url_id, stored.source.url)
        return change

    def _derive(self, txn: Txn, stored: _Stored, document: ParsedDocument) -> FetchedPage:
        code, reason = judge_stored(txn, stored.source, document)
        if reason == stored.page.not_indexable_reason:
            code = ExitCode(stored.page.exit_code)
        return derive_page(stored.source, document, self.content, code, reason)


def _stored(txn: Txn, state: ReindexState, url_id: int, page: Page) -> _Stored | None:
    url = txn.get(URLS, url_id)
    if url is None or not page.content_digest or page.not_indexable_reason not in _DERIVED_REASONS:
        return None
    if page.last_contentful_s < state.since_s or (state.host and split(url.url).host != state.host):
        return None
    try:
        body = txn.get_blob(page.content_digest)
    except CorruptBlobError as error:
        _log.error("reindex.bytes_damaged", url=url.url, reason=str(error), then="the page stays as it is")
        return None
    source = Source(
        url.url,
        page.fetch_time_s,
        body,
        page.http_status,
        page.content_type or f"{page.media_type}; charset={page.charset}",
        page.robots_headers,
        page.link_headers,
        page.etag,
        page.last_modified,
        page.given,
    )
    return _Stored(url_id, page, source)
