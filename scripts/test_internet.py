"""Serve the test internet for a person: several HTTPS sites on loopback addresses, and the misbehaving server.

Writes a jird.toml that lets jird crawl it, prints what is where, and serves until Ctrl-C.
"""

import argparse
import contextlib
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from jird_client.sdnotify import notify  # noqa: E402
from testkit import toml  # noqa: E402  (the test kit lies outside the packages)
from testkit.daemon import FAST  # noqa: E402
from testkit.origin import Origin  # noqa: E402
from testkit.sites import TestInternet  # noqa: E402


def main() -> int:
    """Serve the sites; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--directory", type=Path, default=ROOT / "build" / "test-internet", help="keys and files")
    parser.add_argument("--port", type=int, default=8443, help="port of the sites (default: 8443)")
    parser.add_argument("--fault-port", type=int, default=8444, help="port of the misbehaving server (default: 8444)")
    parser.add_argument("--own-server", action="store_true", help="do not use nginx even where it is installed")
    arguments = parser.parse_args()
    directory: Path = arguments.directory
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    internet = TestInternet(directory, port=arguments.port, use_nginx=False if arguments.own_server else None)
    origin = Origin(directory, port=arguments.fault_port, authority=internet.authority)
    try:
        serve(directory, internet, origin)
    except OSError as error:  # the usual one: another demo has the addresses
        ports = f"ports {arguments.port} and {arguments.fault_port}"
        print(f"cannot serve the test internet on {ports}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


def serve(directory: Path, internet: TestInternet, origin: Origin) -> None:
    """Serve until a signal comes.

    Raises:
        OSError: An address is in use, or a file cannot be written.
    """
    with contextlib.suppress(KeyboardInterrupt), internet, origin:
        config = directory / "jird.toml"
        config.write_text(toml.dump(toml.merge(internet.settings(), origin.settings(), FAST)))
        (directory / "seeds.txt").write_text("\n".join(internet.seeds()) + "\n")
        print(f"configuration: {config}", *internet.seeds(), origin.url("/ok"), sep="\n", flush=True)
        notify("READY=1")
        signal.pause()


if __name__ == "__main__":
    sys.exit(main())
