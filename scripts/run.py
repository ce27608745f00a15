"""Run jird in the foreground, daemon and frontend: `make run` calls it.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from jird_settings import SettingsError, load

ROOT = Path(__file__).resolve().parent.parent
READY_TIMEOUT_S = 60.0
"""Longest wait for READY=1; an index that must be rebuilt is ready before it is complete."""
STOP_TIMEOUT_S = 120.0
"""Longest wait for an ordered stop, which includes a checkpoint of the index."""
PR_SET_PDEATHSIG = 1


class Child:
    """One program of ours, in a session of its own, bound to die with this process."""

    def __init__(self, name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start `python ARGUMENTS`; `name` is what messages call it."""
        self.name = name
        self._folder = tempfile.TemporaryDirectory(prefix="jird-")
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        path = f"{self._folder.name}/notify"
        self._notify.bind(path)
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            env={**environment, "NOTIFY_SOCKET": path},
            start_new_session=True,
            preexec_fn=_die_with_parent,  # no other thread runs yet
        )

    def wait_ready(self) -> bool:
        """Wait for READY=1 (sd_notify(3)); False when the program ended, or was not ready in time."""
        deadline_s = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline_s:
            if select.select([self._notify], [], [], 0.1)[0] and b"READY=1" in self._notify.recv(4096).splitlines():
                return True
            if self.process.poll() is not None:
                return False
        say(f"the {self.name} was not ready in {READY_TIMEOUT_S:.0f} s")
        return False

    def stop(self) -> bool:
        """Stop it if it still runs, and wait; True when it ended with 0, or by our own SIGTERM."""
        code = self.process.poll()
        if code is None:
            say(f"stopping the {self.name}")
            self.process.terminate()
            code = self._wait()
        elif code != 0:
            say(f"the {self.name} ended with {code}")
        self._notify.close()
        self._folder.cleanup()
        return code in (0, -signal.SIGTERM)

    def _wait(self) -> int:
        try:
            return self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            say(f"the {self.name} did not stop in {STOP_TIMEOUT_S:.0f} s; killing it")
            self.process.kill()
            return self.process.wait()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


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


class Launcher:
    """Starts programs, waits until one ends or a signal comes, and stops them in reverse order. A context manager."""

    def __init__(self) -> None:
        """Take the signals; nothing is started yet."""
        self._children: list[Child] = []
        self._stopping = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, *_: object) -> None:
        if self._stopping:
            say("already stopping")
        else:
            self._stopping = True
            raise KeyboardInterrupt

    def start(self, environment: Mapping[str, str], programs: Mapping[str, Sequence[str]]) -> bool:
        """Start programs (name: arguments) side by side; True once each is ready."""
        started = []
        for name, arguments in programs.items():
            started.append(Child(name, arguments, environment))
            self._children.append(started[-1])
        return all(child.wait_ready() for child in started)

    def wait(self) -> None:
        """Wait until a program ends by itself; a signal raises KeyboardInterrupt."""
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)  # leaves the exit code for stop()

    def stop(self) -> bool:
        """Stop everything, last started first; True if each ended well."""
        self._stopping = True
        endings = [child.stop() for child in reversed(self._children)]  # each, however the ones before it ended
        return all(endings)


JIRD: Mapping[str, Sequence[str]] = {"daemon": ["-m", "jird_daemon", "serve"], "frontend": ["-m", "jird_web"]}


def local_environment(data: Path) -> dict[str, str]:
    """This process's environment, with data and sockets below `data` and local admin unless it says otherwise."""
    defaults = {"JIRD_STATE_DIR": str(data), "JIRD_RUN_DIR": str(data / "run"), "JIRD_ADMIN": "local"}
    return dict(os.environ) if "JIRD_CONFIG" in os.environ else {**defaults, **os.environ}


def web_address(environment: Mapping[str, str]) -> str:
    """Where the frontend will listen.

    Raises:
        SettingsError: The settings cannot be used.
    """
    web = load(None, environment).web
    return f"http://{f'[{web.bind}]' if ':' in web.bind else web.bind}:{web.port}/"


def serve(start: Callable[[Launcher], bool]) -> int:
    """Start by calling `start`, wait for a signal, stop everything; returns the exit code."""
    launcher = Launcher()
    interrupted = False
    with own_terminal():
        try:
            if start(launcher):
                launcher.wait()
        except KeyboardInterrupt:
            interrupted = True
        good = launcher.stop()
    return 0 if interrupted and good else 1


def main() -> int:
    """Run daemon and frontend on ./data."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="data folder (default: data in the checkout)")
    arguments = parser.parse_args()
    environment = local_environment(arguments.data)
    try:
        address = web_address(environment)
    except SettingsError as error:
        say(str(error))
        return 2
    arguments.data.mkdir(parents=True, exist_ok=True)

    def start(launcher: Launcher) -> bool:
        ready = launcher.start(environment, JIRD)
        if ready:
            say(f"open {address} in a browser; Ctrl-C stops")
        return ready

    return serve(start)


if __name__ == "__main__":
    sys.exit(main())
