"""How a command ends: exit codes for scripts, and one-line errors for people or JSON ones for programs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from jird_client.text import json_text

EXIT_DONE = 0
EXIT_FAILED = 1  # failed or refused
EXIT_USAGE = 2
EXIT_CRAWL_INCOMPLETE = 3  # a crawl ended before its planned scope
EXIT_UNREACHABLE = 4  # no daemon


class FailureError(Exception):
    """A command that did not succeed.

    Attributes:
        exit_code: What the program ends with.
        reason: Upper snake case, for programs.
        message: What and why, in one line.
    """

    def __init__(self, message: str, reason: str, exit_code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.exit_code = exit_code


_KINDS = {
    EXIT_FAILED: "failed",
    EXIT_USAGE: "usage",
    EXIT_CRAWL_INCOMPLETE: "incomplete",
    EXIT_UNREACHABLE: "unreachable",
}


def report(failure: FailureError, as_json: bool) -> None:
    """Write a failure to stderr: one line, or one JSON object with error, reason and message."""
    message = " ".join(failure.message.split())
    if as_json:
        answer = {"error": _KINDS.get(failure.exit_code, "failed"), "reason": failure.reason, "message": message}
        click.echo(json_text(answer), file=sys.stderr)
    else:
        click.echo(f"jirdctl: {message}", err=True)


@contextmanager
def client_failures() -> Iterator[None]:
    """Turn a client's errors into failures with their exit codes."""
    from jird_client.errors import ClientError, DaemonUnreachableError

    try:
        yield
    except DaemonUnreachableError as error:
        raise FailureError(error.message, error.reason, EXIT_UNREACHABLE) from None
    except ClientError as error:
        raise FailureError(error.message, error.reason) from None
