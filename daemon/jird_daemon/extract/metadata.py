"""What a page says about itself: title, description, language, robots directives, dates."""

import re

from selectolax.lexbor import LexborHTMLParser

from jird_daemon.extract.dates import PageDates, date_scripts, read_dates
from jird_daemon.extract.limits import DESCRIPTION_CHARS_MAX, HEADING_CHARS_MAX, HEADINGS_MAX, TITLE_CHARS_MAX
from jird_daemon.extract.tree import PageTree
from jird_daemon.store.text_pile import MarkerKind
from jird_daemon.url.directives import Directives, parse_meta

_TITLE_NAMES = ("og:title", "twitter:title")
_DESCRIPTION_NAMES = ("description", "og:description", "twitter:description")
# RFC 5646: the primary subtag is two or three letters; grandfathered tags (i-klingon) name no language of the registry.
_PRIMARY_SUBTAG = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_]|\s*(?:,.*)?$)", re.DOTALL)
_TAG_CHARS_MAX = 64

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
            found = _PRIMARY_SUBTAG.match(value[:_TAG_CHARS_MAX]) if value else None
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

    def dates(self, parser: LexborHTMLParser, source: bytes, last_modified: str, now_s: float) -> PageDates:
        """When the page says that it was published and changed."""
        scripts = date_scripts(parser, source)
        modified = (self._http_equiv("last-modified"), last_modified)
        return read_dates(self._metas, scripts, self._tree.times, modified, now_s)

    def _http_equiv(self, name: str) -> str:
        for attributes in self._tree.metas:
            if (attributes.get("http-equiv") or "").strip().lower() == name:
                return attributes.get("content") or ""
        return ""


def _clean(text: str, chars_max: int) -> str:
    return " ".join(text[: 4 * chars_max].split())[:chars_max].rstrip() if text else ""
