"""Write jird.toml from plain values: tables, arrays of tables, scalars, and lists of scalars."""

import json
from collections.abc import Mapping, Sequence

Tables = Mapping[str, Mapping[str, object] | Sequence[Mapping[str, object]]]
"""Table name to its settings; a list of them for an array of tables such as `hosts`."""


def dump(tables: Tables) -> str:
    """The tables as TOML text, in their order; settings whose value is None are left out."""
    lines: list[str] = []
    for name, table in tables.items():
        if isinstance(table, Mapping):
            lines += [f"[{name}]", *_settings(table), ""]
        else:
            for row in table:
                lines += [f"[[{name}]]", *_settings(row), ""]
    return "\n".join(lines)


def merge(*layers: Tables) -> dict[str, Mapping[str, object] | Sequence[Mapping[str, object]]]:
    """Tables of all layers; within a table later layers win, except that lists and mappings are joined."""
    merged: dict[str, Mapping[str, object] | Sequence[Mapping[str, object]]] = {}
    for layer in layers:
        for name, table in layer.items():
            before = merged.get(name)
            if isinstance(table, Mapping):
                merged[name] = _merge_table(before if isinstance(before, Mapping) else {}, table)
            else:
                merged[name] = [*(before if before and not isinstance(before, Mapping) else []), *table]
    return merged


def _merge_table(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, object]:
    table = dict(before)
    for key, value in after.items():
        old = table.get(key)
        if isinstance(old, list) and isinstance(value, list):
            table[key] = [*old, *(item for item in value if item not in old)]
        elif isinstance(old, dict) and isinstance(value, dict):
            table[key] = {**old, **value}
        else:
            table[key] = value
    return table


def _settings(table: Mapping[str, object]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items() if value is not None]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False)  # a JSON string is a TOML basic string
