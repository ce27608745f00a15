"""The walk in C: what walk.py does, at a tenth of its time.

It needs functions that the parser's extension module exports; where they are missing, walk.py reads the page. Both
give the same tree, which tests compare.
"""

from functools import lru_cache

from selectolax import lexbor
from selectolax.lexbor import LexborHTMLParser

from jird_daemon.extract.elements import (
    ARIA_ELEMENTS,
    ELEMENTS_BY_ID,
    KNOWN_TAG_MAX,
    LANDMARK_IDS,
    MUTED,
    SHOWN_IDS,
    TEXT_ID,
    UNNUMBERED_ELEMENTS,
    Element,
    LocationFlag,
    Role,
)
from jird_daemon.extract.limits import (
    ANCHOR_CHARS_MAX,
    DOCUMENT_DEPTH_MAX,
    DOCUMENT_NODES_MAX,
    DOCUMENT_TEXT_CHARS_MAX,
    IMAGES_MAX,
    MARKERS_MAX,
)
from jird_daemon.extract.tree import (
    ATTRIBUTE_NAMES,
    HEAD_ELEMENTS_MAX,
    RAW_LINKS_MAX,
    TIMES_MAX,
    Attributes,
    PageTree,
    RawLink,
)
from jird_daemon.extract.walk import HEADLINES, Hints, walk_tree
from jird_native import page as native

_TRUNCATED = {
    native.FULL_NODES: "document_nodes",
    native.FULL_DEPTH: "document_depth",
    native.FULL_TEXT: "document_text_chars",
    native.FULL_LINKS: "document_links",
}
_ANCHOR, _FRAME, _IMAGE, _TITLE = int(Role.ANCHOR), int(Role.FRAME), int(Role.IMAGE), int(Role.TITLE)


def walk_page(parser: LexborHTMLParser, html: str) -> PageTree:
    """Read a parsed page in the fastest way there is.

    Args:
        parser: The page; must outlive the walk.
        html: Its source, which is searched for words that tell what need not be looked for in the tree.
    """
    walk = _native_walk()
    root = parser.root
    if walk is None or root is None:
        return walk_tree(parser, html)
    hints = Hints.of(html)
    known = native.HAS_ROLES * hints.has_roles
    known |= native.HAS_HIDDEN * hints.has_hidden | native.HAS_STYLES * hints.has_styles
    return _tree(walk.walk(root.mem_id, known))


@lru_cache(maxsize=1)
def _native_walk() -> native.PageWalk | None:
    """Give this process's walk; None where the parser's functions cannot be called."""
    try:
        return native.PageWalk(_rules(), lexbor.__file__)
    except NotImplementedError:
        return None


def _rules() -> native.PageRules:
    return native.PageRules(
        {tag: _rule(element, tag) for tag, element in ELEMENTS_BY_ID.items()},
        {name: _rule(element) for name, element in UNNUMBERED_ELEMENTS.items()},
        {role: _rule(element) for role, element in ARIA_ELEMENTS.items()},
        ATTRIBUTE_NAMES,
        _rule(MUTED),
        int(LocationFlag.IN_HEADLINE),
        TEXT_ID,
        KNOWN_TAG_MAX,
        DOCUMENT_DEPTH_MAX,
        DOCUMENT_NODES_MAX,
        DOCUMENT_TEXT_CHARS_MAX,
        4 * ANCHOR_CHARS_MAX,
        MARKERS_MAX,
        RAW_LINKS_MAX,
        4 * IMAGES_MAX,
        HEAD_ELEMENTS_MAX,
        TIMES_MAX,
    )


def _rule(element: Element, tag: int = -1) -> native.ElementRule:
    return native.ElementRule(
        element.layout,
        element.role,
        element.flag,
        element.marker,
        element.marker in HEADLINES,
        tag in LANDMARK_IDS,
        tag in SHOWN_IDS,
    )


def _tree(data: native.PageData) -> PageTree:
    """Make the tree of what the walk gave."""
    tree = PageTree(data.text)
    tree.truncated.update(name for flag, name in _TRUNCATED.items() if data.full & flag)
    ranges, items, strings = data.ranges, data.items, data.strings
    kinds, starts, ends = ranges[::3], ranges[1::3], ranges[2::3]
    tree.markers = [row for row in zip(kinds, starts, ends, strict=True) if row[0] >= 0]
    # Each string is ended by a zero byte: behind the last one stands an empty one, where -1 finds what is none.
    starts.append(-1)
    ends.append(-1)
    strings[-1] = ""
    texts = strings
    values: list[str | None] = [*strings[:-1], None]
    names = [ATTRIBUTE_NAMES[number] for number in data.attributes[::2]]
    pairs = list(zip(names, [values[number] for number in data.attributes[1::2]], strict=True))
    places: dict[int, list[Attributes]] = {
        int(Role.META): tree.metas, int(Role.LINK): tree.head_links, int(Role.BASE): tree.bases,
        int(Role.TIME): tree.times, _IMAGE: tree.images,
    }  # fmt: skip
    rows = iter(items)
    for role, flags, number, has_headline, text, alt, first, count in zip(*[rows] * native.ITEM_FIELDS, strict=True):
        attributes = dict(pairs[first : first + count])
        if role == _ANCHOR:
            tree.links.append(
                RawLink(attributes, flags, has_headline != 0, starts[number], ends[number], texts[text], texts[alt])
            )
        elif role == _FRAME:
            attributes["href"] = attributes["src"]
            tree.links.append(RawLink(attributes, flags, False, -1, -1, "", ""))
        elif role == _TITLE:
            tree.title = texts[text]
        elif role == native.ROOT_ROLE:
            tree.root_attributes = attributes
        else:
            places[role].append(attributes)
    return tree
