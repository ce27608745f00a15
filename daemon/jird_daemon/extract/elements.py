"""What each HTML element means to the walk: a table, so that the walk itself decides by look-up.

Elements that are not here are inline: their text runs on with the text around them.
"""

from enum import IntEnum, IntFlag

from selectolax.lexbor import LexborHTMLParser

from jird_daemon.store.text_pile import MarkerKind

# Kind of a range that becomes the main part of a page that names none.
ARTICLE_RANGE = 100


class Layout(IntEnum):
    """How an element stands to the text around it."""

    INLINE = 0
    BLOCK = 1  # on lines of its own
    CELL = 2  # on the line of its neighbours, a blank apart


class Role(IntEnum):
    """What the walk has to do besides reading the text."""

    NONE = 0
    ANCHOR = 1  # a, area
    FRAME = 2  # iframe, frame: a link; what is inside is for programs that cannot show it
    IMAGE = 3
    SOURCE = 4  # source: of a picture, perhaps
    META = 5
    LINK = 6
    BASE = 7
    TITLE = 8
    TIME = 9
    LINE_BREAK = 10
    PREFORMATTED = 11
    SKIPPED = 12  # neither text nor links
    MUTED = 13  # links, but no text: it is not shown
    FOREIGN = 14  # svg, whose title is not the document's
    DIALOG = 15  # not shown unless it is open


class LocationFlag(IntFlag):
    """Where a link stands (U162); bits in the order of the list there."""

    IN_HEADER = 1
    IN_FOOTER = 2
    IN_ASIDE = 4
    IN_NAV = 8
    IN_FORM = 16
    IN_MAIN = 32
    IN_ARTICLE = 64
    IN_SECTION = 128
    IN_TABLE = 256
    IN_FIGURE = 512
    IN_ADDRESS = 1024
    IN_CODE = 2048
    IN_HEADLINE = 4096
    IN_LIST = 8192
    IN_PARAGRAPH = 16384


class Element:
    """The meaning of one element. Plain numbers, because the walk compares them for every node."""

    __slots__ = ("flag", "layout", "marker", "role")

    def __init__(self, layout: Layout = Layout.INLINE, role: Role = Role.NONE, flag: int = 0, marker: int = -1) -> None:
        self.layout = int(layout)
        self.role = int(role)
        self.flag = int(flag)  # of LocationFlag
        self.marker = int(marker)  # of MarkerKind, or ARTICLE_RANGE


_F = LocationFlag
_BLOCK = Element(Layout.BLOCK)
_CELL = Element(Layout.CELL)
_SKIPPED = Element(role=Role.SKIPPED)
_CODE = Element(flag=_F.IN_CODE, marker=MarkerKind.CODE)
_PREFORMATTED = Element(Layout.BLOCK, Role.PREFORMATTED, _F.IN_CODE, MarkerKind.CODE)
_LIST = Element(Layout.BLOCK, flag=_F.IN_LIST, marker=MarkerKind.LIST)

NAVIGATION = Element(Layout.BLOCK, flag=_F.IN_NAV, marker=MarkerKind.NAVIGATION)
ASIDE = Element(Layout.BLOCK, flag=_F.IN_ASIDE, marker=MarkerKind.NAVIGATION)
FOOTER = Element(Layout.BLOCK, flag=_F.IN_FOOTER, marker=MarkerKind.NAVIGATION)
HEADER = Element(Layout.BLOCK, flag=_F.IN_HEADER)
MAIN = Element(Layout.BLOCK, flag=_F.IN_MAIN, marker=MarkerKind.MAIN)
ARTICLE = Element(Layout.BLOCK, flag=_F.IN_ARTICLE, marker=ARTICLE_RANGE)
MUTED = Element(Layout.BLOCK, Role.MUTED)

ELEMENTS: dict[str, Element] = {
    **dict.fromkeys(
        ("address", "body", "caption", "center", "dd", "details", "dir", "div", "dt", "fieldset", "figcaption",
         "frameset", "hgroup", "hr", "html", "legend", "li", "optgroup", "option", "search", "select", "summary",
         "tbody", "textarea", "tfoot", "thead", "tr"), _BLOCK),
    **dict.fromkeys(("td", "th", "button", "label"), _CELL),
    **{f"h{level}": Element(Layout.BLOCK, flag=_F.IN_HEADLINE, marker=MarkerKind(level)) for level in range(1, 7)},
    **dict.fromkeys(("ul", "ol", "dl", "menu"), _LIST),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), _CODE),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _PREFORMATTED),
    # Readings (rt, rp) stand above the text; in line with it they would cut its words apart.
    **dict.fromkeys(
        ("script", "style", "template", "noscript", "noembed", "noframes", "object", "canvas", "audio", "video",
         "datalist", "rt", "rp", "rtc", "annotation", "annotation-xml", "desc", "metadata", "defs"), _SKIPPED),
    "a": Element(role=Role.ANCHOR),
    "address": Element(Layout.BLOCK, flag=_F.IN_ADDRESS),
    "area": Element(role=Role.ANCHOR),
    "article": ARTICLE,
    "aside": ASIDE,
    "base": Element(role=Role.BASE),
    "blockquote": Element(Layout.BLOCK, marker=MarkerKind.QUOTE),
    "br": Element(role=Role.LINE_BREAK),
    "dialog": Element(Layout.BLOCK, Role.DIALOG),
    "figure": Element(Layout.BLOCK, flag=_F.IN_FIGURE),
    "footer": FOOTER,
    "form": Element(Layout.BLOCK, flag=_F.IN_FORM),
    "frame": Element(role=Role.FRAME),
    "header": HEADER,
    "iframe": Element(role=Role.FRAME),
    "img": Element(role=Role.IMAGE),
    "link": Element(role=Role.LINK),
    "main": MAIN,
    "meta": Element(role=Role.META),
    "nav": NAVIGATION,
    "p": Element(Layout.BLOCK, flag=_F.IN_PARAGRAPH),
    "q": Element(marker=MarkerKind.QUOTE),
    "section": Element(Layout.BLOCK, flag=_F.IN_SECTION),
    "source": Element(role=Role.SOURCE),
    "svg": Element(role=Role.FOREIGN),
    "table": Element(Layout.BLOCK, flag=_F.IN_TABLE, marker=MarkerKind.TABLE),
    "time": Element(role=Role.TIME),
    "title": Element(role=Role.TITLE),
}  # fmt: skip

# ARIA roles that make another element what an HTML element is by itself.
ARIA_ELEMENTS: dict[str, Element] = {
    "main": MAIN,
    "navigation": NAVIGATION,
    "complementary": ASIDE,
    "contentinfo": FOOTER,
    "banner": HEADER,
    "article": ARTICLE,
}


# Names that the parser has no number for get one for each document, far above these.
KNOWN_TAG_MAX = 1_000


def _tag_ids() -> dict[str, int]:
    """Give the parser's own tag numbers, and that of text nodes by the name of `#text`."""
    parser = LexborHTMLParser("<p>text</p>")
    paragraph = parser.css_first("p")
    assert paragraph is not None
    text = paragraph.first_child
    assert text is not None
    return {"#text": text.tag_id, **{name: parser.create_node(name).tag_id for name in ELEMENTS}}


_IDS = _tag_ids()
TEXT_ID = _IDS["#text"]
ELEMENTS_BY_ID = {_IDS[name]: element for name, element in ELEMENTS.items() if _IDS[name] <= KNOWN_TAG_MAX}
# Elements that authors give the role of a landmark; others have one by themselves.
LANDMARK_IDS = frozenset({_IDS["div"], _IDS["section"], _IDS["ul"]})
# Elements that the parser has no number for, as long as a page does not use them.
UNNUMBERED_ELEMENTS = {name: element for name, element in ELEMENTS.items() if _IDS[name] > KNOWN_TAG_MAX}
# Elements that no attribute hides: whole pages are hidden until a script has run.
SHOWN_IDS = frozenset({_IDS["html"], _IDS["body"]})
