"""Everything that is known of one URL, gathered from the store's tables."""

from itertools import islice

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird.v1 import document_pb2 as document_pb
from jird_daemon.errors import NotFoundError
from jird_daemon.extract.indexiness import measure_indexiness
from jird_daemon.rpc.convert import document_message, generation_message, log_entry_message, timestamp
from jird_daemon.rpc.crawl_log import LogFilter, read_log
from jird_daemon.store.duplicates import standing_page
from jird_daemon.store.pages import get_page
from jird_daemon.store.tables import GENERATIONS, INLINKS, LINKS, PAGES, URLS, LinkSet, Page
from jird_daemon.store.text_pile import decode_pile
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import find_url

INLINKS_MAX = 100  # the contract's number
GENERATIONS_MAX = 1_000  # newest; a page that changes daily fills them in three years
LOG_ENTRIES_MAX = 10
NEVER_ANSWERED = "it was discovered, and has not answered yet"


def read_page(txn: Txn, url: str, *, with_text: bool) -> crawl_pb.Page:
    """Gather a page.

    Args:
        txn: A snapshot.
        url: Canonical.
        with_text: Also read its stored text.

    Raises:
        NotFoundError: The URL was never heard of.
        CorruptBlobError: The stored text is damaged.
    """
    url_id = find_url(txn, url)
    if url_id is None:
        raise NotFoundError(f"{url} was never heard of", "PAGE_UNKNOWN")
    page = txn.get(PAGES, url_id)
    inlinks = _inlinks(txn, url_id)
    if page is None:
        document = document_pb.Document(url=url)
        return crawl_pb.Page(
            document=document,
            not_searchable_reason=NEVER_ANSWERED,
            inlinks=inlinks,
            log_entries=_log_entries(txn, url),
        )
    scan = txn.scan(GENERATIONS, (url_id, 0), (url_id + 1, 0), reverse=True)
    generations = [generation for _, generation in islice(scan, GENERATIONS_MAX)]
    links = txn.get(LINKS, url_id) or LinkSet()
    message = crawl_pb.Page(
        document=document_message(url, page, generations[0] if generations else None),
        is_searchable=page.is_indexable,
        not_searchable_reason="" if page.is_indexable else page.not_indexable_reason,
        http_status=page.http_status,
        fetch_time=timestamp(page.fetch_time_s),
        exit_code=page.exit_code,  # type: ignore[arg-type]
        media_type=page.media_type,
        etag=page.etag,
        last_modified=page.last_modified,
        canonical_url=page.canonical_url,
        content_digest=page.content_digest.hex(),
        text_digest=page.text_digest.hex(),
        content_bytes=page.content_bytes,
        generations=[generation_message(each, is_latest=number == 0) for number, each in enumerate(generations)],
        links=[crawl_pb.Link(url=link.to_url, text=link.text, is_nofollow=link.is_nofollow) for link in links.links],
        inlinks=inlinks,
        images=_images(url, page),
        charset=page.charset,
        published_time=timestamp(page.published_s),
        headings=page.headings,
        anchors=page.anchors,
        redirect_url=page.final_url,
        log_entries=_log_entries(txn, url),
        duplicate_of_url=_url(txn, standing_page(txn, url_id, page)) if page.is_duplicate else "",
        near_duplicate_of_url=_url(txn, page.near_duplicate_of),
    )
    if with_text and page.text_digest:
        message.text = decode_pile(txn.get_blob(page.text_digest)).text
    return message


def read_indexiness(txn: Txn, url: str) -> crawl_pb.Indexiness:
    """Count the links of a page again, as its stored score was made.

    Raises:
        NotFoundError: The URL never had content.
    """
    found = get_page(txn, url)
    if found is None:
        raise NotFoundError(f"{url} has not answered yet", "PAGE_UNKNOWN")
    url_id, page = found
    links = txn.get(LINKS, url_id) or LinkSet()
    measured = measure_indexiness(links.links, is_dated=page.published_s is not None)
    parts = [crawl_pb.IndexinessPart(name=name, count=count, weight=weight) for name, count, weight in measured.parts]
    return crawl_pb.Indexiness(url=url, score=measured.score, parts=parts)


def _inlinks(txn: Txn, url_id: int) -> list[str]:
    scan = txn.scan(INLINKS, (url_id, 0), (url_id + 1, 0))
    urls = (txn.get(URLS, from_id) for (_, from_id), _ in islice(scan, INLINKS_MAX))
    return [url.url for url in urls if url is not None]


def _log_entries(txn: Txn, url: str) -> list[crawl_pb.CrawlLogEntry]:
    return [log_entry_message(*entry) for entry in read_log(txn, LogFilter(url=url), LOG_ENTRIES_MAX).entries]


def _url(txn: Txn, url_id: int) -> str:
    found = txn.get(URLS, url_id) if url_id else None
    return found.url if found is not None else ""


def _images(url: str, page: Page) -> list[document_pb.Image]:
    return [
        document_pb.Image(url=image.url, alt=image.alt, page_url=url, page_title=page.title) for image in page.images
    ]
