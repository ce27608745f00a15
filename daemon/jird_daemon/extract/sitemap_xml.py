"""The XML of sitemaps and feeds: which locations stand in it, whatever state the file is in.

No XML parser of others: jird reads a handful of elements, resolves the five predefined entities and numeric references
and nothing else, refuses every document type declaration (so there is nothing to expand, and nowhere to fetch from:
J125, F33), and reads what a strict parser would throw away with one bad entry (F31). Work is linear in the length.

Source: sitemaps.org protocol 0.9; RSS 2.0, RSS 1.0 (RDF) and RFC 4287 (Atom) for feeds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# A tag without an end within so many characters is no tag of a sitemap: what follows is not read.
TAG_CHARS_MAX = 16_384
# Elements within each other; a sitemap has four, a feed with markup in it a few dozen.
DEPTH_MAX = 256

_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z_][\w.-]{0,63}));")
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ATTRIBUTE = re.compile(r"""([\w:.-]{1,100})\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NAME = re.compile(r"[\w:.-]{1,100}")


class DoctypeError(ValueError):
    """The document has a document type declaration."""


@dataclass(slots=True)
class Entry:
    """One url, sitemap, item or entry element as written; references resolved, white space kept."""

    locations: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)  # lastmod, priority, changefreq
    refused: int = 0  # locations with markup in them, or with references that mean nothing


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the elements of one format are called, in lower case and without prefix."""

    name: str
    entry: str
    location: str
    fields: dict[str, str]
    is_index: bool = False
    is_feed: bool = False


_SITEMAP_FIELDS = {"lastmod": "lastmod", "priority": "priority", "changefreq": "changefreq"}
_RSS = Grammar("rss", "item", "link", {"pubdate": "lastmod", "guid": "guid"}, is_feed=True)
GRAMMARS = {
    "urlset": Grammar("urlset", "url", "loc", _SITEMAP_FIELDS),
    "sitemapindex": Grammar("sitemapindex", "sitemap", "loc", _SITEMAP_FIELDS, is_index=True),
    "rss": _RSS,
    "rdf": _RSS,
    "feed": Grammar("atom", "entry", "link", {"updated": "lastmod", "published": "published"}, is_feed=True),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A tag, or the text between two."""

    kind: str  # "start", "end", "text"
    name: str = ""  # with its prefix, lower case
    value: str = ""  # attributes of a tag as written; text with references, or of a CDATA section without
    is_empty: bool = False  # <a/>
    is_raw: bool = False  # text of a CDATA section


class SitemapReader:
    """Reads one document; iterate over its entries once.

    Attributes:
        grammar: By its root element; None when that is none of GRAMMARS.
        is_cut: The end of the root element was not reached.
    """

    def __init__(self, text: str) -> None:
        """Look at the root element.

        Raises:
            DoctypeError: The document has a document type declaration before it.
        """
        self._tokens = read_tokens(text)
        self.grammar: Grammar | None = None
        self.is_cut = True
        self._prefix = ""
        self._stack: list[str] = []
        for token in self._tokens:
            if token.kind == "start":
                prefix, _, name = token.name.rpartition(":")
                self.grammar = GRAMMARS.get(name)
                # The items of RSS 1.0 are not in the namespace of their root.
                self._prefix = "" if name == "rdf" else prefix
                self._stack.append(token.name)
                self.is_cut = not token.is_empty
                break

    def entries(self) -> Iterator[Entry]:
        """Give the entries in order; one that the file breaks off in counts with what stands in it.

        Raises:
            DoctypeError: The document has a document type declaration somewhere.
        """
        assert self.grammar is not None
        collector = _Collector(self.grammar, self._prefix)
        for token in self._tokens:
            if token.kind == "text":
                collector.take_text(len(self._stack), resolve_token(token))
                continue
            if token.kind == "start":
                if len(self._stack) >= DEPTH_MAX:
                    break
                self._stack.append(token.name)
                collector.start(len(self._stack), token.name, token.value)
                if not token.is_empty:
                    continue
            yield from self._close(collector, token.name)
            if not self._stack:
                self.is_cut = False
                break
        if (entry := collector.finish()) is not None:
            yield entry

    def _close(self, collector: "_Collector", name: str) -> Iterator[Entry]:
        """Take elements off down to the one that an end tag names; one that names none is passed over."""
        if name not in self._stack:
            return
        is_found = False
        while not is_found:
            is_found = self._stack[-1] == name
            entry = collector.end(len(self._stack))
            self._stack.pop()
            if entry is not None:
                yield entry


class _Collector:
    """What has been read of the entry that is open. Depths count from the root, which has 1."""

    def __init__(self, grammar: Grammar, prefix: str) -> None:
        self._grammar = grammar
        self._prefix = prefix
        self._entry: Entry | None = None
        self._entry_depth = 0
        self._field = ""  # name of the element that is being read
        self._field_attributes: dict[str, str] = {}
        self._pieces: list[str] = []
        self._is_refused = False
        self._own_pieces: list[str] = []

    def start(self, depth: int, name: str, attributes: str) -> None:
        prefix, _, local = name.rpartition(":")
        if self._entry is None:
            if prefix == self._prefix and local == self._grammar.entry:
                self._entry, self._entry_depth, self._own_pieces = Entry(), depth, []
            return
        if depth > self._entry_depth + 1:
            self._is_refused = True  # markup within the element that is being read
            return
        is_known = prefix == self._prefix and (local == self._grammar.location or local in self._grammar.fields)
        self._field, self._pieces, self._is_refused = (local if is_known else ""), [], False
        self._field_attributes = _attributes(attributes) if is_known and self._grammar.is_feed else {}

    def take_text(self, depth: int, text: str | None) -> None:
        if self._entry is None:
            return
        if depth == self._entry_depth:
            self._own_pieces.append(text or "")
        elif depth == self._entry_depth + 1 and self._field:
            if text is None:
                self._is_refused = True
            else:
                self._pieces.append(text)

    def end(self, depth: int) -> Entry | None:
        if self._entry is None:
            return None
        if depth == self._entry_depth + 1 and self._field:
            self._end_field(self._entry)
        return self.finish() if depth == self._entry_depth else None

    def finish(self) -> Entry | None:
        """End the entry that is open."""
        entry, self._entry, self._field = self._entry, None, ""
        if entry is None:
            return None
        own = "".join(self._own_pieces).strip()
        if not entry.locations and not entry.refused and not self._grammar.is_feed and own:
            entry.locations.append(own)  # a location that its author forgot to mark as one
        guid = entry.fields.pop("guid", "")
        if not entry.locations and guid:
            entry.locations.append(guid)
        return entry

    def _end_field(self, entry: Entry) -> None:
        name, self._field = self._field, ""
        text = "".join(self._pieces)
        if name != self._grammar.location:
            if name == "guid" and self._field_attributes.get("ispermalink", "true").lower() == "false":
                return
            if not self._is_refused:
                entry.fields.setdefault(self._grammar.fields[name], text)
            return
        if self._grammar.name == "atom":
            # RFC 4287 section 4.2.7.2: a link without rel is an alternate; the first of them is the entry's page.
            if self._field_attributes.get("rel", "alternate") != "alternate" or entry.locations:
                return
            text = self._field_attributes.get("href", "")
        elif self._is_refused:
            entry.refused += 1
            return
        if text.strip():
            entry.locations.append(text)


def resolve_references(text: str) -> str | None:
    """Replace the references that XML predefines; None when there is one that it does not (J125).

    An ampersand that begins no reference is left alone: generators forget to escape it.
    """
    if "&" not in text:
        return text
    is_sound = True

    def replace(found: re.Match[str]) -> str:
        nonlocal is_sound
        decimal, hexadecimal, name = found.groups()
        if name is not None:
            is_sound = is_sound and name in _PREDEFINED
            return _PREDEFINED.get(name, "")
        code = int(decimal) if decimal else int(hexadecimal, 16)
        # XML 1.0 section 2.2: what a document may hold.
        is_char = (
            code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
        )
        is_sound = is_sound and is_char
        return chr(code) if is_char else ""

    resolved = _REFERENCE.sub(replace, text)
    return resolved if is_sound else None


def resolve_token(token: Token) -> str | None:
    """The text of a token; None when it holds references that mean nothing."""
    return token.value if token.is_raw else resolve_references(token.value)


def _attributes(source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, double, single in _ATTRIBUTE.findall(source):
        value = resolve_references(double or single)
        if value is not None:
            found.setdefault(name.lower(), value)
    return found


def read_tokens(text: str) -> Iterator[Token]:
    """Take a document apart. Ends early where the markup does: what cannot be told apart is not guessed at."""
    position, size = 0, len(text)
    while position < size:
        start = text.find("<", position)
        if start < 0:
            start = size
        if start > position:
            yield Token("text", value=text[position:start])
        if start == size:
            return
        if text.startswith("<!--", start):
            end = text.find("-->", start + 4)
            position = end + 3
        elif text.startswith("<![CDATA[", start):
            end = text.find("]]>", start + 9)
            if end >= 0:
                yield Token("text", value=text[start + 9 : end], is_raw=True)
            position = end + 3
        elif text.startswith("<?", start):
            end = text.find("?>", start + 2)
            position = end + 2
        elif text.startswith("<!", start):
            raise DoctypeError("a document type declaration")
        else:
            end = _tag_end(text, start)
            if end >= 0:
                yield from _tag(text[start + 1 : end])
            position = end + 1
        if end < 0:
            return


def _tag_end(text: str, start: int) -> int:
    """Place of the ">" that ends a tag, which may stand in quotes before that; -1 when there is none."""
    limit = min(start + TAG_CHARS_MAX, len(text))
    end = text.find(">", start + 1, limit)
    while end >= 0:
        inside = text[start:end]
        if '"' not in inside and "'" not in inside:
            return end
        if inside.count('"') % 2 == 0 and (inside.count("'") % 2 == 0 or '"' in inside):
            return end
        end = text.find(">", end + 1, limit)
    return -1


def _tag(source: str) -> Iterator[Token]:
    is_end = source.startswith("/")
    found = _NAME.match(source, 1 if is_end else 0)
    if found is None:
        return
    name = found.group().lower()
    if is_end:
        yield Token("end", name)
    else:
        yield Token("start", name, source[found.end() :], is_empty=source.endswith("/"))
