"""From the store's rows to what the segment builder takes: the one place that says what of a page is indexed."""

from collections.abc import Iterator, Sequence

import msgspec

from jird_daemon.errors import CorruptBlobError
from jird_daemon.index.analysis import PageText, analyze_page
from jird_daemon.log import get_logger
from jird_daemon.store import Store, Txn
from jird_daemon.store.tables import PAGES, URLS, Image, Page
from jird_daemon.store.text_pile import decode_pile
from jird_native import DocumentInput

log = get_logger("index")

_RANK_ZERO = 1 << 15
# Bits of the flags column.
FLAG_DUPLICATE = 1  # another page with the same text stands for it

# Of all pictures of a page, behind its text: enough for 100 captions of eight words.
IMAGE_WORDS_CHARS_MAX = 6_000

# Pages read in one snapshot: some tens of milliseconds, so that LMDB can use freed pages again soon (F95).
_PAGES_A_SNAPSHOT = 64


def read_document(store: Store, txn: Txn, page_id: int, page: Page, max_chars: int) -> DocumentInput:
    """Make the document of an indexable page.

    A page whose text cannot be read is indexed by what else is known of it, and logged: one damaged blob must neither
    hide its page nor stop the others.

    Args:
        store: To read the text from.
        txn: A snapshot.
        page_id: The page.
        page: Its row.
        max_chars: Characters of its text that are indexed (S5); the builder's own bounds hold besides.
    """
    url = txn.get(URLS, page_id)
    assert url is not None, f"page {page_id} has a row and no URL"
    body = ""
    if page.text_digest:
        try:
            body = decode_pile(store.get_blob(page.text_digest)).text[:max_chars]
        except (CorruptBlobError, msgspec.DecodeError) as error:
            log.error("index.text_damaged", url=url.url, reason=str(error), action="indexed without its text")
    words = image_words(page.images)
    return analyze_page(
        PageText(
            page_id=page_id,
            origin_id=url.origin_id,
            url=url.url,
            title=page.title,
            headings=page.headings,
            anchors=page.anchors,
            body=f"{body}\n{words}" if words else body,
            language=page.language,
            date_s=int(page.published_s or 0),
            static_rank=static_rank(page.indexiness),
            flags=FLAG_DUPLICATE if page.is_duplicate else 0,
        )
    )


def image_words(images: Sequence[Image]) -> str:
    """What is written to the pictures of a page, for those who do not see them: each text once, in its own line."""
    return "\n".join(dict.fromkeys(image.alt for image in images if image.alt))[:IMAGE_WORDS_CHARS_MAX]


def static_rank(indexiness: int) -> int:
    """The column's value for an indexiness: 32,768 is neither leaf nor index; what is beyond its range is cut."""
    return min(max(indexiness + _RANK_ZERO, 1), 2 * _RANK_ZERO - 1)


def documents_of(store: Store, page_ids: Sequence[int], max_chars: int) -> Iterator[DocumentInput]:
    """Documents of those of the pages that can be found now, in the order given."""
    for start in range(0, len(page_ids), _PAGES_A_SNAPSHOT):
        with store.read() as txn:
            for page_id in page_ids[start : start + _PAGES_A_SNAPSHOT]:
                page = txn.get(PAGES, page_id)
                if page is not None and page.is_indexable:
                    yield read_document(store, txn, page_id, page, max_chars)


def all_documents(store: Store, max_chars: int) -> Iterator[tuple[int, DocumentInput | None]]:
    """Every page in the order of its number: how many pages were read, and the document if it can be found.

    Each page is read as it is at that moment; what changes meanwhile is in the changes after the generation at which
    the walk began.
    """
    done, after = 0, 0
    while True:
        batch: list[tuple[int, DocumentInput | None]] = []
        with store.read() as txn:
            for page_id, page in txn.scan(PAGES, after + 1):
                done, after = done + 1, page_id
                document = read_document(store, txn, page_id, page, max_chars) if page.is_indexable else None
                batch.append((done, document))
                if len(batch) >= _PAGES_A_SNAPSHOT:
                    break
        if not batch:
            return
        yield from batch
