"""Check docs/requirements.d and assemble docs/requirements.md from it (`--write`; `make requirements`).

docs/requirements.d/ids.txt holds every id, a line each, below headings that begin with `#`. Each *.tsv beside it holds
rows of id, state, where, test, note (tab separated; the note may be absent; lines that begin with `#` are comments).

    state   done, part, open or n/a; an id that no row claims is open
    where   files of the project, separated by ", ", or - for none
    test    tests as path::name or path::Class::name, separated by ", ", or -

An id that is done names at least one test; the test exists, and cites the id: in its docstring, body or decorators, in
the comment above it, or in the docstring of its module. A range such as J144-J146 cites every id in it.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "requirements.d"
TABLE = ROOT / "docs" / "requirements.md"
STATES = ("done", "part", "open", "n/a")
NONE = "-"
HEAD = """# Requirements

Every behaviour that jird promises has an id: J (the search engine that one person runs), U and UQ (the engine of a
community, and its query syntax), S (operating a crawler), Y and YP (focused crawling), F (failures that systems of this
kind have had in public). Tests cite the ids of what they show. This page is assembled by `make requirements` from
`docs/requirements.d`; `make lint` refuses an id called done whose test does not exist or does not cite it.

"""


@dataclass(frozen=True, slots=True)
class Row:
    """One claim, and where it was made."""

    place: str
    id: str
    state: str
    where: tuple[str, ...]
    tests: tuple[str, ...]
    note: str


def read_ids() -> list[tuple[str, list[str]]]:
    """Headings with their ids, in the order of ids.txt."""
    sections: list[tuple[str, list[str]]] = []
    for line in (FOLDER / "ids.txt").read_text().split("\n"):
        if line.startswith("#"):
            sections.append((line.lstrip("# "), []))
        elif line:
            sections[-1][1].append(line)
    return sections


def read_rows(problems: list[str]) -> dict[str, Row]:
    """The rows of every *.tsv by id; what is malformed or claimed twice goes to `problems`."""
    rows: dict[str, Row] = {}
    for path in sorted(FOLDER.glob("*.tsv")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith(("#", "id\t")):
                continue
            row = parse_row(f"{path.relative_to(ROOT)}:{number}", line)
            if row is None:
                problems.append(f"{path.relative_to(ROOT)}:{number}: expected id, state, where, test, note")
            elif row.id in rows:
                problems.append(f"{row.place}: {row.id} is claimed already in {rows[row.id].place}")
            else:
                rows[row.id] = row
    return rows


def parse_row(place: str, line: str) -> Row | None:
    """One line of a *.tsv, or None if it has too few or too many columns."""
    cells = [cell.strip() for cell in line.split("\t")]
    if not 4 <= len(cells) <= 5:
        return None
    where, tests = (tuple(part for part in re.split(r",\s*", cell) if part != NONE and part) for cell in cells[2:4])
    return Row(place, cells[0], cells[1], where, tests, cells[4] if len(cells) == 5 else "")


def check_row(row: Row, known: set[str]) -> Iterator[str]:
    """What is wrong with a row."""
    if row.id not in known:
        yield f"{row.place}: there is no id {row.id}"
    if row.state not in STATES:
        yield f"{row.place}: state {row.state!r}; it must be one of {', '.join(STATES)}"
    for where in row.where:
        if not (ROOT / where.partition(":")[0]).exists():
            yield f"{row.place}: {where} does not exist"
    if row.state == "done" and not row.tests:
        yield f"{row.place}: {row.id} is called done without a test"
    for test in row.tests:
        fault = check_test(test, row.id)
        if fault:
            yield f"{row.place}: {fault}"


def check_test(test: str, id_: str) -> str:
    """Why `test` does not show `id_`; empty when it does."""
    path, _, name = test.partition("::")
    name = name.partition("[")[0]
    if not name or not (ROOT / path).is_file():
        return f"{test}: no such file" if name else f"{test}: expected path::name"
    source = test_source(path, name)
    if source is None:
        return f"{test}: no such test in the file"
    return "" if cites(source, id_) else f"{test} does not cite {id_}"


@cache
def test_source(path: str, name: str) -> str | None:
    """Source of a test with its decorators, the comment above it and its module's docstring; None: no such test."""
    text = (ROOT / path).read_text()
    tree = ast.parse(text)
    node: ast.AST = tree
    for part in name.split("::"):
        found = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and child.name == part
        ]
        if not found:
            return None
        node = found[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    lines = text.splitlines()
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return "\n".join([ast.get_docstring(tree) or "", *lines[first : node.end_lineno]])


def cites(source: str, id_: str) -> bool:
    """Whether `source` names the id, alone or within a range."""
    if re.search(rf"\b{id_}\b", source):
        return True
    family, number = re.fullmatch(r"([A-Z]+)(\d+)", id_).groups()  # type: ignore[union-attr]
    ranges = re.findall(rf"\b{family}(\d+)\s*(?:-|to)\s*{family}(\d+)\b", source)
    return any(int(first) <= int(number) <= int(last) for first, last in ranges)


def assemble(sections: list[tuple[str, list[str]]], rows: dict[str, Row]) -> str:
    """The text of docs/requirements.md."""
    ids = [id_ for _, section in sections for id_ in section]
    counts = {state: sum((rows[id_].state if id_ in rows else "open") == state for id_ in ids) for state in STATES}
    text = HEAD + ", ".join(f"{count} {state}" for state, count in counts.items()) + f", of {len(ids)}.\n"
    for title, section in sections:
        text += f"\n## {title}\n\n| id | state | where | test | note |\n| --- | --- | --- | --- | --- |\n"
        for id_ in section:
            row = rows.get(id_, Row("", id_, "open", (), (), ""))
            note = row.note.replace("|", "\\|")
            text += f"| {id_} | {row.state} | {', '.join(row.where)} | {', '.join(row.tests)} | {note} |\n"
    return text


def main() -> int:
    """Check, and write or compare the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/requirements.md")
    arguments = parser.parse_args()
    problems: list[str] = []
    sections = read_ids()
    rows = read_rows(problems)
    known = {id_ for _, section in sections for id_ in section}
    for row in rows.values():
        problems += check_row(row, known)
    table = assemble(sections, {id_: row for id_, row in rows.items() if id_ in known})
    if arguments.write:
        TABLE.write_text(table)
    elif not TABLE.exists() or TABLE.read_text() != table:
        problems.append("docs/requirements.md is not what docs/requirements.d gives: run make requirements")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
