"""What a setting's value may be: how it is read from TOML and from an environment variable, and its range in words.

Each kind turns a TOML value (`read`) or an environment variable's text (`read_text`) into the value that the program
uses, raising ValueError where it is not allowed; the caller knows which setting it was and makes the message, from
`allowed`. `render` writes a value as TOML, for the documented default file.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")


class Kind(Protocol):
    """How values of one kind are read and shown."""

    @property
    def allowed(self) -> str:
        """What the value must be, to stand after "it must be"."""
        ...

    def read(self, raw: Any) -> Any:
        """Turn a TOML value into the value used. Raises ValueError."""
        ...

    def read_text(self, text: str) -> Any:
        """Turn an environment variable's text into the value used. Raises ValueError."""
        ...

    def render(self, value: Any) -> str:
        """Write a value as TOML."""
        ...


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number from `least` to `most`, both included."""

    least: int
    most: int

    @property
    def allowed(self) -> str:
        """The range."""
        return f"{self.least} to {self.most}"

    def read(self, raw: Any) -> int:
        """A TOML integer; true and false are none."""
        if not isinstance(raw, int) or isinstance(raw, bool) or not self.least <= raw <= self.most:
            raise ValueError
        return raw

    def read_text(self, text: str) -> int:
        """Decimal digits, with a sign or none."""
        if not re.fullmatch(r"[+-]?[0-9]{1,20}", text.strip()):
            raise ValueError
        return self.read(int(text))

    def render(self, value: int) -> str:
        """Digits."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Decimal:
    """A number with a fraction, from `least` to `most`."""

    least: float
    most: float

    @property
    def allowed(self) -> str:
        """The range."""
        return f"{self.least:g} to {self.most:g}"

    def read(self, raw: Any) -> float:
        """A TOML float or integer; nan and inf are out of any range."""
        if not isinstance(raw, int | float) or isinstance(raw, bool) or not self.least <= raw <= self.most:
            raise ValueError
        return float(raw)

    def read_text(self, text: str) -> float:
        """A decimal number."""
        return self.read(float(text))

    def render(self, value: float) -> str:
        """A TOML float."""
        return repr(float(value))


@dataclass(frozen=True, slots=True)
class Flag:
    """On or off, in the spellings that people use (J59)."""

    @property
    def allowed(self) -> str:
        """The spellings."""
        return "true or false (also yes/no, on/off, 1/0)"

    def read(self, raw: Any) -> bool:
        """A TOML boolean, one of the words, or 1 and 0."""
        return raw if isinstance(raw, bool) else self.read_text(str(raw))

    def read_text(self, text: str) -> bool:
        """One of the words, in any case."""
        word = text.strip().lower()
        if word not in _TRUE | _FALSE:
            raise ValueError
        return word in _TRUE

    def render(self, value: bool) -> str:
        """A TOML boolean."""
        return "true" if value else "false"


@dataclass(frozen=True, slots=True)
class Text:
    """A string that `pattern` matches as a whole; `words` says the pattern to a person."""

    pattern: str
    words: str

    @property
    def allowed(self) -> str:
        """The pattern in words."""
        return self.words

    def read(self, raw: Any) -> str:
        """A TOML string."""
        if not isinstance(raw, str) or not re.fullmatch(self.pattern, raw, re.DOTALL):
            raise ValueError
        return raw

    def read_text(self, text: str) -> str:
        """The text as it is."""
        return self.read(text)

    def render(self, value: str) -> str:
        """A basic string."""
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class Choice(Text):
    """One of a few words."""

    @classmethod
    def of(cls, *words: str) -> "Choice":
        """Make the kind from its words."""
        return cls(
            "|".join(map(re.escape, words)), ", ".join(f'"{word}"' for word in words[:-1]) + f' or "{words[-1]}"'
        )


@dataclass(frozen=True, slots=True)
class FilePath:
    """A path, made absolute against the working directory."""

    @property
    def allowed(self) -> str:
        """Any path."""
        return "a path of 1 to 4096 characters without a NUL"

    def read(self, raw: Any) -> Path:
        """A TOML string."""
        if not isinstance(raw, str) or not 0 < len(raw) <= 4096 or "\0" in raw:
            raise ValueError
        return Path(os.path.abspath(raw))

    def read_text(self, text: str) -> Path:
        """The text as it is."""
        return self.read(text)

    def render(self, value: Path) -> str:
        """A basic string."""
        return Text(".*", "").render(str(value))


@dataclass(frozen=True, slots=True)
class Network:
    """A range of addresses in CIDR notation, without host bits."""

    @property
    def allowed(self) -> str:
        """The notation."""
        return 'an address range such as "10.0.0.0/8" or "fd00::/8"'

    def read(self, raw: Any) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """A TOML string."""
        if not isinstance(raw, str):
            raise ValueError
        return ipaddress.ip_network(raw.strip())

    def read_text(self, text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """The same notation."""
        return self.read(text)

    def render(self, value: ipaddress.IPv4Network | ipaddress.IPv6Network) -> str:
        """A basic string."""
        return f'"{value}"'


@dataclass(frozen=True, slots=True)
class Address:
    """One IP address, as text; with `or_localhost` also that name."""

    or_localhost: bool = False

    @property
    def allowed(self) -> str:
        """An address."""
        return "an IP address" + (' or "localhost"' if self.or_localhost else "")

    def read(self, raw: Any) -> str:
        """A TOML string."""
        if not isinstance(raw, str):
            raise ValueError
        if self.or_localhost and raw.lower() == "localhost":
            return "localhost"
        return str(ipaddress.ip_address(raw.strip()))

    def read_text(self, text: str) -> str:
        """The same."""
        return self.read(text)

    def render(self, value: str) -> str:
        """A basic string."""
        return f'"{value}"'


# Seconds of the units of U110, the largest last. A month is 30 days, a year 365.
_UNITS = {
    "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_592_000, "year": 31_536_000,
}  # fmt: skip
_INTERVAL = re.compile(r"([0-9]{1,9})\s*(" + "|".join(_UNITS) + r")s?")
NEVER = "never"


@dataclass(frozen=True, slots=True)
class Interval:
    """A length of time in words, a whole number and a unit, in seconds (U110); 0 is written "never"."""

    least_s: int
    most_s: int

    @property
    def allowed(self) -> str:
        """The notation and the range."""
        return (
            f'"{NEVER}", or a time such as "4 weeks" or "12 hours", {words_of(self.least_s)} to {words_of(self.most_s)}'
        )

    def read(self, raw: Any) -> int:
        """A TOML string."""
        if not isinstance(raw, str):
            raise ValueError
        text = " ".join(raw.lower().split())
        if text == NEVER:
            return 0
        found = _INTERVAL.fullmatch(text)
        seconds = int(found[1]) * _UNITS[found[2]] if found else -1
        if not self.least_s <= seconds <= self.most_s:
            raise ValueError
        return seconds

    def read_text(self, text: str) -> int:
        """The same notation."""
        return self.read(text)

    def render(self, value: int) -> str:
        """A basic string in the largest unit that divides it."""
        return f'"{words_of(value)}"'


def words_of(seconds: int) -> str:
    """An interval in words that Interval reads."""
    if not seconds:
        return NEVER
    # 4 weeks rather than 28 days, but never "1 month" for what somebody wrote as 30 days.
    names = [name for name, size in _UNITS.items() if seconds % size == 0 and name != "month"]
    count = seconds // _UNITS[names[-1]]
    return f"{count} {names[-1]}" + ("s" if count != 1 else "")


@dataclass(frozen=True, slots=True)
class Several:
    """A list of values of one kind, as a tuple; in the environment separated by commas."""

    item: Kind
    least: int = 0
    most: int = 1_000

    @property
    def allowed(self) -> str:
        """The length, and what each item must be."""
        return f"a list of {self.least} to {self.most}, each {self.item.allowed}"

    def read(self, raw: Any) -> tuple[Any, ...]:
        """A TOML array."""
        if not isinstance(raw, list) or not self.least <= len(raw) <= self.most:
            raise ValueError
        return tuple(self.item.read(value) for value in raw)

    def read_text(self, text: str) -> tuple[Any, ...]:
        """Items with commas between them; blanks around an item do not count; an empty text is an empty list."""
        items = [part.strip() for part in text.split(",")] if text.strip() else []
        if not self.least <= len(items) <= self.most:
            raise ValueError
        return tuple(self.item.read_text(part) for part in items)

    def render(self, value: tuple[Any, ...]) -> str:
        """A TOML array."""
        return "[" + ", ".join(self.item.render(part) for part in value) + "]"


@dataclass(frozen=True, slots=True)
class Named:
    """Values of one kind under names; in the environment `name=value` separated by commas."""

    key: Text
    value: Kind
    most: int = 1_000

    @property
    def allowed(self) -> str:
        """What names and values must be."""
        return f"a table of at most {self.most}, each name {self.key.allowed}, each value {self.value.allowed}"

    def read(self, raw: Any) -> Mapping[str, Any]:
        """A TOML table."""
        if not isinstance(raw, dict) or len(raw) > self.most:
            raise ValueError
        return {self.key.read(name): self.value.read(value) for name, value in raw.items()}

    def read_text(self, text: str) -> Mapping[str, Any]:
        """`name=value` pairs; every pair needs its equals sign."""
        pairs = [part.strip().partition("=") for part in text.split(",")] if text.strip() else []
        if len(pairs) > self.most or any(not sign for _, sign, _ in pairs):
            raise ValueError
        return {self.key.read(name.strip()): self.value.read_text(value.strip()) for name, _, value in pairs}

    def render(self, value: Mapping[str, Any]) -> str:
        """A TOML inline table."""
        pairs = (f'"{name}" = {self.value.render(part)}' for name, part in value.items())
        return "{ " + ", ".join(pairs) + " }" if value else "{}"


HOST_NAME = Text(_HOST.pattern, "a host name in lower case")
