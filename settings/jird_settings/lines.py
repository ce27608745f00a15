"""On which line of a TOML file each key stands; the standard library's parser does not say.

The text has been accepted by that parser, so this scanner only has to find the ends of things, not to judge them. It is
one piece because it is one walk over the text.
"""

import re
from collections.abc import Mapping

Path = tuple[str | int, ...]

_PART = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.?)""")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
# A value ends at a line end outside strings, comments and brackets.
_VALUE = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}' r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'"
    r"|#[^\n]*|[\[{]|[\]}]|\n|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)  # fmt: skip


def key_lines(text: str) -> Mapping[Path, int]:
    """Map each table and key of a valid TOML text to its line, counted from 1.

    Items of an array of tables are numbered from 0: `("hosts", 1, "match")`. Keys inside an inline table have no entry
    of their own: look for the longest known prefix.
    """
    lines: dict[Path, int] = {}
    arrays: dict[Path, int] = {}
    table: Path = ()
    position = 0
    while (position := _end(_SPACE, text, position)) < len(text):
        line = text.count("\n", 0, position) + 1
        if text.startswith("[", position):
            is_array = text.startswith("[[", position)
            names, position = _dotted(text, position + 1 + is_array)
            table = _numbered(names, arrays)
            if is_array:
                arrays[table] = arrays.get(table, -1) + 1
                table = (*table, arrays[table])
            lines.setdefault(table, line)
            position += 1 + is_array
        else:
            names, position = _dotted(text, position)
            lines.setdefault((*table, *names), line)
            position = _after_value(text, position + 1)
    return lines


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """The line of `path`, or of the closest thing around it that has one; 1 when nothing has."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _dotted(text: str, position: int) -> tuple[tuple[str, ...], int]:
    names: list[str] = []
    while found := _PART.match(text, position):
        names.append(next(part for part in found.group(1, 2, 3) if part is not None))
        position = found.end()
        if not found[4]:
            break
    return tuple(names), position


def _numbered(names: tuple[str, ...], arrays: Mapping[Path, int]) -> Path:
    """Put the number of the current item behind every array of tables on the way, except the last name."""
    path: Path = ()
    for position, name in enumerate(names):
        path = (*path, name)
        if path in arrays and position < len(names) - 1:
            path = (*path, arrays[path])
    return path


def _after_value(text: str, position: int) -> int:
    depth = 0
    while found := _VALUE.match(text, position):
        token, position = found[0], found.end()
        depth += (token in "[{") - (token in "]}")
        if token == "\n" and depth == 0:
            break
    return position
