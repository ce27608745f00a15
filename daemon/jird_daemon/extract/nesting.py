"""Guards in front of the HTML parser, whose time grows with the square of nesting and of attributes of one element.

Real pages nest 30 deep (99 of 100 below 26) and have a dozen attributes; what goes far beyond is repaired in linear
time so that its text survives: tags that open too deep become void elements, and attributes beyond any use are cut.
"""

import re

# 4,000 open elements cost 20 ms, 40,000 cost two seconds.
OPEN_ELEMENTS_MAX = 2_000
# Depth to which a page that exceeds it keeps its elements: deeper than structure is read (J161).
KEPT_DEPTH = 400
# Formatting elements that are never closed are opened again in each paragraph after them.
KEPT_FORMATTING = 64
# 20,000 attributes of one element cost 0.7 s; a tag that could hold more than 4,000 is cut.
ATTRIBUTES_MAX = 4_000
_KEPT_ATTRIBUTES = 100
# A page this short cannot hold enough attributes to matter.
_SHORT_CHARS = 60_000
_LONG_TAG_CHARS = 16_384
_STRETCH_CHARS = 4_096

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_TAG_WITH_END = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)(\s{0,9}>)?")
_QUOTED = re.compile(r'"[^"]*"|\'[^\']*\'')
_TAG_START = re.compile(r"<[A-Za-z]")
# Void elements, and those whose end tag is implied: they close each other.
_FLAT = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    "p", "li", "dt", "dd", "tr", "td", "th", "option", "optgroup", "thead", "tbody", "tfoot", "colgroup", "caption",
    "rb", "rt", "rtc", "rp", "html", "head", "body",
})  # fmt: skip
_FORMATTING = frozenset({
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
})  # fmt: skip
_INLINE = _FORMATTING | {
    "span", "abbr", "cite", "q", "sub", "sup", "mark", "label", "bdo", "bdi", "ins", "del", "kbd", "samp", "var",
}  # fmt: skip


def guard(html: str, open_count: int) -> tuple[str, bool]:
    """Make a page safe to parse.

    Args:
        html: The page.
        open_count: How often it holds "<" before anything but "/": no more elements can be open at once.

    Returns:
        The page, unchanged in all but hostile cases, and whether it was changed.
    """
    guarded = html
    if len(html) > _SHORT_CHARS:
        guarded = _cut_attributes(html)
    if open_count > OPEN_ELEMENTS_MAX and _may_nest_deeply(guarded):
        guarded = _flatten(guarded)
    return guarded, guarded is not html


def _may_nest_deeply(html: str) -> bool:
    """Tell whether more elements than allowed could be open at once; cheap tests first, none of them misses one."""
    # No more can be open in a stretch than were before it and open in it. Void elements count as opens here, so this
    # says "perhaps" too often.
    depth = 0
    for start in range(0, len(html), _STRETCH_CHARS):
        end = start + _STRETCH_CHARS
        closes = html.count("</", start, end + 1)
        opens = html.count("<", start, end) - closes
        if depth + opens > OPEN_ELEMENTS_MAX:
            break
        depth = max(0, depth - closes) + opens
    else:
        return False
    depth = 0
    for slash, name in _TAG.findall(html):
        if name.lower() in _FLAT:
            continue
        depth = max(0, depth - 1) if slash else depth + 1
        if depth > OPEN_ELEMENTS_MAX:
            return True
    return False


def _flatten(html: str) -> str:
    """Take out tags beyond KEPT_DEPTH, with their end tags; one with attributes becomes a void element."""
    depth = formatting = 0

    def replace(found: re.Match[str]) -> str:
        nonlocal depth, formatting
        slash, name, end = found[1], found[2].lower(), found[3]
        if name in _FLAT:
            return found[0]
        is_formatting = name in _FORMATTING
        if slash:
            is_kept = depth <= KEPT_DEPTH and not (is_formatting and formatting > KEPT_FORMATTING)
            depth = max(0, depth - 1)
            formatting = max(0, formatting - is_formatting)
        else:
            depth += 1
            formatting += is_formatting
            is_kept = depth <= KEPT_DEPTH and not (is_formatting and formatting > KEPT_FORMATTING)
        if is_kept:
            return found[0]
        is_inline = name in _INLINE
        if end:
            return "" if is_inline else " "
        return "<wbr" if is_inline else "<br"

    return _TAG_WITH_END.sub(replace, html)


def _has_long_tag(html: str) -> bool:
    """Tell whether _LONG_TAG_CHARS stand in a row without a `>`."""
    position = 0
    while position + _LONG_TAG_CHARS <= len(html):
        position = html.rfind(">", position, position + _LONG_TAG_CHARS) + 1
        if not position:
            return True
    return False


def _cut_attributes(html: str) -> str:
    if not _has_long_tag(html):
        return html
    parts = html.split(">")
    changed = False
    for number, part in enumerate(parts):
        start = _TAG_START.search(part) if len(part) >= _LONG_TAG_CHARS else None
        if start is None:
            continue
        # Values do not count, however long they are.
        words = _QUOTED.sub('""', part[start.start() :]).split(None, ATTRIBUTES_MAX)
        if len(words) > ATTRIBUTES_MAX:
            parts[number] = part[: start.start()] + " ".join(words[:_KEPT_ATTRIBUTES])
            changed = True
    return ">".join(parts) if changed else html
