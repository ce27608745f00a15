"""What a walk over the tree of a page finds; offsets are code points of its text."""

from dataclasses import dataclass, field

import msgspec

Attributes = dict[str, str | None]

# Raw links may repeat; unique ones are bounded after they are resolved.
RAW_LINKS_MAX = 50_000
HEAD_ELEMENTS_MAX = 1_000
TIMES_MAX = 20
# The attributes that are read of links, pictures, meta, link, base and time elements and the root.
ATTRIBUTE_NAMES = (
    "href", "rel", "title", "src", "alt", "type", "aria-label", "name", "content", "property", "itemprop",
    "http-equiv", "datetime", "pubdate", "srcset", "data-src", "data-lazy-src", "data-original", "data-srcset", "lang",
    "xml:lang",
)  # fmt: skip


class RawLink(msgspec.Struct, frozen=True, gc=False):
    """A link as the markup has it. Made for every link of every page: a struct costs a third of a dataclass."""

    target: str  # href, or src of a frame, without fragment (links of a page often differ in nothing else)
    flags: int  # of LocationFlag
    has_headline: int  # 0 or 1
    start: int  # range of its text, in the page's; start is -1 if it has none
    end: int
    text: str  # of a link whose text is not part of the page's; white space as in the source
    alt: str  # of the first picture in it, likewise
    attributes: Attributes  # the others


@dataclass(slots=True)
class PageTree:
    """A page as the walk read it."""

    text: str = ""
    markers: list[tuple[int, int, int]] = field(default_factory=list)  # kind, start (-1 without text), end
    found: list[tuple[int, int, int]] = field(default_factory=list)  # main part and navigation, told by the text
    blocks: list[int] = field(default_factory=list)  # what that was told from; the walk in C keeps its own
    links: list[RawLink] = field(default_factory=list)
    images: list[Attributes] = field(default_factory=list)
    metas: list[Attributes] = field(default_factory=list)
    head_links: list[Attributes] = field(default_factory=list)
    bases: list[Attributes] = field(default_factory=list)
    times: list[Attributes] = field(default_factory=list)
    root_attributes: Attributes = field(default_factory=dict)
    title: str | None = None
    truncated: set[str] = field(default_factory=set)  # names of the limits that were met
    has_unwanted: bool = False  # the text holds characters that it must not hold
