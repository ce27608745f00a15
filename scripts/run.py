"""Run jird in the foreground: the daemon, the frontend, and with --demo a small internet to crawl. `make run` calls it.

Ctrl-C (or SIGTERM, or a closed terminal) stops the frontend, then the daemon, and this ends with 0. make itself would
end with 130 on Ctrl-C whatever its recipe does, because the terminal signals the whole foreground process group; so
this program becomes that group, alone, and gives the terminal back when it is done. The children have sessions of
their own, and die with this process.
"""

import argparse
import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jird_settings import SettingsError, load

ROOT = Path(__file__).resolve().parent.parent
READY_TIMEOUT_S = 60.0
"""Longest wait for READY=1; an index that must be rebuilt is ready before it is complete."""
STOP_TIMEOUT_S = 120.0
"""Longest wait for an ordered stop, which includes a checkpoint of the index."""
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Child:
    """A program of ours that runs."""

    name: str
    process: subprocess.Popen[bytes]

    def stop(self) -> bool:
        """SIGTERM and wait; True when it ended with 0 (or, before it could handle signals, by ours)."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            say(f"{self.name} did not stop in {STOP_TIMEOUT_S:.0f} s; killing it")
            self.process.kill()
            code = self.process.wait()
        return code in (0, -signal.SIGTERM)


def say(text: str) -> None:
    """A line for the person at the terminal."""
    print(f"jird: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def own_terminal() -> Iterator[None]:
    """Be the terminal's foreground process group, if this process may; give it back at the end."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # no terminal: nothing to take
        yield
        return
    try:
        previous = os.tcgetpgrp(terminal)
        if previous != os.getpgrp() or os.getpid() == os.getsid(0):
            yield  # in the background, or the leader of the session already
            return
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a background group may not take the terminal otherwise
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # the shell could not see this group stop
        os.tcsetpgrp(terminal, os.getpgrp())
        try:
            yield
        finally:
            os.tcsetpgrp(terminal, previous)
    finally:
        os.close(terminal)


def start(name: str, module: list[str], environment: Mapping[str, str]) -> Child:
    """Start one of our programs in a session of its own, bound to die with this one."""
    parent = os.getpid()

    def die_with_parent() -> None:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    command = [sys.executable, "-m", *module]
    return Child(
        name,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            env=dict(environment),
            start_new_session=True,
            preexec_fn=die_with_parent,  # no other thread runs yet
        ),
    )


def is_alive(url: str) -> bool:
    """Whether `url` answers with a success."""
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except OSError:  # refused, or an error status (HTTPError is an OSError)
        return False


class Launcher:
    """Starts the programs in order, waits, and stops them in reverse."""

    def __init__(self, environment: Mapping[str, str], web_url: str) -> None:
        """Prepare; nothing is started yet."""
        self._environment = environment
        self._web_url = web_url
        self._children: list[Child] = []
        self._stopping = False

    def on_signal(self, *_: object) -> None:
        """The first signal raises KeyboardInterrupt in the main thread; a further one only says so."""
        if self._stopping:
            say("already stopping")
            return
        self._stopping = True
        raise KeyboardInterrupt

    def start(self) -> bool:
        """Start daemon and frontend; True once both answer."""
        with (
            tempfile.TemporaryDirectory(prefix="jird-") as folder,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify,
        ):
            path = Path(folder) / "notify"
            notify.bind(str(path))
            daemon = start("daemon", ["jird_daemon", "serve"], {**self._environment, "NOTIFY_SOCKET": str(path)})
            self._children.append(daemon)
            web = start("frontend", ["jird_web"], self._environment)
            self._children.append(web)
            return self._is_ready(notify, daemon) and self._answers(web)

    def _is_ready(self, notify: socket.socket, daemon: Child) -> bool:
        deadline_s = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline_s:
            if daemon.process.poll() is not None:
                return False
            if select.select([notify], [], [], 0.1)[0] and b"READY=1" in notify.recv(4096).splitlines():
                return True
        say(f"the daemon was not ready in {READY_TIMEOUT_S:.0f} s")
        return False

    def _answers(self, web: Child) -> bool:
        deadline_s = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline_s and web.process.poll() is None:
            if is_alive(f"{self._web_url}/healthz"):
                return True
            time.sleep(0.05)
        return False

    def wait(self) -> None:
        """Wait until a child ends by itself; a stop signal raises KeyboardInterrupt."""
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)  # leaves the exit code for stop()

    def stop(self) -> bool:
        """Stop the frontend, then the daemon; True if each ended well."""
        self._stopping = True
        good = True
        for child in reversed(self._children):
            code = child.process.poll()
            if code is None:
                say(f"stopping the {child.name}")
                good = child.stop() and good
            elif code not in (0, -signal.SIGTERM):
                say(f"the {child.name} ended with {code}")
                good = False
        return good


def main() -> int:
    """Read the settings, start everything, wait for a stop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="data folder (default: data in the checkout)")
    arguments = parser.parse_args()
    return run(local_environment(arguments.data))


def local_environment(data: Path) -> dict[str, str]:
    """This process's environment, with data and sockets below `data` and local admin unless it says otherwise."""
    data.mkdir(parents=True, exist_ok=True)
    defaults = {"JIRD_STATE_DIR": str(data), "JIRD_RUN_DIR": str(data / "run"), "JIRD_ADMIN": "local"}
    return dict(os.environ) if "JIRD_CONFIG" in os.environ else {**defaults, **os.environ}


def run(environment: Mapping[str, str]) -> int:
    """Run daemon and frontend until a signal comes; returns the exit code."""
    try:
        web = load(None, environment).web
    except SettingsError as error:
        say(str(error))
        return 2
    url = f"http://{f'[{web.bind}]' if ':' in web.bind else web.bind}:{web.port}"
    launcher = Launcher(environment, url)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, launcher.on_signal)
    with own_terminal():
        stopped = False
        try:
            if launcher.start():
                say(f"open {url}/ in a browser; Ctrl-C stops")
                launcher.wait()
        except KeyboardInterrupt:
            stopped = True
        good = launcher.stop()
    return 0 if stopped and good else 1


if __name__ == "__main__":
    sys.exit(main())
