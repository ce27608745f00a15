"""The part of a text that is the page's own, without its navigation."""

from jird_daemon.store.text_pile import MarkerKind, TextPile


def main_text(pile: TextPile) -> str:
    """Give the main part of a page, else all of it, in both cases without what is marked as navigation.

    Lines of the pile stay lines; parts of a line that are left out leave no blanks behind at its ends.
    """
    main = [(m.start, m.end) for m in pile.markers if m.kind == MarkerKind.MAIN] or [(0, len(pile.text))]
    left_out = [(m.start, m.end) for m in pile.markers if m.kind == MarkerKind.NAVIGATION]
    pieces = []
    position = 0
    for start, end in main:
        position = max(position, start)  # main parts may nest
        for hole_start, hole_end in left_out:
            if hole_end <= position or hole_start >= end:
                continue
            pieces.append(pile.text[position:hole_start] if hole_start > position else "")
            position = max(position, hole_end)
        if position < end:
            pieces.append(pile.text[position:end])
            position = end
    lines = "\n".join(pieces).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())
