"""Documents that come from a file: parsed and stored as those of a crawl, without a request to anyone.

A batch is parsed by the workers while the one before it is written; batches are written in the order in which they
came, each in one transaction and as one step of the index generation (J37). What is stored already is passed over
before it is parsed, so that an import that broke off is simply run again.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jird_daemon.clock import Clock
from jird_daemon.control import ImportedDocument, ImportOutcome, ImportResult
from jird_daemon.crawler.admission import excluded_from_imports
from jird_daemon.crawler.derived import Source, derive_page, judge_stored
from jird_daemon.crawler.import_source import read_source, repeated
from jird_daemon.crawler.variants import restore_variants
from jird_daemon.crawler.visitor import Parser
from jird_daemon.errors import InvalidArgumentError, InvalidUrlError, ParserFailedError
from jird_daemon.extract.document import ParsedDocument, ParseJob, ParseKind
from jird_daemon.log import get_logger
from jird_daemon.store.blobs import blob_digest
from jird_daemon.store.env import Store
from jird_daemon.store.pages import INDEX_GENERATION, get_page, one_generation, retire_page, store_page, touch_page
from jird_daemon.store.tables import Page
from jird_daemon.store.txn import Txn
from jird_settings import Settings

# Documents of one batch: the contract's number.
DOCUMENTS_MAX = 1_000
# What a page that an import says is gone is taken to have answered: gone for good.
_GONE_STATUS = 410

_KINDS = {
    ParseKind.CHALLENGE: "a challenge page",
    ParseKind.SITEMAP: "a sitemap or feed",
    ParseKind.TOO_COMPLEX: "too complex",
    ParseKind.UNKNOWN_TYPE: "not a document",
}


_log = get_logger("import")


@dataclass(slots=True)
class _Item:
    """One document on its way; `result` is set once nothing is left to do."""

    given: ImportedDocument
    source: Source
    document: ParsedDocument | None = None
    is_same: bool = False  # the store has this already, and what is left to note is the time
    result: ImportResult | None = None


class Importer:
    """Belongs to an event loop; the store is used in threads."""

    def __init__(
        self, store: Store, parser: Parser, settings: Settings, clock: Clock, on_commit: Callable[[], None]
    ) -> None:
        """Take the parts it works with.

        Args:
            store: Open for writing.
            parser: The parse workers.
            settings: All of them.
            clock: For documents that come without a time.
            on_commit: Called after each transaction.
        """
        self._store = store
        self._parser = parser
        self._clock = clock
        self._on_commit = on_commit
        self._last: asyncio.Future[None] | None = None  # done when the batch that came last is written
        self.take_up(settings)

    def take_up(self, settings: Settings) -> None:
        """Act by other settings from the next batch on."""
        self._content = settings.content
        self._body_bytes_max = settings.crawl.max_body_bytes
        self._excluded = excluded_from_imports(settings.crawl)
        self._token = settings.crawl.user_agent.split(" ", 1)[0]

    async def run(self, documents: Sequence[ImportedDocument]) -> tuple[int, tuple[ImportResult, ...]]:
        """Import a batch; returns the index generation, and a result for each document, in order.

        Raises:
            InvalidArgumentError: There are too many.
            StoreFullError: There is no room; nothing of the batch is stored.
        """
        if len(documents) > DOCUMENTS_MAX:
            raise InvalidArgumentError(f"{len(documents)} documents, at most {DOCUMENTS_MAX}", "IMPORT_TOO_MANY")
        before, mine = self._last, asyncio.get_running_loop().create_future()
        self._last = mine
        try:
            items = await asyncio.to_thread(self._prepare, documents)
            await asyncio.gather(*(self._parse(item) for item in items if item.result is None and not item.is_same))
            if before is not None:
                await before
            generation = await asyncio.to_thread(self._write, items)
        finally:
            mine.set_result(None)
        results = [item.result for item in items if item.result is not None]
        assert len(results) == len(items)
        stored = sum(result.outcome is ImportOutcome.STORED for result in results)
        _log.info("import.done", documents=len(results), stored=stored, generation=generation)
        return generation, tuple(results)

    async def close(self) -> None:
        """Wait for the batch that came last."""
        if self._last is not None:
            await self._last

    def _prepare(self, documents: Sequence[ImportedDocument]) -> list[_Item]:
        now_s = self._clock.now_s()
        with self._store.read() as txn:
            return [self._look(txn, given, now_s) for given in documents]

    def _look(self, txn: Txn, given: ImportedDocument, now_s: float) -> _Item:
        item = _Item(given, Source("", now_s, b""))
        try:
            item.source = source = read_source(given, now_s)
        except InvalidUrlError as error:
            item.result = ImportResult(ImportOutcome.REFUSED, error.message)
            return item
        refusal = self._excluded(source.url)
        if refusal is not None:
            item.result = ImportResult(ImportOutcome.EXCLUDED, refusal.message)
        elif len(source.body) > self._body_bytes_max:
            item.result = ImportResult(
                ImportOutcome.REFUSED,
                f"{len(source.body)} bytes, at most {self._body_bytes_max} (crawl.max_body_bytes)",
            )
        elif given.same_as_url:
            self._look_up_repeated(txn, item)
        elif not given.is_gone:
            item.is_same = _is_stored(txn, item)
        return item

    def _look_up_repeated(self, txn: Txn, item: _Item) -> None:
        """Find what a document says it has in common with one that came before."""
        source = repeated(txn, item.source, item.given.same_as_url)
        if source is None:
            item.result = ImportResult(
                ImportOutcome.NOT_READ, f"it repeats {item.given.same_as_url}, which is not here"
            )
        else:
            item.source = source
            item.is_same = _is_stored(txn, item)

    async def _parse(self, item: _Item) -> None:
        source = item.source
        if item.given.is_gone:
            return
        job = ParseJob(
            source.url, source.body, source.content_type, source.robots_headers, source.link_headers, self._token,
            last_modified=source.last_modified,
        )  # fmt: skip
        try:
            document = await self._parser.parse(job)
        except ParserFailedError as error:
            item.result = ImportResult(ImportOutcome.FAILED, f"the parser had to be given up: {error.message}")
            return
        is_feed = document.kind is ParseKind.SITEMAP and self._content.index_feeds and bool(document.pile_bytes)
        if document.kind is ParseKind.DOCUMENT or is_feed:
            item.document = document
        else:
            message = document.message or document.media_type or _KINDS[document.kind]
            item.result = ImportResult(ImportOutcome.NOT_READ, message)

    def _write(self, items: list[_Item]) -> int:
        with self._store.write() as txn:
            with one_generation(txn):
                results = [item.result or self._store_item(txn, item) for item in items]
            generation = txn.number(INDEX_GENERATION)
        for item, result in zip(items, results, strict=True):
            item.result = result
        self._on_commit()
        return generation

    def _store_item(self, txn: Txn, item: _Item) -> ImportResult:
        source = item.source
        found = get_page(txn, source.url)
        page = found[1] if found is not None else None
        is_newer = page is None or source.time_s >= page.fetch_time_s
        if item.is_same:
            if page is not None and is_newer:
                touch_page(txn, source.url, source.time_s, http_status=page.http_status, exit_code=page.exit_code)
            return ImportResult(ImportOutcome.UNCHANGED)
        if not is_newer:
            return ImportResult(ImportOutcome.OLDER)
        if item.given.is_gone:
            return _retire(txn, source, page)
        assert item.document is not None
        code, reason = judge_stored(txn, source, item.document)
        change = store_page(txn, derive_page(source, item.document, self._content, code, reason))
        if reason:
            restore_variants(txn, change.url_id, source.url)
        return ImportResult(ImportOutcome.STORED, reason)


def _retire(txn: Txn, source: Source, page: Page | None) -> ImportResult:
    if page is None or not page.is_indexable:
        return ImportResult(ImportOutcome.UNCHANGED)
    change = retire_page(txn, source.url, source.time_s, http_status=_GONE_STATUS)
    restore_variants(txn, change.url_id, source.url)
    return ImportResult(ImportOutcome.RETIRED)


def _is_stored(txn: Txn, item: _Item) -> bool:
    """Whether what can be found now was made of these very bytes, headers and words."""
    found = get_page(txn, item.source.url)
    if found is None or not found[1].is_indexable:
        return False
    page, source = found[1], item.source
    stored = Source(
        source.url, source.time_s, source.body, page.http_status, page.content_type, page.robots_headers,
        page.link_headers, page.etag, page.last_modified, page.given,
    )  # fmt: skip
    return page.content_digest == blob_digest(source.body) and stored == replace(source, http_status=page.http_status)
