"""Parameters of a benchmark by name: an option of the program, or a variable of its environment.

`make bench BENCH=ranking N=5000 LIMIT=100` sets variables; `ranking.py --n 5000 --limit 100` does the same.
"""

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter that is a whole number of at least `least`."""

    default: int
    meaning: str
    least: int = 1


def read_parameters(description: str | None, **numbers: Number) -> dict[str, int]:
    """Read options, then the environment, then defaults. A bad value ends the program with 2 and says which."""
    parser = argparse.ArgumentParser(description=description)
    for name, number in numbers.items():
        text = f"{number.meaning} (default: {number.default}; variable {name})"
        parser.add_argument(_option(name), dest=name, type=int, help=text)
    given = vars(parser.parse_args())
    found = {}
    for name, number in numbers.items():
        value = given[name] if given[name] is not None else _from_environment(parser, os.environ, name, number.default)
        if value < number.least:
            parser.error(f"{name} is {value}; it must be at least {number.least}")
        found[name] = value
    return found


def _option(name: str) -> str:
    return f"--{name.lower().replace('_', '-')}"


def _from_environment(parser: argparse.ArgumentParser, environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "")
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        parser.error(f"{name} is {text!r}; it must be a whole number")
