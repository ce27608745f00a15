"""`jird-web`: flags, settings, exit code."""

import logging
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import click

from jird_client.errors import ClientError
from jird_settings import Settings, SettingsError, Web, load, refuse_open_admin
from jird_web.server import listen, serve

EXIT_FAILED = 1
EXIT_BAD_CONFIGURATION = 2

_PRIORITIES = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="jird", prog_name="jird-web", message="%(prog)s %(version)s")
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="Configuration file (TOML).")
def main(config: Path | None) -> None:
    """Serve jird's pages and HTTP API, in front of the daemon on search.sock.

    Without --config, $JIRD_CONFIG or /etc/jird/jird.toml is read, and each setting may be given in the environment
    (JIRD_PORT, JIRD_BIND, JIRD_ADMIN, ...).
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_LineFormat(os.environ))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # uvicorn reports each malformed request; the guard answers those, and strangers could fill the journal with them.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    try:
        settings = _settings(config)
        sockets = _listen(settings.web)
        serve(settings, sockets)
    except SettingsError as error:
        _fail(str(error), EXIT_BAD_CONFIGURATION)
    except ClientError as error:
        _fail(error.message, EXIT_BAD_CONFIGURATION)


def _settings(config: Path | None) -> Settings:
    settings = load(config, os.environ)
    if settings.web.admin == "local":
        refuse_open_admin(settings)
    return settings


def _listen(web: Web) -> list[socket.socket]:
    try:
        return listen(web.bind, web.port)
    except OSError as error:
        _fail(f"cannot listen on {web.bind}:{web.port}: {error.strerror}", EXIT_FAILED)


class _LineFormat(logging.Formatter):
    """Lines with the priority that systemd reads from their beginning (sd-daemon(3)), or for a terminal."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__("%(message)s")
        self._is_journal = "JOURNAL_STREAM" in environ

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if not self._is_journal:
            return f"jird-web: {text}"
        prefix = f"<{_PRIORITIES.get(record.levelno, 6)}>"
        return "\n".join(prefix + line for line in text.splitlines())


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"jird-web: {message}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
