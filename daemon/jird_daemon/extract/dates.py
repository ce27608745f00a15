"""When a page was published and changed, as it says itself, or as its server says.

Nobody checks these dates, so what cannot be is passed over and the next source is asked: years before the web, days
ahead, a change before the publication.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from selectolax.lexbor import LexborHTMLParser

from jird_daemon.extract.tree import Attributes
from jird_daemon.url.http_date import parse_http_date

_PUBLISHED_NAMES = (
    "article:published_time", "og:published_time", "datepublished", "citation_publication_date", "citation_date",
    "dcterms.created", "dcterms.date", "dc.date.issued", "dc.date.created", "dc.date", "date", "pubdate",
    "publish_date", "publication_date", "article:published", "parsely-pub-date", "sailthru.date",
)  # fmt: skip
_MODIFIED_NAMES = (
    "article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified",
    "article:modified", "last-modified", "lastmod", "revised",
)  # fmt: skip
_PUBLISHED, _MODIFIED = "datePublished", "dateModified"
_JSON_DATE = re.compile(rf'"({_PUBLISHED}|{_MODIFIED})"\s*:\s*"([^"]{{4,40}})"')
_JSON_DATE_NAME = re.compile(rf'"({_PUBLISHED}|{_MODIFIED})"'.encode())
_JSON_LD = 'script[type="application/ld+json"]'
_JSON_LD_CHARS_MAX = 262_144
_DATE_CHARS_MAX = 64
_PLAIN_DATE = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?$")
# The web began in 1990; a clock that is a day off is no lie.
_EARLIEST_S = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_AHEAD_S = 86_400.0


@dataclass(frozen=True, slots=True)
class PageDates:
    """Unix seconds; None where nothing believable is said."""

    published_s: float | None
    modified_s: float | None  # not before the publication


def read_dates(
    metas: Mapping[str, str], scripts: Iterable[str], times: list[Attributes], modified: Iterable[str], now_s: float
) -> PageDates:
    """Choose among what a page says.

    Args:
        metas: Contents of its meta elements by name in lower case.
        scripts: Its JSON-LD, each element cut to a bounded length.
        times: Its time elements.
        modified: Further texts that say when it was changed, the better first: headers.
        now_s: Current time.
    """
    said = [found.groups() for script in scripts for found in _JSON_DATE.finditer(script)]
    published = [metas[name] for name in _PUBLISHED_NAMES if name in metas]
    published += [_unescape(text) for name, text in said if name == _PUBLISHED]
    changed = [metas[name] for name in _MODIFIED_NAMES if name in metas]
    changed += [_unescape(text) for name, text in said if name == _MODIFIED]
    published_s = _first([*published, *_publication_times(times)], now_s)
    changes = _plausible([*changed, *_times_of(times, "datemodified"), *modified], now_s)
    return PageDates(published_s, next((each for each in changes if published_s is None or each >= published_s), None))


def date_scripts(parser: LexborHTMLParser, source: bytes) -> list[str]:
    """Give the JSON-LD of a page that holds a date; [] for most pages, without a search."""
    if _JSON_DATE_NAME.search(source) is None:
        return []
    return [script.text()[:_JSON_LD_CHARS_MAX] for script in parser.css(_JSON_LD)]


def plausible_date(text: str, now_s: float) -> float | None:
    """Read a date as `parse_date` does; None also when it cannot be that of a page."""
    return _first((text,), now_s)


def parse_date(text: str, now_s: float) -> float | None:
    """Read a date as pages write it: ISO 8601, a bare day or month, or a form of HTTP; without a zone it is UTC."""
    text = text.strip()
    if not text or len(text) > _DATE_CHARS_MAX:
        return None
    try:
        plain = _PLAIN_DATE.match(text)
        if plain is not None:
            moment = datetime(int(plain[1]), int(plain[2]), int(plain[3] or 1), tzinfo=UTC)
        else:
            moment = datetime.fromisoformat(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError):
        return parse_http_date(text, now_s)


def _plausible(texts: Iterable[str], now_s: float) -> Iterator[float]:
    for text in texts:
        moment = parse_date(text, now_s)
        if moment is not None and _EARLIEST_S <= moment <= now_s + _AHEAD_S:
            yield moment


def _first(texts: Iterable[str], now_s: float) -> float | None:
    return next(_plausible(texts, now_s), None)


def _publication_times(times: list[Attributes]) -> list[str]:
    """Dates of time elements: those marked as the publication, else the only one."""
    marked = [each.get("datetime") or "" for each in times if "pubdate" in each] + _times_of(times, "datepublished")
    if marked or len(times) != 1 or _times_of(times, "datemodified"):
        return marked
    return [times[0].get("datetime") or ""]


def _times_of(times: list[Attributes], name: str) -> list[str]:
    return [each.get("datetime") or "" for each in times if name in (each.get("itemprop") or "").lower().split()]


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return ""
