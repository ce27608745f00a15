"""Pages on their way out: block after block, each read in a snapshot of its own that is soon let go (F95)."""

from jird.v1 import archive_service_pb2 as archive_pb
from jird_daemon.errors import CorruptBlobError
from jird_daemon.log import get_logger
from jird_daemon.rpc.convert import timestamp
from jird_daemon.store.generations import last_generation
from jird_daemon.store.tables import PAGES, URLS, Page
from jird_daemon.store.text_pile import decode_pile
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import url_digest
from jird_daemon.url.canonical import split

# A block ends at the first of these: some milliseconds of reading, and room for one page of any size within a message.
PAGES_A_BLOCK = 256
BYTES_A_BLOCK = 1024 * 1024
LOOKED_AT_A_BLOCK = 5_000

_log = get_logger("export")


class Exporter:
    """One export's place in the store; `next_block` may be called from any thread, one at a time."""

    def __init__(self, request: archive_pb.ExportPagesRequest) -> None:
        """Take what is wanted."""
        self._request = request
        self._host = request.host.lower()
        self._since_s = request.since_time.seconds + request.since_time.nanos / 1e9
        self._after = 0
        self._end: int | None = None
        self._looked_at = 0
        self._total = 0
        self.is_done = False

    def next_block(self, txn: Txn) -> archive_pb.ExportPagesResponse:
        """Read the next pages."""
        if self._end is None:
            self._total = txn.count(PAGES)
            self._end = next((url_id for url_id, _ in txn.scan(PAGES, reverse=True)), 0)
        pages: list[archive_pb.ExportedPage] = []
        looked_at = size = 0
        for url_id, page in txn.scan(PAGES, self._after + 1, self._end + 1):
            self._after, looked_at = url_id, looked_at + 1
            found = self._read(txn, url_id, page)
            if found is not None:
                pages.append(found)
                size += len(found.text) + len(found.content)
            if len(pages) == PAGES_A_BLOCK or size >= BYTES_A_BLOCK or looked_at == LOOKED_AT_A_BLOCK:
                break
        else:
            self.is_done = True
        self._looked_at += looked_at
        return archive_pb.ExportPagesResponse(pages=pages, done_count=self._looked_at, total_count=self._total)

    def _read(self, txn: Txn, url_id: int, page: Page) -> archive_pb.ExportedPage | None:
        """A page that is wanted; None for others, and for URLs that never had content (redirects, pictures)."""
        changed_s = page.last_contentful_s if page.is_indexable else page.fetch_time_s
        if not page.pile_digest or changed_s < self._since_s:
            return None
        url = txn.get(URLS, url_id)
        if url is None or (self._host and split(url.url).host != self._host):
            return None
        message = _describe(txn, url_id, url.url, page)
        try:
            if self._request.with_text and page.text_digest:
                message.text = decode_pile(txn.get_blob(page.text_digest)).text
            if self._request.with_content and page.content_digest:
                message.content = txn.get_blob(page.content_digest)
        except CorruptBlobError as error:
            _log.error("export.content_damaged", url=url.url, reason=str(error), then="exported without it")
        return message


def _describe(txn: Txn, url_id: int, url: str, page: Page) -> archive_pb.ExportedPage:
    last = last_generation(txn, url_id)
    generation = last[1] if last is not None else None
    return archive_pb.ExportedPage(
        url=url,
        id=url_digest(url),
        is_searchable=page.is_indexable,
        not_searchable_reason=page.not_indexable_reason,
        title=page.title,
        description=page.description,
        language=page.language,
        published_time=timestamp(page.published_s),
        first_seen_time=timestamp(generation.first_seen_s if generation else None),
        last_seen_time=timestamp(generation.last_seen_s if generation else None),
        fetch_time=timestamp(page.fetch_time_s),
        media_type=page.media_type,
        http_status=page.http_status,
        text_digest=page.pile_digest,
        content_type=page.content_type,
        robots_headers=page.robots_headers,
        link_headers=page.link_headers,
        etag=page.etag,
        last_modified=page.last_modified,
        content_time=timestamp(page.last_contentful_s),
        is_duplicate=page.is_duplicate,
        given_title=page.given.title,
        given_language=page.given.language,
        given_published_time=timestamp(page.given.published_s),
    )
