"""Which rules of `[[hosts]]` hold for a host."""

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from jird_settings.glob import glob_expression
from jird_settings.tables import HostRule


def matches(pattern: str, host: str) -> bool:
    """Whether a pattern with * (any characters, also none) and ? (one character) covers a host name.

    Letters are compared as they are: both are lower case. `*.example.org` does not cover `example.org`.
    """
    return re.fullmatch(glob_expression(pattern), host, re.DOTALL) is not None


def rule_for(rules: Iterable[HostRule], host: str) -> HostRule:
    """Fold all rules that match `host` into one: for each key, the first rule that sets it wins.

    Args:
        rules: In the order of the file.
        host: Lower case, an IPv6 address in brackets.

    Returns:
        A rule whose `match` is the host itself; keys that no rule sets are None or empty.
    """
    merged: dict[str, Any] = {}
    headers: dict[str, str] = {}
    for rule in rules:
        if not matches(rule.match, host):
            continue
        for field in dataclasses.fields(rule):
            value = getattr(rule, field.name)
            if field.name not in {"match", "headers"} and value is not None:
                merged.setdefault(field.name, value)
        headers = {**rule.headers, **headers}
    return HostRule(match=host, headers=headers, **merged)
