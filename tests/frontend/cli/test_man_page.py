"""The man page of jirdctl against its commands."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from jird_cli.__main__ import cli

MAN_PAGE = Path(__file__).parents[3] / "docs" / "man" / "jirdctl.1"


def commands(group: click.Group, before: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name


def shown_in(page: str) -> set[str]:
    """The commands that the section COMMANDS names."""
    section = page.split(".SH COMMANDS\n")[1].split(".SH ")[0]
    return set(re.findall(r"^\.B \"([a-z ]+)\"$", section, re.MULTILINE))


def test_man_page_names_every_command_and_no_other() -> None:
    assert shown_in(MAN_PAGE.read_text()) == set(commands(cli))
