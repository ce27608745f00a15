"""What a page says about itself: title, description, language, robots directives, and when it was published."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from selectolax.lexbor import LexborHTMLParser

from jird_daemon.extract.limits import DESCRIPTION_CHARS_MAX, HEADING_CHARS_MAX, HEADINGS_MAX, TITLE_CHARS_MAX
from jird_daemon.extract.tree import Attributes, PageTree
from jird_daemon.store.text_pile import MarkerKind
from jird_daemon.url.directives import Directives, parse_meta
from jird_daemon.url.http_date import parse_http_date

_TITLE_NAMES = ("og:title", "twitter:title")
_DESCRIPTION_NAMES = ("description", "og:description", "twitter:description")
_DATE_NAMES = (
    "article:published_time", "og:published_time", "datepublished", "citation_publication_date", "citation_date",
    "dcterms.created", "dcterms.date", "dc.date.issued", "dc.date.created", "dc.date", "date", "pubdate",
    "publish_date", "publication_date", "article:published", "parsely-pub-date", "sailthru.date",
)  # fmt: skip
# RFC 5646: the primary subtag is two or three letters; grandfathered tags (i-klingon) name no language of the registry.
_PRIMARY_SUBTAG = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_]|\s*(?:,.*)?$)", re.DOTALL)
_JSON_DATE = re.compile(r'"datePublished"\s*:\s*"([^"]{4,40})"')
_JSON_LD = 'script[type="application/ld+json"]'
_JSON_LD_CHARS_MAX = 262_144
_DATE_CHARS_MAX = 64
_PLAIN_DATE = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?$")
# The web began in 1990; a clock that is a day off is no lie.
_EARLIEST_S = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_AHEAD_S = 86_400.0


_HEADING_MIN, _HEADING_MAX = int(MarkerKind.HEADING_1), int(MarkerKind.HEADING_6)


class Metadata:
    """Reads the metadata of one walked page."""

    def __init__(self, tree: PageTree, text: str) -> None:
        self._tree = tree
        self._text = text
        self._metas: dict[str, str] = {}
        for attributes in tree.metas:
            content = attributes.get("content")
            name = (attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or "").strip()
            if name and content:
                self._metas.setdefault(name.lower(), content)

    def title(self) -> str:
        """The title element, else what the page calls itself for sharing, else its first headline (J162)."""
        candidates = [self._tree.title or "", *(self._metas.get(name, "") for name in _TITLE_NAMES)]
        for candidate in candidates:
            title = _clean(candidate, TITLE_CHARS_MAX)
            if title:
                return title
        headings = self.headings()
        return headings[0][:TITLE_CHARS_MAX] if headings else ""

    def description(self) -> str:
        """The meta description, else that for sharing; "" when there is none."""
        for name in _DESCRIPTION_NAMES:
            description = _clean(self._metas.get(name, ""), DESCRIPTION_CHARS_MAX)
            if description:
                return description
        return ""

    def headings(self) -> tuple[str, ...]:
        """Text of the headlines in order, bounded in number and length."""
        found = []
        for kind, start, end in self._tree.markers:
            if _HEADING_MIN <= kind <= _HEADING_MAX and start >= 0:
                text = self._text[start : min(end, start + HEADING_CHARS_MAX)]
                found.append(text.replace("\n", " "))
                if len(found) == HEADINGS_MAX:
                    self._tree.truncated.add("document_headings")
                    break
        return tuple(found)

    def language(self) -> str:
        """Primary subtag of the declared language, lower case; "" when none is declared."""
        root = self._tree.root_attributes
        for value in (root.get("lang"), root.get("xml:lang"), self._http_equiv("content-language")):
            found = _PRIMARY_SUBTAG.match(value[:_DATE_CHARS_MAX]) if value else None
            if found is not None:
                return found[1].lower()
        return ""

    def directives(self, product_token: str, now_s: float) -> Directives:
        """What meta elements for all robots, or for ours, ask (J136)."""
        result = Directives()
        names = ("robots", product_token.lower())
        for attributes in self._tree.metas:
            if (attributes.get("name") or "").strip().lower() in names:
                result |= parse_meta(attributes.get("content") or "", now_s)
        return result

    def published_s(self, parser: LexborHTMLParser, source: bytes, now_s: float) -> float | None:
        """When the page says it was published, in unix seconds; None when it does not, or says what cannot be."""
        for text in self._dates(parser, source):
            moment = plausible_date(text, now_s)
            if moment is not None:
                return moment
        return None

    def _dates(self, parser: LexborHTMLParser, source: bytes) -> Iterator[str]:
        for name in _DATE_NAMES:
            if name in self._metas:
                yield self._metas[name]
        if b"datePublished" in source:
            for script in parser.css(_JSON_LD):
                found = _JSON_DATE.search(script.text()[:_JSON_LD_CHARS_MAX])
                if found is not None:
                    yield _unescape(found[1])
        yield from _time_elements(self._tree.times)

    def _http_equiv(self, name: str) -> str:
        for attributes in self._tree.metas:
            if (attributes.get("http-equiv") or "").strip().lower() == name:
                return attributes.get("content") or ""
        return ""


def _time_elements(times: list[Attributes]) -> Iterator[str]:
    """Dates of time elements: those marked as the publication, else the only one."""
    marked = [t for t in times if "pubdate" in t or "datepublished" in (t.get("itemprop") or "").lower()]
    for attributes in marked or (times if len(times) == 1 else []):
        value = attributes.get("datetime")
        if value:
            yield value


def plausible_date(text: str, now_s: float) -> float | None:
    """Read a date as `parse_date` does; None also when it cannot be that of a page."""
    moment = parse_date(text, now_s)
    return moment if moment is not None and _EARLIEST_S <= moment <= now_s + _AHEAD_S else None


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


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return ""


def _clean(text: str, chars_max: int) -> str:
    return " ".join(text[: 4 * chars_max].split())[:chars_max].rstrip() if text else ""
