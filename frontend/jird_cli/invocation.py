"""What every command shares: where the daemon is, and in which form to answer.

gRPC is imported only when a call is made, so that --help is quick.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jird_cli.failure import EXIT_USAGE, FailureError, client_failures
from jird_client.text import json_text

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from jird_client.channel import Client

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class Invocation:
    """One run of the program.

    Attributes:
        config: The service's configuration file, if one was named.
        run_dir: Folder of the sockets, if one was named.
        as_json: Whether stdout and stderr are for programs.
    """

    config: Path | None = None
    run_dir: Path | None = None
    as_json: bool = False

    @contextmanager
    def daemon(self, *, public: bool = False) -> Iterator["Client"]:
        """Open a client of the running daemon.

        Args:
            public: The call is also served on search.sock, so that one who may not open admin.sock can still make it.

        Raises:
            FailureError: There is no daemon, or a call within the block failed.
        """
        from jird_client.channel import Client
        from jird_client.sockets import ADMIN_SOCKET, SEARCH_SOCKET, find_run_dir, usable_socket

        names = (ADMIN_SOCKET, SEARCH_SOCKET) if public else (ADMIN_SOCKET,)
        with client_failures():
            path = usable_socket(find_run_dir(self.run_dir or self._configured_run_dir(), os.environ), names)
            with Client(path) as client:
                yield client

    def answer(self, plain: dict[str, Any], text: str) -> None:
        """Print a command's answer: the data as JSON, or the text for people."""
        click.echo(json_text(plain, indent=2) if self.as_json else text)

    def answer_message(self, message: "Message", text: str) -> None:
        """Print a message as `answer` does."""
        from jird_client.plain_data import to_plain

        self.answer(to_plain(message) if self.as_json else {}, text)

    def _configured_run_dir(self) -> Path | None:
        if self.config is None:
            return None
        from jird_settings import SettingsError, load

        try:
            return load(self.config, os.environ).storage.run_dir
        except SettingsError as error:
            raise FailureError(str(error), "BAD_CONFIGURATION", EXIT_USAGE) from None


def _note_json(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Invocation).as_json = True


def json_option(command: Command) -> Command:
    """Add --json to a command."""
    option = click.option(
        "--json", is_flag=True, expose_value=False, callback=_note_json, help="Answer in JSON; errors too, on stderr."
    )
    return option(command)


pass_invocation = click.make_pass_decorator(Invocation, ensure=True)
