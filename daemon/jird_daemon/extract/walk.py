"""One pass over the tree of a page: its text in reading order, and everything that is read from attributes.

The loop is one piece, and written for speed: it runs for each node of each page. What an element means is looked up in
elements.py; what is rare is done in methods.
"""

import re
from itertools import repeat

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jird_daemon.extract.elements import (
    ARIA_ELEMENTS,
    ELEMENTS,
    ELEMENTS_BY_ID,
    KNOWN_TAG_MAX,
    LANDMARK_IDS,
    MUTED,
    SHOWN_IDS,
    TEXT_ID,
    Element,
    Layout,
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
from jird_daemon.extract.text import Range, TextBuilder
from jird_daemon.extract.tree import HEAD_ELEMENTS_MAX, RAW_LINKS_MAX, TIMES_MAX, Attributes, PageTree, RawLink
from jird_daemon.store.text_pile import MarkerKind
from jird_native.page import find_main, hints_of

# The numbers as plain integers: comparing members of an enumeration costs a third of the walk.
_BLOCK, _CELL = int(Layout.BLOCK), int(Layout.CELL)
(
    _ROLE_ANCHOR, _ROLE_FRAME, _ROLE_IMAGE, _ROLE_SOURCE, _ROLE_META, _ROLE_LINK, _ROLE_BASE, _ROLE_TITLE, _ROLE_TIME,
    _ROLE_LINE_BREAK, _ROLE_PREFORMATTED, _ROLE_SKIPPED, _ROLE_MUTED, _ROLE_FOREIGN, _ROLE_DIALOG,
) = tuple(int(role) for role in Role if role)  # fmt: skip
_IN_HEADLINE = int(LocationFlag.IN_HEADLINE)
# Elements whose children are not walked: they are no text of the page's body.
_LEAVES = frozenset({_ROLE_SKIPPED, _ROLE_TITLE, _ROLE_FRAME, _ROLE_META, _ROLE_LINK, _ROLE_BASE})

_ANCHOR = -1  # kind of a range that is no marker
HEADLINES = frozenset(range(MarkerKind.HEADING_1, MarkerKind.HEADING_6 + 1))
_NOTHING = Element()


class _OpenLink:
    """A link while the walk goes on; its text is a range of the page's text, or apart from it."""

    __slots__ = ("alt", "attributes", "flags", "has_headline", "is_frame", "range", "text")

    def __init__(self, attributes: Attributes, flags: int, text_range: Range | None, *, is_frame: bool = False) -> None:
        self.attributes = attributes
        self.flags = flags
        self.range = text_range
        self.text = ""
        self.alt = ""
        self.has_headline = False
        self.is_frame = is_frame


class _OpenBlock:
    """An element on lines of its own."""

    __slots__ = ("end", "flags", "hints", "link_chars", "parent", "start")

    def __init__(self, parent: int, flags: int, hints: int, start: int, link_chars: int) -> None:
        self.parent = parent
        self.flags = flags
        self.hints = hints
        self.start = start
        self.end = -1
        self.link_chars = link_chars  # of links that had ended before it, until it ends itself


# What an element changed: flags, muting, the range it opened, the link and the block around it.
_Saved = tuple[int, bool, Range | None, _OpenLink | None, int]
_NAMING = ("class", "id", "itemprop")


# What XML and protobuf text refuse, and no reader can see (F89): controls but tab and line end, surrogates, and the
# two that are no characters.
UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def walk_tree(parser: LexborHTMLParser) -> PageTree:
    """Read a parsed page, which must outlive the walk."""
    root = parser.root
    return _Walk().walk(root, _find_hidden(parser)) if root is not None else PageTree()


class _Walk:
    """One pass over one page."""

    def __init__(self) -> None:
        self.tree = PageTree()
        self.builder = TextBuilder(DOCUMENT_TEXT_CHARS_MAX)
        self.markers: list[Range] = []
        self.links: list[_OpenLink] = []
        self._flags = 0
        self._is_muted = False
        self._foreign = 0
        self._anchor: _OpenLink | None = None
        self.blocks: list[_OpenBlock] = []
        self._block = -1
        self._link_chars = 0  # of links that have ended

    def walk(self, root: LexborNode, overrides: dict[int, Element]) -> PageTree:
        """Walk from the root on."""
        tree, builder = self.tree, self.builder
        tree.root_attributes = root.attributes
        if self._run(root, overrides):
            tree.truncated.add("document_nodes")
        builder.break_line()
        if builder.is_full:
            tree.truncated.add("document_text_chars")
        tree.text = builder.text()
        tree.has_unwanted = UNWANTED.search(tree.text) is not None
        tree.markers = [(opened.kind, opened.start, opened.end) for opened in self.markers]
        tree.found = self._find_main()
        for link in self.links:
            start, end = (link.range.start, link.range.end) if link.range is not None else (-1, -1)
            target = _without_fragment(link.attributes.pop("src" if link.is_frame else "href") or "")
            tree.links.append(
                RawLink(target, link.flags, int(link.has_headline), start, end, link.text, link.alt, link.attributes)
            )
        return tree

    def _run(self, root: LexborNode, overrides: dict[int, Element]) -> bool:  # noqa: C901 - one loop, for speed
        """Walk until the end (False) or the limit of nodes (True)."""
        builder = self.builder
        pieces = builder.pieces
        elements = ELEMENTS_BY_ID.get
        # Open elements: node, its meaning, and what it changed.
        parents: list[tuple[LexborNode, Element | None, _Saved | None]] = []
        node = root
        for _ in repeat(None, DOCUMENT_NODES_MAX):
            tag = node.tag_id
            if tag == TEXT_ID:
                if not self._is_muted:
                    text = node.text_content or ""
                    # White space at the start of a line means nothing; most text nodes between blocks are just that.
                    if pieces or builder.separator != "\n" or builder.preformatted or not text.isspace():
                        pieces.append(text)
            else:
                element = elements(tag)
                if element is None and tag > KNOWN_TAG_MAX:
                    element = ELEMENTS.get(node.tag or "")
                if overrides:
                    element = overrides.get(node.mem_id, element)
                if tag in LANDMARK_IDS:
                    element = _by_role(node, element)
                child = node.first_child
                saved = None
                if element is not None:
                    saved = self._enter(node, element)
                    if child is None or element.role in _LEAVES:
                        child = None
                        self._leave(element, saved)
                if child is not None:
                    if len(parents) < DOCUMENT_DEPTH_MAX:
                        parents.append((node, element, saved))
                        node = child
                        continue
                    self.tree.truncated.add("document_depth")
                    self._read_flat(child)
                    if element is not None:
                        self._leave(element, saved)
            following = node.next
            while following is None:
                if not parents:
                    return False
                node, element, saved = parents.pop()
                if element is not None:
                    self._leave(element, saved)
                following = node.next
            node = following
        while parents:
            _, element, saved = parents.pop()
            if element is not None:
                self._leave(element, saved)
        return True

    def _enter(self, node: LexborNode, element: Element) -> _Saved:
        """Begin an element; gives what `_leave` needs to restore."""
        builder = self.builder
        if element.layout == _BLOCK:
            builder.break_line()
        elif element.layout == _CELL:
            builder.break_cell()
        flags, is_muted, anchor, block = self._flags, self._is_muted, self._anchor, self._block
        if element.layout == _BLOCK and not is_muted:
            self._open_block(node, element)
        if element.role:
            self._act(node, element.role)
        self._flags = flags | element.flag
        opened = None
        kind = element.marker
        if kind >= 0 and not self._is_muted and len(self.markers) < MARKERS_MAX:
            opened = builder.open(kind)
            self.markers.append(opened)
            if anchor is not None and kind in HEADLINES:
                anchor.has_headline = True
        return flags, is_muted, opened, anchor, block

    def _leave(self, element: Element, saved: _Saved | None) -> None:
        builder = self.builder
        block, anchor = -1, None
        if saved is not None:
            self._flags, self._is_muted, opened, anchor, block = saved
            if opened is not None:
                builder.close(opened)
            role = element.role
            if role == _ROLE_ANCHOR:
                if self._anchor is not anchor and self._anchor is not None and self._anchor.range is not None:
                    builder.close(self._anchor.range)
                    if self._anchor.range.start >= 0:
                        self._link_chars += self._anchor.range.end - self._anchor.range.start
                self._anchor = anchor
            elif role == _ROLE_PREFORMATTED:
                builder.break_line()
                builder.preformatted -= 1
            elif role == _ROLE_FOREIGN:
                self._foreign -= 1
        if element.layout == _BLOCK:
            builder.break_line()
        elif element.layout == _CELL:
            builder.break_cell()
        if self._block != block:
            self._close_block(block, anchor)

    def _open_block(self, node: LexborNode, element: Element) -> None:
        hints = 0
        if node.tag_id not in SHOWN_IDS:
            for name in _NAMING:
                value = node.attrs.get(name)
                hints |= hints_of(value) if value else 0
        start = self.builder.length + (self.builder.length > 0)
        self.blocks.append(_OpenBlock(self._block, element.flag, hints, start, self._link_chars))
        self._block = len(self.blocks) - 1

    def _close_block(self, outer: int, anchor: _OpenLink | None) -> None:
        """End a block; one without text is forgotten."""
        block = self.blocks[self._block]
        block.end = self.builder.length
        block.link_chars = self._link_chars - block.link_chars if anchor is None else block.end - block.start
        if block.end <= block.start:
            self.blocks.pop()
        self._block = outer

    def _find_main(self) -> list[tuple[int, int, int]]:
        self.tree.blocks = [
            number
            for block in self.blocks
            for number in (block.parent, block.flags, block.hints, block.start, block.end, block.link_chars)
        ]
        found = find_main(self.tree.text, self.tree.blocks, int(MarkerKind.MAIN), int(MarkerKind.NAVIGATION))
        return list(zip(found[::3], found[1::3], found[2::3], strict=True))

    def _act(self, node: LexborNode, role: int) -> None:  # noqa: C901 - one branch a role
        """Do what a role asks at the start of an element."""
        if role == _ROLE_ANCHOR:
            self._open_anchor(node)
        elif role == _ROLE_LINE_BREAK:
            self.builder.break_line()
        elif role == _ROLE_PREFORMATTED:
            self.builder.preformatted += 1
        elif role in (_ROLE_IMAGE, _ROLE_SOURCE):
            self._take_image(node, role)
        elif role == _ROLE_META:
            _append(self.tree.metas, node.attributes, HEAD_ELEMENTS_MAX)
        elif role == _ROLE_LINK:
            _append(self.tree.head_links, node.attributes, HEAD_ELEMENTS_MAX)
        elif role == _ROLE_BASE:
            _append(self.tree.bases, node.attributes, HEAD_ELEMENTS_MAX)
        elif role == _ROLE_TITLE:
            if self.tree.title is None and not self._foreign:
                self.tree.title = node.text(deep=True)
        elif role == _ROLE_TIME:
            _append(self.tree.times, node.attributes, TIMES_MAX)
        elif role == _ROLE_FRAME:
            self._take_frame(node)
        elif role == _ROLE_MUTED or (role == _ROLE_DIALOG and "open" not in node.attrs):
            self._is_muted = True
        elif role == _ROLE_FOREIGN:
            self._foreign += 1

    def _open_anchor(self, node: LexborNode) -> None:
        attributes = node.attributes
        if attributes.get("href") is None:
            return
        if len(self.links) >= RAW_LINKS_MAX:
            self.tree.truncated.add("document_links")
            return
        if self._is_muted:
            link = _OpenLink(attributes, self._flags, None)
            # Menus are hidden until someone points at them; their words still name the target.
            link.text = node.text(deep=True, separator=" ")[: 4 * ANCHOR_CHARS_MAX]
        else:
            link = _OpenLink(attributes, self._flags, self.builder.open(_ANCHOR))
        if self._flags & _IN_HEADLINE:
            link.has_headline = True
        self.links.append(link)
        self._anchor = link

    def _take_frame(self, node: LexborNode) -> None:
        attributes = node.attributes
        if attributes.get("src") and len(self.links) < RAW_LINKS_MAX:
            self.links.append(_OpenLink(attributes, self._flags, None, is_frame=True))

    def _take_image(self, node: LexborNode, role: int) -> None:
        attributes = node.attributes
        alt = attributes.get("alt")
        if alt and self._anchor is not None and not self._anchor.alt and alt[: 4 * ANCHOR_CHARS_MAX].strip():
            self._anchor.alt = alt
        if role == _ROLE_SOURCE and not attributes.get("srcset"):
            return  # of audio or video
        if len(self.tree.images) < 4 * IMAGES_MAX:
            self.tree.images.append(attributes)

    def _read_flat(self, first: LexborNode) -> None:
        """Read the text below the deepest level that is walked: words, and no structure."""
        pieces = self.builder.pieces
        parents: list[tuple[LexborNode, str]] = []
        node = first
        for _ in repeat(None, DOCUMENT_NODES_MAX):
            child = None
            gap = ""
            if node.tag_id == TEXT_ID:
                if not self._is_muted:
                    pieces.append(node.text_content or "")
            else:
                element = ELEMENTS_BY_ID.get(node.tag_id, _NOTHING)
                if element.layout or element.role == _ROLE_LINE_BREAK:
                    gap = " "
                    pieces.append(gap)
                if element.role not in _LEAVES:
                    child = node.first_child
            if child is not None:
                parents.append((node, gap))
                node = child
                continue
            pieces.append(gap)
            following = node.next
            while following is None:
                if not parents:
                    return
                node, gap = parents.pop()
                pieces.append(gap)
                following = node.next
            node = following
        self.tree.truncated.add("document_nodes")


_HIDDEN = '[hidden]:not([hidden="until-found"]), [style*="display:none"], [style*="display: none"]'


def _find_hidden(parser: LexborHTMLParser) -> dict[int, Element]:
    """Find the nodes that attributes hide."""
    return {node.mem_id: MUTED for node in parser.css(_HIDDEN) if node.tag_id not in SHOWN_IDS}


def _without_fragment(target: str) -> str:
    """Cut a reference at its fragment, unless white space stands there, which is trimmed only where nothing follows."""
    short = target.partition("#")[0]
    return target if short and short[-1] <= " " else short


def _by_role(node: LexborNode, element: Element | None) -> Element | None:
    """Give the meaning of an element with an ARIA role of a landmark; any other keeps its own."""
    role = node.attrs.get("role")
    return ARIA_ELEMENTS.get(role.strip().lower(), element) if role else element


def _append(items: list[Attributes], attributes: Attributes, limit: int) -> None:
    if len(items) < limit:
        items.append(attributes)
