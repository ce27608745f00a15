"""Whether a page is a list of other pages or says something itself, as a number from its links. Pure.

    indexiness = -20 self-links in headlines - 5 self-links in lists + 11 in-links in headlines + 5 in-links in lists
                 - 1 for each out-link - 25 if the page says when it was published - 10                      (U156)

Below zero it is a leaf, above zero an index (U159); one headline that links within the site gives +1 (U158). Counted
are links of the page's own part: not in nav, not in aside, and in main or article, or else in neither header nor
footer; each once, as one in a headline if it is both (U157).

Known misses, which the tests hold on to (U160): an index made of a table has no list, so its links count for nothing; a
blog that shows whole posts with many links out of the site is taken for a leaf; a table-based leaf with lists of links
for an index.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from jird_daemon.extract.elements import LocationFlag
from jird_daemon.extract.links import IN_LINK, SELF_LINK
from jird_daemon.store.tables import Link

SELF_IN_HEADLINE, SELF_IN_LIST = -20, -5
IN_IN_HEADLINE, IN_IN_LIST = 11, 5
OUT = -1
DATED = -25
BASE = -10

_NEVER = int(LocationFlag.IN_NAV | LocationFlag.IN_ASIDE)
_OWN = int(LocationFlag.IN_MAIN | LocationFlag.IN_ARTICLE)
_FRAME = int(LocationFlag.IN_HEADER | LocationFlag.IN_FOOTER)
# As numbers: an `&` with a flag makes an object, and a page has hundreds of links.
_HEADLINE, _LIST = int(LocationFlag.IN_HEADLINE), int(LocationFlag.IN_LIST)


@dataclass(frozen=True, slots=True)
class Indexiness:
    """How many links of each kind were counted, and whether the page is dated."""

    self_in_headlines: int
    self_in_lists: int
    in_in_headlines: int
    in_in_lists: int
    out: int
    is_dated: bool

    @property
    def parts(self) -> tuple[tuple[str, int, int], ...]:
        """The terms of the sum: name, count, and what one of them is worth."""
        return (
            ("self_links_in_headlines", self.self_in_headlines, SELF_IN_HEADLINE),
            ("self_links_in_lists", self.self_in_lists, SELF_IN_LIST),
            ("in_links_in_headlines", self.in_in_headlines, IN_IN_HEADLINE),
            ("in_links_in_lists", self.in_in_lists, IN_IN_LIST),
            ("out_links", self.out, OUT),
            ("publishing_date", int(self.is_dated), DATED),
            ("base", 1, BASE),
        )

    @property
    def score(self) -> int:
        """The sum."""
        return sum(count * weight for _, count, weight in self.parts)


def measure_indexiness(links: Iterable[Link], *, is_dated: bool) -> Indexiness:
    """Count the links of a page."""
    counts: dict[tuple[int, str], int] = {}
    for link in links:
        flags = link.location_flags
        if flags & _NEVER or not (flags & _OWN or not flags & _FRAME):
            continue
        place = ""
        if link.has_headline or flags & _HEADLINE:
            place = "headline"
        elif flags & _LIST:
            place = "list"
        locality = link.locality if link.locality in (SELF_LINK, IN_LINK) else -1
        key = (locality, place) if locality >= 0 else (-1, "")
        counts[key] = counts.get(key, 0) + 1
    return Indexiness(
        counts.get((SELF_LINK, "headline"), 0),
        counts.get((SELF_LINK, "list"), 0),
        counts.get((IN_LINK, "headline"), 0),
        counts.get((IN_LINK, "list"), 0),
        counts.get((-1, ""), 0),
        is_dated,
    )
