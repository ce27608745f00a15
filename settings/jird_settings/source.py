"""A TOML file as settings are read from it, with the line of every key for messages."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jird_settings.declare import Setting
from jird_settings.error import SettingsError, shorten
from jird_settings.lines import key_lines, line_of

CONFIG_BYTES_MAX = 4 * 1024 * 1024  # 10,000 host rules fit many times over


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed file with what is needed to point into it.

    Attributes:
        name: As messages name it.
        data: What TOML says.
        lines: Line of each key (lines.py).
    """

    name: str
    data: Mapping[str, Any]
    lines: Mapping[tuple[str | int, ...], int]

    def place(self, path: tuple[str | int, ...]) -> str:
        """File and line of a key."""
        return f"{self.name}:{line_of(self.lines, path)}"

    def table(self, path: tuple[str | int, ...], raw: Any) -> Mapping[str, Any]:
        """What stands at a path, if it is a table. Raises SettingsError."""
        if not isinstance(raw, dict):
            raise SettingsError(f"{self.place(path)}: {path[0]} is {shorten(raw)}; it must be a table")
        return raw

    def refuse_unknown(self, path: tuple[str | int, ...], known: list[str]) -> None:
        """Raise SettingsError when a key at a path is none of those known."""
        here: Any = self.data
        for part in path:
            here = here[part]
        for key in here:
            if key not in known:
                full = ".".join(str(part) for part in (*path, key) if isinstance(part, str))
                what = "table or key" if not path else "key"
                raise SettingsError(
                    f"{self.place((*path, key))}: {full} is an unknown {what}; known: {', '.join(known)}"
                )


def read_source(path: Path) -> Source:
    """Read and parse a file.

    Raises:
        SettingsError: It cannot be read, is too large, or is no TOML.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(CONFIG_BYTES_MAX + 1)
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    if len(raw) > CONFIG_BYTES_MAX:
        raise SettingsError(f"{path}: is larger than {CONFIG_BYTES_MAX} bytes")
    try:
        text = raw.decode()
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}:{line}: is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{path}: is not valid TOML: {error}") from None
    return Source(str(path), data, key_lines(text))


def checked(declared: Setting, raw: Any, name: str, place: str) -> Any:
    """The value of a setting as the program uses it. Raises SettingsError with place, name, value and range."""
    try:
        return declared.kind.read(raw)
    except (ValueError, OverflowError):
        shown = "not allowed" if declared.is_secret else shorten(raw)
        raise SettingsError(f"{place}: {name} is {shown}; it must be {declared.kind.allowed}") from None
