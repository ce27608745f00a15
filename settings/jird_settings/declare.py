"""How a setting is declared: once, as a field of its table's dataclass. Everything else is derived from there."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jird_settings.kinds import Kind

_KEY = "jird"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as declared."""

    name: str  # key in its TOML table
    kind: Kind
    default: Any  # None: not set
    doc: str  # one sentence with the unit
    ids: str  # requirement ids, separated by blanks; may be empty
    env: str  # environment variable; empty where there is none
    is_secret: bool  # its value stands in no message


def setting(
    kind: Kind,
    default: Any,
    doc: str,
    *,
    ids: str = "",
    env: str | None = None,
    is_secret: bool = False,
) -> Any:
    """Declare a setting as the default of a dataclass field.

    Args:
        kind: What values it may have.
        default: The value in effect when it is not set; None is allowed where the field's type says so.
        doc: One sentence for the operator, naming the unit.
        ids: Requirement ids, separated by blanks.
        env: Environment variable; None makes it `JIRD_` and the field's name in capitals, "" gives it none.
        is_secret: Keep the value out of messages and of `repr`.
    """
    metadata = {_KEY: (kind, doc, ids, env, is_secret)}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=default.copy, metadata=metadata, repr=not is_secret)
    return dataclasses.field(default=default, metadata=metadata, repr=not is_secret)


def settings_of(table: type) -> Iterator[Setting]:
    """The settings declared in a table's dataclass, in order; fields of other kinds are left out."""
    for field in dataclasses.fields(table):
        if _KEY not in field.metadata:
            continue
        kind, doc, ids, env, is_secret = field.metadata[_KEY]
        default = field.default if field.default is not dataclasses.MISSING else {}
        name = f"JIRD_{field.name.upper()}" if env is None else env
        yield Setting(field.name, kind, default, doc, ids, name, is_secret)
