"""Test cases of others: how they are read, and how one of them ends."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Case = dict[str, Any]
"""One case as its file has it."""


class BadCaseError(Exception):
    """A file of cases is not in the layout that its kind asks for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case ended; it passed when both are empty."""

    fault: str = ""  # what was expected and what was found
    skip_reason: str = ""  # why it cannot be judged


PASSED = Outcome()


def compare(expected: object, found: object) -> Outcome:
    """Pass when both are equal, else say both."""
    return PASSED if expected == found else Outcome(fault=f"expected {expected!r}, found {found!r}")


def read_json_lines(path: Path) -> Iterator[tuple[str, Case]]:
    """Give each case of a JSON Lines file (.gz: compressed) with its name: the line, and the case's id or file.

    Raises:
        OSError: The file cannot be read.
        BadCaseError: A line is no JSON object.
    """
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            yield _named(f"line {number}", _parse(line, f"line {number}"))


def read_json_array(path: Path) -> Iterator[tuple[str, Case]]:
    """Give each object of a JSON array with its name; strings between them are comments.

    Raises:
        OSError: The file cannot be read.
        BadCaseError: It is no JSON array of objects and strings.
    """
    members = _parse(path.read_bytes(), path.name)
    if not isinstance(members, list):
        raise BadCaseError(f"{path.name}: expected a JSON array")
    for number, member in enumerate(members):
        if not isinstance(member, str):
            yield _named(f"member {number}", member)


def _parse(data: bytes, place: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise BadCaseError(f"{place}: {error}") from None


def _named(place: str, case: Any) -> tuple[str, Case]:
    if not isinstance(case, dict):
        raise BadCaseError(f"{place}: expected a JSON object")
    label = case.get("id") or case.get("file")
    return (f"{place} ({label})" if label else place), case
