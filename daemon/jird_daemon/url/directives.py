"""What a page asks of robots: meta elements and X-Robots-Tag fields (J136, J163).

There is no standard; this is the common grammar of the large search engines. Directives of several places add up, and
the most restrictive wins. Words are separated by commas; semicolons and blanks are taken as commas too, since an author
who writes `noindex nofollow` means both. A directive with a value (`max-image-preview: none`) says nothing beyond it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from jird_daemon.url.http_date import parse_http_date

# J163: nobody needs more; what is longer is treated as if it forbade everything.
VALUE_CHARS_MAX = 8_192

_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_PLAIN = frozenset({"noindex", "nofollow", "none"})
_AGENT = re.compile(r"\*|[A-Za-z][A-Za-z0-9_.-]*")
_WORDS = re.compile(r"[\s;]+")
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*", re.IGNORECASE)
_ZONES = {"PST": "-0800", "PDT": "-0700", "MST": "-0700", "MDT": "-0600", "CST": "-0600", "CDT": "-0500",
          "EST": "-0500", "EDT": "-0400", "CET": "+0100", "CEST": "+0200"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Directives:
    """What is asked; the default asks nothing."""

    is_noindex: bool = False
    is_nofollow: bool = False
    unavailable_after_s: float | None = None  # unix seconds from which the page is noindex

    def __or__(self, other: "Directives") -> "Directives":
        """Both at once: whatever one of them forbids is forbidden."""
        moments = [d.unavailable_after_s for d in (self, other) if d.unavailable_after_s is not None]
        return Directives(
            self.is_noindex or other.is_noindex, self.is_nofollow or other.is_nofollow, min(moments, default=None)
        )

    def at(self, now_s: float) -> "Directives":
        """Resolve `unavailable_after` for a moment."""
        if self.unavailable_after_s is None or now_s < self.unavailable_after_s:
            return self
        return Directives(True, self.is_nofollow, self.unavailable_after_s)


FORBID_ALL = Directives(is_noindex=True, is_nofollow=True)


def parse_meta(content: str, now_s: float) -> Directives:
    """Read the content of `<meta name=robots>`, or of one named after our product token.

    Args:
        content: Attribute value; above VALUE_CHARS_MAX characters it forbids everything.
        now_s: Current time, for dates with two-digit years.
    """
    if len(content) > VALUE_CHARS_MAX:
        return FORBID_ALL
    return _parse_items(content.split(","), now_s)


def parse_x_robots_tag(values: Iterable[str], product_token: str, now_s: float) -> Directives:
    """Read all X-Robots-Tag fields of an answer.

    Args:
        values: One string a field line. A line may begin with the name of the robot that it is for; a name after a
            comma starts another robot's part, as proxies join lines with commas.
        product_token: Our own name; parts for others are passed over.
        now_s: Current time.
    """
    result = Directives()
    for value in values:
        if len(value) > VALUE_CHARS_MAX:
            return FORBID_ALL
        result |= _parse_items(_items_for(value, product_token.lower()), now_s)
    return result


def _items_for(value: str, product_token: str) -> list[str]:
    items = []
    is_for_us = True
    for item in value.split(","):
        name, colon, rest = item.partition(":")
        name = name.strip().lower()
        if colon and name not in _VALUED and name not in _PLAIN and _AGENT.fullmatch(name):
            is_for_us = name in (product_token, "robots", "*")
            item = rest
        if is_for_us:
            items.append(item)
    return items


def _parse_items(items: list[str], now_s: float) -> Directives:
    words: set[str] = set()
    moment = None
    for number, item in enumerate(items):
        name, colon, value = item.partition(":")
        if not colon:
            words.update(_WORDS.split(item.lower()))
        elif name.strip().lower() == "unavailable_after":
            # F19: a date may hold one comma, after its weekday; what follows is a directive again.
            if _WEEKDAY.fullmatch(value.strip()) and number + 1 < len(items):
                value = f"{value},{items[number + 1]}"
            found = _parse_date(value.strip(), now_s)
            moment = min((when for when in (moment, found) if when is not None), default=None)
        elif name.strip().lower() in _PLAIN:
            words.add(name.strip().lower())
    everything = "none" in words
    return Directives(everything or "noindex" in words, everything or "nofollow" in words, moment)


def _parse_date(text: str, now_s: float) -> float | None:
    """Read a date in one of the forms that authors use; None when it is none."""
    moment = parse_http_date(text, now_s)
    if moment is not None:
        return moment
    head, _, zone = text.rpartition(" ")
    if zone.upper() in _ZONES:
        text = f"{head} {_ZONES[zone.upper()]}"
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    return None
