"""The running text of a page while the walk goes through it: blanks, lines, and where things begin and end.

Text is collected raw and normalised a run at a time: runs of white space become one blank, blocks become lines. Offsets
are known only when the next text is written, because what stands before it (a blank, a line end, nothing) depends on
it; so a range that is opened waits for that.
"""


class Range:
    """A stretch of the text, in code points; `start` is -1 until something was written in it."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.start = -1
        self.end = -1


class TextBuilder:
    """Builds the text of one page. The walk appends to `pieces` and sets `separator` itself, for speed."""

    __slots__ = ("_chars_max", "_opening", "_parts", "is_full", "length", "pieces", "preformatted", "separator")

    def __init__(self, chars_max: int) -> None:
        self.pieces: list[str] = []  # raw text since the last run was written
        self.preformatted = 0  # depth of elements whose white space counts
        self.length = 0  # code points written
        self.is_full = False
        self._chars_max = chars_max
        self._parts: list[str] = []
        self._opening: list[Range] = []
        self.separator = ""  # due before the next text: "", " " or "\n"; the walk sets it to "\n" at a block

    def flush(self) -> None:
        """Write the pieces as one run. Called a few hundred times a page, so short ways are taken for short runs."""
        pieces = self.pieces
        raw = pieces[0] if len(pieces) == 1 else "".join(pieces)
        pieces.clear()
        if self.preformatted:
            self._flush_preformatted(raw)
            return
        words = raw.split()
        if not words:
            if raw and not self.separator:
                self.separator = " "
            return
        text = words[0] if len(words) == 1 else " ".join(words)
        if len(text) == len(raw):  # nothing was taken off its ends
            self._write(text)
            self.separator = ""
            return
        if not self.separator and raw[0].isspace():
            self.separator = " "
        self._write(text)
        self.separator = " " if raw[-1].isspace() else ""

    def break_line(self) -> None:
        """End the line: what follows is another block."""
        if self.pieces:
            self.flush()
        self.separator = "\n"

    def break_cell(self) -> None:
        """Keep what follows a blank apart."""
        if self.pieces:
            self.flush()
        if not self.separator:
            self.separator = " "

    def open(self, kind: int) -> Range:
        """Begin a range at the next text."""
        if self.pieces:
            self.flush()
        opened = Range(kind)
        self._opening.append(opened)
        return opened

    def close(self, opened: Range) -> None:
        """End a range after the text so far; one without text keeps its start of -1."""
        if self.pieces:
            self.flush()
        if opened.start < 0:
            if opened in self._opening:
                self._opening.remove(opened)
        else:
            opened.end = self.length

    def text(self) -> str:
        """Give everything that was written."""
        if self.pieces:
            self.flush()
        return "".join(self._parts)[: self._chars_max]

    def _flush_preformatted(self, raw: str) -> None:
        if self.separator == "\n" or not self.length:
            raw = raw.lstrip("\n")
        text = raw.rstrip("\n")
        if text:
            self._write(text)
            self.separator = ""
        if len(text) < len(raw):
            self.separator = "\n"

    def _write(self, text: str) -> None:
        if self.is_full:
            return
        start = self.length
        if start and self.separator:
            self._parts.append(self.separator)
            start += 1
        if self._opening:
            for opened in self._opening:
                opened.start = start
            self._opening.clear()
        if start + len(text) > self._chars_max:
            self.is_full = True
            text = text[: max(self._chars_max - start, 0)]
        self._parts.append(text)
        self.length = start + len(text)
