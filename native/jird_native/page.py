"""The page walk, as Python sees it: one pass in C over a tree that an HTML parser has built.

The walk knows no HTML: what elements mean is the caller's table. It reads the tree through the parser's own C
functions, which it finds in the parser's extension module; native/page/page_api.h describes rules and results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jird_native._page import ffi, lib

FULL_NODES: int = lib.PAGE_FULL_NODES
FULL_DEPTH: int = lib.PAGE_FULL_DEPTH
FULL_TEXT: int = lib.PAGE_FULL_TEXT
FULL_LINKS: int = lib.PAGE_FULL_LINKS
ROOT_ROLE: int = lib.PAGE_ROOT
"""Role of the item that holds the attributes of the document's first element."""
ITEM_FIELDS = 4
"""Numbers of an item: role, text, attribute_start, attribute_count."""
LINK_FIELDS = 9
"""Numbers of a link: target, flags, has_headline, start, end, text, alt, attribute_start, attribute_count."""


BLOCK_FIELDS = 6
"""Numbers of a block: parent, flags, hints, start, end, link_chars."""


@dataclass(frozen=True, slots=True)
class ElementRule:
    """What an element means; the numbers are those of page_api.h."""

    layout: int = 0
    role: int = 0
    flags: int = 0
    marker: int = -1
    is_headline: bool = False
    may_take_role: bool = False
    is_always_shown: bool = False


@dataclass(frozen=True, slots=True)
class PageRules:
    """Everything that a walk is told before its first page."""

    elements: Mapping[int, ElementRule]  # by the parser's number of the tag
    names: Mapping[str, ElementRule]  # elements that the parser has no number for
    landmarks: Mapping[str, ElementRule]  # by ARIA role
    attributes: Sequence[str]  # those that items give
    muted: ElementRule  # what a hidden element means
    headline_flag: int
    text_tag: int
    known_tag_max: int  # highest number of a tag that is the same on every page
    depth_max: int
    nodes_max: int
    chars_max: int
    label_chars_max: int
    markers_max: int
    links_max: int
    images_max: int
    head_max: int
    times_max: int
    main_kind: int  # of the ranges that are found by the text
    navigation_kind: int


@dataclass(slots=True)
class PageData:
    """What a walk found, as flat lists; strings are referred to by number, -1 for none."""

    text: str
    strings: list[str]
    markers: list[int]  # kind, start, end of each
    items: list[int]  # ITEM_FIELDS of each
    links: list[int]  # LINK_FIELDS of each
    attributes: list[int]  # name (number in PageRules.attributes), value (string) of each
    found: list[int]  # kind, start, end of main part and navigation, as the text tells them
    full: int  # set of FULL_...
    has_unwanted: bool  # the text holds what SourceScan calls unwanted, or a carriage return


@dataclass(frozen=True, slots=True)
class SourceScan:
    """What must be known of a page's source before it is parsed."""

    has_unwanted: bool  # control characters but tab and line ends, U+FFFE or U+FFFF
    open_count: int  # "<" before anything but "/": no more elements can be open at once


def scan_source(source: bytes) -> SourceScan:
    """Look through the source of a page, which is UTF-8."""
    found = ffi.new("page_source *")
    lib.page_source_scan(ffi.from_buffer("uint8_t[]", source), len(source), found)
    return SourceScan(found.has_unwanted != 0, found.open_count)


def hints_of(name: str) -> int:
    """What a class, id or itemprop says of its element: a set of PAGE_HINT_... of page_api.h."""
    data = name.encode("utf-8", "replace")
    return int(lib.page_hints_of(ffi.from_buffer("uint8_t[]", data), len(data)))


def find_main(text: str, blocks: Sequence[int], main_kind: int, navigation_kind: int) -> list[int]:
    """Find the main part of a page and what stands beside it.

    Args:
        text: The text of the page.
        blocks: BLOCK_FIELDS numbers of each of its blocks, in tree order.
        main_kind: Kind of the ranges of the main part.
        navigation_kind: Kind of the ranges beside it.

    Returns:
        Kind, start and end of each range, by their start; nothing if there is no clear main part.

    Raises:
        MemoryError: There is not enough of it.
    """
    count = len(blocks) // BLOCK_FIELDS
    if not count:
        return []
    data = text.encode("utf-8", "replace")
    numbers = ffi.new("int32_t[]", blocks)
    ranges, found = ffi.new("page_range[]", 2 * count), ffi.new("size_t *")
    kinds = ffi.new("page_kinds *", (main_kind, navigation_kind))
    rows = ffi.cast("page_block *", numbers)
    if lib.page_find_main(ffi.from_buffer("uint8_t[]", data), len(data), rows, count, kinds, ranges, found) != 0:
        raise MemoryError("main part of a page")
    return _numbers(ranges, 3 * found[0])


class PageWalk:
    """Walks trees of one parser. Not for several threads at once."""

    def __init__(self, rules: PageRules, library: str) -> None:
        """Prepare.

        Args:
            rules: What to look for.
            library: Path of the loaded extension module whose trees are walked.

        Raises:
            NotImplementedError: The library does not export what the walk needs.
        """
        self._tree = ffi.gc(lib.page_tree_of_library(library.encode()), lib.page_tree_free)
        if not self._tree:
            raise NotImplementedError(f"{library} does not export the functions of its tree")
        self._walk = ffi.gc(lib.page_walk_new(), lib.page_walk_free)
        if not self._walk:
            raise MemoryError("page walk")
        self._kept: list[object] = []  # what the rules point to
        self._rules = self._encode_rules(rules)
        self._result = ffi.new("page_result *")

    def walk(self, root: int) -> PageData:
        """Walk the tree from a node on.

        Args:
            root: Address of the node; its tree must stay alive during the call.

        Raises:
            MemoryError: The page needs more than there is.
        """
        result = self._result
        if lib.page_walk_run(self._walk, self._tree, self._rules, ffi.cast("void *", root), result) != 0:
            raise MemoryError("page walk")
        return PageData(
            _text(result.text, result.text_bytes),
            _text(result.strings, result.string_bytes).split("\0"),
            _numbers(result.markers, 3 * result.marker_count),
            _numbers(result.items, ITEM_FIELDS * result.item_count),
            _numbers(result.links, LINK_FIELDS * result.link_count),
            _numbers(result.attributes, 2 * result.attribute_count),
            _numbers(result.found, 3 * result.found_count),
            result.full,
            result.has_unwanted != 0,
        )

    def blocks(self) -> list[int]:
        """Give the blocks of the last walk, BLOCK_FIELDS numbers of each."""
        return _numbers(self._result.blocks, BLOCK_FIELDS * self._result.block_count)

    def _encode_rules(self, rules: PageRules) -> object:
        elements = ffi.new("page_element[]", rules.known_tag_max + 1)
        for number, rule in rules.elements.items():
            elements[number] = _element(rule)
        names, landmarks = self._names(rules.names), self._names(rules.landmarks)
        attributes = self._keep(ffi.new("char *[]", [self._string(name) for name in rules.attributes]))
        self._keep(elements)
        return ffi.new(
            "page_rules *",
            {
                "elements": elements, "element_count": len(elements), "names": names, "name_count": len(rules.names),
                "landmarks": landmarks, "landmark_count": len(rules.landmarks), "attributes": attributes,
                "attribute_count": len(rules.attributes), "muted": _element(rules.muted),
                "headline_flag": rules.headline_flag, "text_tag": rules.text_tag, "depth_max": rules.depth_max,
                "nodes_max": rules.nodes_max, "chars_max": rules.chars_max, "label_chars_max": rules.label_chars_max,
                "markers_max": rules.markers_max, "links_max": rules.links_max, "images_max": rules.images_max,
                "head_max": rules.head_max, "times_max": rules.times_max,
                "kinds": {"main": rules.main_kind, "navigation": rules.navigation_kind},
            },
        )  # fmt: skip

    def _names(self, rules: Mapping[str, ElementRule]) -> object:
        rows = [{"name": self._string(name), "element": _element(rule)} for name, rule in rules.items()]
        return self._keep(ffi.new("page_name[]", rows))

    def _string(self, text: str) -> object:
        return self._keep(ffi.new("char[]", text.encode()))

    def _keep(self, data: object) -> object:
        self._kept.append(data)
        return data


def _element(rule: ElementRule) -> dict[str, int]:
    return {
        "is_known": 1, "layout": rule.layout, "role": rule.role, "is_headline": rule.is_headline,
        "may_take_role": rule.may_take_role, "is_always_shown": rule.is_always_shown, "marker": rule.marker,
        "flags": rule.flags,
    }  # fmt: skip


def _text(data: object, size: int) -> str:
    return str(ffi.buffer(data, size), "utf-8", "replace") if size else ""


def _numbers(rows: object, count: int) -> list[int]:
    return ffi.unpack(ffi.cast("int32_t *", rows), count) if count else []


def simhash(text: str) -> int:
    """SimHash of a text, 64 bits; 0 when it is too short to be compared with others (page_api.h)."""
    data = text.encode("utf-8", "ignore")
    return int(lib.page_simhash(ffi.from_buffer("uint8_t[]", data), len(data))) if data else 0
