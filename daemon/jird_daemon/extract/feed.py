"""The words of a feed (RSS 2.0, RSS 1.0, Atom): what it is called, and titles and texts of its entries, in order.

Where a feed leads is read by sitemap.py, with the same reader of XML and the same bounds.
"""

import html
import re
from dataclasses import dataclass, field

from jird_daemon.extract.charset import decode_body
from jird_daemon.extract.limits import DOCUMENT_TEXT_CHARS_MAX, HEADING_CHARS_MAX, HEADINGS_MAX, TITLE_CHARS_MAX
from jird_daemon.extract.sitemap_xml import DEPTH_MAX, DoctypeError, Token, read_tokens, resolve_token
from jird_daemon.extract.walk import UNWANTED

_ENTRIES = frozenset({"item", "entry"})
_TITLES = frozenset({"title"})
# Of an entry, what it says; a feed may give its text twice, short and whole, and both are words to find it by.
_TEXTS = frozenset({"description", "summary", "subtitle", "content", "content:encoded", "itunes:summary"})
_LANGUAGES = frozenset({"language", "dc:language"})
_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_\s]|$)")
_XML_LANGUAGE = re.compile(r"""xml:lang\s*=\s*["']([A-Za-z]{2,3})(?:[-_"'])""")
# Markup within a text: what stands within a line, and what ends one. Neither looks beyond the next "<".
_INLINE = re.compile(
    r"</?(?:a|abbr|b|bdi|cite|code|em|i|mark|q|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_BLOCK = re.compile(r"<[!?/]?[A-Za-z-][^<>]*>")


@dataclass(slots=True)
class FeedWords:
    """What a feed says.

    Attributes:
        title: Of the feed.
        language: Primary subtag, lower case; "" when it states none.
        text: Titles and texts, a line each.
        headings: Titles of its entries.
    """

    title: str = ""
    language: str = ""
    text: str = ""
    headings: list[str] = field(default_factory=list)


def read_feed(body: bytes, content_type: str) -> FeedWords:
    """Read a feed as far as it can be read; sitemap.py has found that it is one."""
    words = FeedWords()
    lines: list[str] = []
    left = DOCUMENT_TEXT_CHARS_MAX
    try:
        for name, value, is_of_entry in _Fields(decode_body(body, content_type, is_html=True).text).found:
            if name in _LANGUAGES:
                found = _LANGUAGE.match(value)
                words.language = words.language or (found[1].lower() if found is not None else "")
                continue
            plain = _plain(value)[:left]
            if not plain:
                continue
            if name in _TITLES and is_of_entry and len(words.headings) < HEADINGS_MAX:
                words.headings.append(plain.replace("\n", " ")[:HEADING_CHARS_MAX])
            elif name in _TITLES and not is_of_entry and not words.title:
                words.title = plain.replace("\n", " ")[:TITLE_CHARS_MAX]
            lines.append(plain)
            left -= len(plain) + 1
            if left <= 0:
                break
    except DoctypeError:
        pass  # what stands before it was read
    words.text = "\n".join(lines)
    return words


class _Fields:
    """Names of the elements that are read, what stands in them, and whether that is of an entry, in order."""

    def __init__(self, text: str) -> None:
        self.found: list[tuple[str, str, bool]] = []
        self._stack: list[str] = []
        self._name = ""  # of the element that is being read
        self._depth = 0  # where it lies
        self._entry_depth = 0  # where the entry lies that is open; 0: none is
        self._pieces: list[str] = []
        for token in read_tokens(text):
            if token.kind == "text":
                if self._name:
                    self._pieces.append(resolve_token(token) or " ")
            elif token.kind == "end":
                self._end(token)
            elif not token.is_empty:
                self._start(token)
                if len(self._stack) > DEPTH_MAX:
                    return

    def _start(self, token: Token) -> None:
        if not self._stack:
            language = _XML_LANGUAGE.search(token.value)
            if language is not None:
                self.found.append(("language", language[1], False))
        self._stack.append(token.name)
        if self._name:
            self._pieces.append(_tag_of(token))
        elif token.name in _ENTRIES:
            self._entry_depth = self._entry_depth or len(self._stack)
        elif self._is_read():
            self._name, self._depth, self._pieces = token.name, len(self._stack), []

    def _end(self, token: Token) -> None:
        """Take elements off down to the one that ends; an end of none that is open is passed over."""
        if token.name not in self._stack:
            return
        if self._name:
            self._pieces.append(_tag_of(token))
        while self._stack.pop() != token.name:
            pass
        if self._name and len(self._stack) < self._depth:
            self.found.append((self._name, "".join(self._pieces), bool(self._entry_depth)))
            self._name = ""
        if len(self._stack) < self._entry_depth:
            self._entry_depth = 0

    def _is_read(self) -> bool:
        """Whether the element that was opened last says something of the feed, or of the entry that it stands in."""
        if self._stack[-1] not in _TITLES | _TEXTS | _LANGUAGES:
            return False
        if self._entry_depth:
            return len(self._stack) == self._entry_depth + 1
        return self._stack[-2:-1] in (["channel"], ["feed"])


def _tag_of(token: Token) -> str:
    """Markup that stands in the feed's own XML, as a text has it when it is written with references."""
    return f"<{'/' if token.kind == 'end' else ''}{token.name.rpartition(':')[2]}>"


def _plain(value: str) -> str:
    if "<" in value:
        value = _BLOCK.sub("\n", _INLINE.sub("", value))
    if "&" in value:
        value = html.unescape(value)
    lines = (" ".join(line.split()) for line in UNWANTED.sub("", value).split("\n"))
    return "\n".join(line for line in lines if line)
