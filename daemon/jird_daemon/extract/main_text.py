"""The part of a text that is the page's own, without its navigation."""

from jird_daemon.extract.elements import ARTICLE_RANGE
from jird_daemon.extract.tree import PageTree
from jird_daemon.store.text_pile import MarkerKind, TextPile, main_parts

_MAIN, _NAVIGATION = int(MarkerKind.MAIN), int(MarkerKind.NAVIGATION)
_Range = tuple[int, int, int]  # kind, start, end
# What the text tells may be one section of a main part that the page names; then the page is believed.
_FOUND_PART_MIN = 0.2


def main_ranges(tree: PageTree) -> list[_Range]:
    """Give the ranges of the main part and of navigation, from the markup and from what the text is like.

    The main part is what the text tells, unless that is outside of what the page calls its main part (or, without
    such, of its single article), or a smaller part of it. Nothing is lost by an error: ranges only mark the text.
    """
    marked = [item for item in tree.markers if item[0] == _NAVIGATION and 0 <= item[1] < item[2]]
    declared = _of_kind(tree.markers, _MAIN)
    if not declared:
        articles = _of_kind(tree.markers, ARTICLE_RANGE)
        declared = articles if len(articles) == 1 else []
    if not declared:
        return tree.found + marked
    inside = sum(
        end - start
        for kind, start, end in tree.found
        if kind == _MAIN and any(first <= start and end <= last for _, first, last in declared)
    )
    if inside < _FOUND_PART_MIN * sum(end - start for _, start, end in declared):
        return declared + [r for r in tree.found if r[0] == _NAVIGATION] + marked
    return tree.found + marked


def _of_kind(markers: list[_Range], wanted: int) -> list[_Range]:
    return [(_MAIN, start, end) for kind, start, end in markers if kind == wanted and 0 <= start < end]


def main_text(pile: TextPile) -> str:
    """Give the main part of a page, else all of it, in both cases without what is marked as navigation.

    Lines of the pile stay lines; parts of a line that are left out leave no blanks behind at its ends.
    """
    lines = "\n".join(pile.text[start:end] for start, end in main_parts(pile)).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())
