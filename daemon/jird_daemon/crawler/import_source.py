"""What a document of an import is taken to be, in the form in which a crawl hands over its own."""

import re
from dataclasses import replace

from jird_daemon.control import ImportedDocument
from jird_daemon.crawler.crawl_log import validator
from jird_daemon.crawler.derived import Source
from jird_daemon.errors import CorruptBlobError, InvalidUrlError
from jird_daemon.extract.limits import TITLE_CHARS_MAX
from jird_daemon.extract.walk import UNWANTED
from jird_daemon.store.pages import get_page
from jird_daemon.store.tables import Given
from jird_daemon.store.txn import Txn
from jird_daemon.url.canonical import canonicalize, split

# A clock that is a day off is no lie; what lies further ahead, or before there was time (1970), is none.
_AHEAD_S = 86_400.0
# RFC 5646: a primary subtag of the registry that names a language has two or three letters.
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_].*)?", re.DOTALL)
# Header lines that are kept of one document; a page's own are a few.
_HEADER_LINES_MAX = 64
_HEADER_CHARS_MAX = 8_192


def read_source(given: ImportedDocument, now_s: float) -> Source:
    """Take a document as it was given; what cannot be of title, language and times is left out.

    Raises:
        InvalidUrlError: Its URL is none, or not one of a page.
    """
    url = canonicalize(given.url)
    scheme = split(url).scheme if "://" in url else url.partition(":")[0]
    if scheme not in ("http", "https"):
        raise InvalidUrlError(f"scheme {scheme} is not http or https", "URL_SCHEME")
    language = _LANGUAGE.fullmatch(given.language)
    return Source(
        url=url,
        time_s=_possible(given.time_s, now_s) or now_s,
        body=given.body,
        content_type=given.content_type[:_HEADER_CHARS_MAX],
        robots_headers=_lines(given.robots_headers),
        link_headers=_lines(given.link_headers),
        etag=validator(given.etag),
        last_modified=validator(given.last_modified),
        given=Given(
            " ".join(UNWANTED.sub(" ", given.title[: 4 * TITLE_CHARS_MAX]).split())[:TITLE_CHARS_MAX].rstrip(),
            language[1].lower() if language is not None else "",
            _possible(given.published_s, now_s),
        ),
    )


def repeated(txn: Txn, source: Source, same_as_url: str) -> Source | None:
    """Give a document the bytes that another URL, or its own, has here; None when there are none."""
    try:
        found = get_page(txn, canonicalize(same_as_url))
        if found is None or not found[1].content_digest:
            return None
        page = found[1]
        return replace(
            source, body=txn.get_blob(page.content_digest), content_type=source.content_type or page.content_type
        )
    except (InvalidUrlError, CorruptBlobError):
        return None


def _possible(time_s: float | None, now_s: float) -> float | None:
    return time_s if time_s is not None and 0.0 < time_s <= now_s + _AHEAD_S else None


def _lines(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value[:_HEADER_CHARS_MAX] for value in values[:_HEADER_LINES_MAX])
