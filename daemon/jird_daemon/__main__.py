"""The program `jird`: read the arguments and the configuration, then become the daemon's main process."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from jird_daemon import log
from jird_daemon.config import Configuration
from jird_daemon.errors import JirdError, StateLockedError
from jird_daemon.rpc.sockets import SocketPathError, check_path
from jird_daemon.serve import Serve
from jird_daemon.store import StateLock
from jird_daemon.store.compaction import compact_metadata
from jird_daemon.store.env import METADATA_FOLDER
from jird_settings import SettingsError

EXIT_CONFIGURATION = 2

_DESCRIPTION = "jird, a web search engine that one person can own: the daemon that crawls, stores and searches."
_EPILOG = """\
signals: SIGTERM and SIGINT stop in order, SIGHUP reads the configuration again.
exit codes: 0 stopped in order, 1 failure, 2 bad configuration or usage, 42 another release must take over.
settings: the file given, else the one named by JIRD_CONFIG, else /etc/jird/jird.toml; JIRD_* variables win over it.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    arguments = _parser().parse_args(argv)
    run: Callable[[Path | None, Mapping[str, str]], int] = arguments.run
    return run(arguments.config, os.environ)


def serve(config: Path | None, environ: Mapping[str, str]) -> int:
    """Run the daemon until it is told to stop.

    Args:
        config: The configuration file; None: as jird_settings finds it.
        environ: The environment.

    Returns:
        The exit code.
    """
    try:
        configuration = Configuration(config, environ)
        settings = configuration.settings()
        check_path(settings.storage.run_dir)
    except (SettingsError, SocketPathError) as error:
        sys.stderr.write(f"jird: {error}\n")
        return EXIT_CONFIGURATION
    log.configure(settings.log.level, settings.log.max_lines_per_s, environ)
    return asyncio.run(_serve(configuration, environ))


def compact(config: Path | None, environ: Mapping[str, str]) -> int:
    """Compact the metadata of a daemon that is not running; arguments and exit code as for `serve`."""
    try:
        storage = Configuration(config, environ).settings().storage
    except SettingsError as error:
        sys.stderr.write(f"jird: {error}\n")
        return EXIT_CONFIGURATION
    if not (storage.state_dir / METADATA_FOLDER).is_dir():
        sys.stderr.write(f"jird: there is no store in {storage.state_dir}\n")
        return 1
    try:
        lock = StateLock.acquire(storage.state_dir, "compact")
        try:
            done = compact_metadata(storage.state_dir)
        finally:
            lock.close()
    except StateLockedError as error:
        sys.stderr.write(f"jird: {error.message}; stop it first (systemctl stop jird)\n")
        return 1
    except (JirdError, OSError) as error:
        sys.stderr.write(f"jird: {error}\n")
        return 1
    print(f"metadata compacted: {done.before_bytes:,} bytes before, {done.after_bytes:,} now")
    return 0


async def _serve(configuration: Configuration, environ: Mapping[str, str]) -> int:
    return await Serve(configuration, environ).run()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jird", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"jird {version('jird')}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    daemon = commands.add_parser(
        "serve",
        help="run the daemon in the foreground",
        description="Run the daemon in the foreground.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    daemon.set_defaults(run=serve)
    compacting = commands.add_parser(
        "compact",
        help="give the disk back what the metadata no longer needs",
        description="Write the metadata anew without its free pages, while the daemon is stopped.",
    )
    compacting.set_defaults(run=compact)
    for command in (daemon, compacting):
        command.add_argument("--config", type=Path, metavar="FILE", help="configuration file (TOML)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
