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
from jird_daemon.extract.walk import HEADLINES, walk_tree
from jird_daemon.store.text_pile import MarkerKind
from jird_native import page as native

_TRUNCATED = {
    native.FULL_NODES: "document_nodes",
    native.FULL_DEPTH: "document_depth",
    native.FULL_TEXT: "document_text_chars",
    native.FULL_LINKS: "document_links",
}
_TITLE = int(Role.TITLE)
_NO_ATTRIBUTES: Attributes = {}  # of most links; never changed


def walk_page(parser: LexborHTMLParser) -> PageTree:
    """Read a parsed page, which must outlive the walk, in the fastest way there is."""
    walk = _native_walk()
    root = parser.root
    if walk is None or root is None:
        return walk_tree(parser)
    return _tree(walk.walk(root.mem_id))


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
        int(MarkerKind.MAIN),
        int(MarkerKind.NAVIGATION),
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
    """Make the tree of what the walk gave. Columns are handled as a whole, which costs less than rows."""
    tree = PageTree(data.text, has_unwanted=data.has_unwanted)
    tree.truncated.update(name for flag, name in _TRUNCATED.items() if data.full & flag)
    markers = data.markers
    tree.markers = list(zip(markers[::3], markers[1::3], markers[2::3], strict=True))
    found = data.found
    tree.found = list(zip(found[::3], found[1::3], found[2::3], strict=True))
    # Each string is ended by a zero byte, so behind the last one stands an empty one: there -1 finds what is none.
    strings = data.strings
    values: list[str | None] = [*strings[:-1], None]
    pairs = [
        (ATTRIBUTE_NAMES[name], values[value])
        for name, value in zip(data.attributes[::2], data.attributes[1::2], strict=True)
    ]
    tree.links = _links(data.links, strings, pairs)
    places: dict[int, list[Attributes]] = {
        int(Role.META): tree.metas, int(Role.LINK): tree.head_links, int(Role.BASE): tree.bases,
        int(Role.TIME): tree.times, int(Role.IMAGE): tree.images,
    }  # fmt: skip
    rows = iter(data.items)
    for role, text, first, count in zip(*[rows] * native.ITEM_FIELDS, strict=True):
        if role == _TITLE:
            tree.title = strings[text]
        elif role == native.ROOT_ROLE:
            tree.root_attributes = dict(pairs[first : first + count])
        else:
            places[role].append(dict(pairs[first : first + count]))
    return tree


def _links(links: list[int], strings: list[str], pairs: list[tuple[str, str | None]]) -> list[RawLink]:
    targets, flags, heads, starts, ends, texts, alts, firsts, counts = (
        links[column :: native.LINK_FIELDS] for column in range(native.LINK_FIELDS)
    )
    return list(
        map(
            RawLink,
            [strings[target] for target in targets],
            flags,
            heads,
            starts,
            ends,
            [strings[text] for text in texts],
            [strings[alt] for alt in alts],
            [
                dict(pairs[first : first + count]) if count else _NO_ATTRIBUTES
                for first, count in zip(firsts, counts, strict=True)
            ],
        )
    )
