"""Sitemaps and feeds: the locations that a site announces (J122-J125, F27-F37).

Formats: `urlset`, `sitemapindex`, a text file with one URL a line, RSS and Atom; each also compressed with gzip. All of
it is bounded, none of it is believed: a location is a link like any other.
"""

import math
import zlib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from jird_daemon.errors import InvalidUrlError
from jird_daemon.extract.charset import decode_body
from jird_daemon.extract.document import Location, Sitemap
from jird_daemon.extract.limits import SITEMAP_BYTES_MAX, SITEMAP_LOCATIONS_MAX
from jird_daemon.extract.sitemap_xml import DoctypeError, Entry, Grammar, SitemapReader
from jird_daemon.url.canonical import canonicalize, origin_of

# Names of formats that are feeds: their entries have words of their own.
FEED_FORMATS = frozenset({"rss", "atom"})
_GZIP = b"\x1f\x8b"
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
# Lines of a text sitemap that are looked at; beyond it, it is a text about something else.
_LINES_MAX = 2 * SITEMAP_LOCATIONS_MAX


def read_sitemap(body: bytes, url: str, content_type: str, *, is_own_origin: bool) -> Sitemap:
    """Read a sitemap or feed.

    Args:
        body: As received; a gzip file is unpacked, up to SITEMAP_BYTES_MAX.
        url: Canonical URL that answered.
        content_type: Content-Type field, may be empty.
        is_own_origin: Locations on other origins are left out and counted (J124).

    Returns:
        The sitemap; its `refusal` says why when it is none.
    """
    body, is_cut, fault = _unpacked(body)
    if fault:
        return Sitemap(refusal=fault)
    text = decode_body(body, content_type, is_html=True).text
    collected = _Locations(url, is_own_origin)
    name, is_index = "text", False
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        try:
            reader = SitemapReader(text)
            if reader.grammar is None:
                return Sitemap(refusal="its root element is none of a sitemap or feed")
            name, is_index = reader.grammar.name, reader.grammar.is_index
            _collect_xml(reader, reader.grammar, collected)
            is_cut |= reader.is_cut
        except DoctypeError:
            return Sitemap(refusal="it has a document type declaration")
    elif not _collect_text(text, collected):
        return Sitemap(refusal="it is neither XML nor a list of URLs")
    return Sitemap(
        name, is_index, tuple(collected.found.values()), collected.foreign, collected.refused, collected.repeated,
        is_cut or collected.is_full,
    )  # fmt: skip


def _unpacked(body: bytes) -> tuple[bytes, bool, str]:
    """Unpack gzip; gives the bytes, whether they were cut, and why they cannot be had."""
    if not body.startswith(_GZIP):
        return body[:SITEMAP_BYTES_MAX], len(body) > SITEMAP_BYTES_MAX, ""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        data = unpacker.decompress(body, SITEMAP_BYTES_MAX)
    except zlib.error as error:
        return b"", False, f"it is no gzip file: {error}"
    if not data:
        return b"", False, "its gzip file is empty"
    return data, not unpacker.eof, ""


class _Locations:
    """The distinct locations of a document, in order."""

    def __init__(self, url: str, is_own_origin: bool) -> None:
        self.found: dict[str, Location] = {}
        self.foreign = self.refused = self.repeated = 0
        self.is_full = False
        self.url = url
        self._origin = origin_of(url) if is_own_origin else ""

    def add(self, text: str, entry: Entry, base: str | None) -> bool:
        """Take one location as written; False when it is no URL that could be crawled."""
        try:
            # White space around a location is how XML is laid out (F31); inside of it J145 holds.
            url = canonicalize(text.strip(), base)
        except InvalidUrlError:
            return False
        if self._origin and origin_of(url) != self._origin:
            self.foreign += 1
        elif url in self.found:
            self.repeated += 1
        elif len(self.found) >= SITEMAP_LOCATIONS_MAX:
            self.is_full = True
        else:
            fields = entry.fields
            self.found[url] = Location(
                url,
                _time_s(fields.get("lastmod") or fields.get("published", "")),
                _priority(fields.get("priority", "")),
                _frequency(fields.get("changefreq", "")),
            )
        return True


def _collect_xml(reader: SitemapReader, grammar: Grammar, collected: _Locations) -> None:
    # RFC 4287 allows relative references; the sitemap protocol asks for whole URLs.
    base = collected.url if grammar.is_feed else None
    for entry in reader.entries():
        collected.refused += entry.refused
        for text in entry.locations:  # F29: one entry may hold several
            if not collected.add(text, entry, base):
                collected.refused += 1
        if collected.is_full:
            return


def _collect_text(text: str, collected: _Locations) -> bool:
    """Take a URL from each line; False when no line is one."""
    is_list = False
    nothing = Entry()
    for line in text.lstrip("\ufeff").split("\n", _LINES_MAX)[:_LINES_MAX]:
        if not line.strip():
            continue
        if collected.add(line, nothing, None):
            is_list = True
        else:
            collected.refused += 1
        if collected.is_full:
            break
    return is_list


def _time_s(text: str) -> float | None:
    """Seconds since 1970 of a W3C date or an RFC 5322 one; None for anything else. A date alone is its first second."""
    text = text.strip()[:64]
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, IndexError, TypeError):
            return None
    try:
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except OverflowError:
        return None


def _priority(text: str) -> float | None:
    try:
        value = float(text.strip()[:32])
    except ValueError:
        return None
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else None


def _frequency(text: str) -> str:
    word = text.strip().lower()
    return word if word in _FREQUENCIES else ""
