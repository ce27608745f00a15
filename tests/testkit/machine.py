"""A whole Debian machine for tests: a minimal tree, booted with systemd-nspawn, driven through nsenter.

The tree is made once by mmdebstrap and kept in build/ under a name that depends on what is in it. The machine has a
loopback network and nothing else. It needs root, but no
virtualisation, no machined, and no network after the first time.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from testkit.processes import children_of, wait_until

SUITE = "bookworm"
PACKAGES = (
    "ca-certificates",
    "curl",
    "dbus",
    "init-system-helpers",
    "libstdc++6",
    "nginx-light",
    "procps",
    "python3",
    "systemd",
    "systemd-sysv",
    "zlib1g",
)
"""What the tree holds beside Debian's minimum: systemd as the first process, jird's dependencies, nginx, curl."""

BOOT_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 60.0
TOOLS = ("systemd-nspawn", "mmdebstrap", "nsenter")


def why_not() -> str:
    """Why no machine can be booted here; empty when it can be tried."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if os.geteuid() != 0:
        return "booting a machine needs root"
    return f"{', '.join(missing)} missing (apt install systemd-container mmdebstrap util-linux)" if missing else ""


def make_tree(cache: Path) -> Path:
    """The tree as a tar file below `cache`, made unless it is there already."""
    key = hashlib.sha256(json.dumps([SUITE, PACKAGES]).encode()).hexdigest()[:12]
    archive = cache / f"debian-{SUITE}-{key}.tar"
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        partial = archive.with_suffix(".partial.tar")
        options = ["--variant=minbase", f"--include={','.join(PACKAGES)}", "--quiet"]
        subprocess.run(["mmdebstrap", *options, SUITE, str(partial)], check=True, stdin=subprocess.DEVNULL)
        partial.rename(archive)
    return archive


class CommandError(AssertionError):
    """A command in the machine failed; the message holds its output."""


class Machine:
    """A booted machine. A context manager: unpacks the tree, boots, and powers off.

    Attributes:
        root: The tree, as seen from outside; files may be put there at any time.
    """

    def __init__(self, archive: Path, directory: Path, *, binds: Mapping[Path, str] | None = None) -> None:
        """Prepare a machine in `directory`; `binds` maps folders outside to folders inside, read-only."""
        self.root = directory / "root"
        self._archive = archive
        self._binds = binds or {}
        self._console = directory / "console.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._leader = 0

    def __enter__(self) -> "Machine":
        self.root.mkdir(parents=True)
        subprocess.run(["tar", "-xf", str(self._archive), "-C", str(self.root)], check=True)
        self.root.chmod(0o755)
        (self.root / "etc" / "machine-id").write_text("")
        (self.root / "etc" / "hostname").write_text("jird-test\n")
        try:
            self._boot()
        except BaseException:
            self._end()
            raise
        return self

    def _boot(self) -> None:
        name = f"jird-{uuid.uuid4().hex[:8]}"  # nspawn refuses a name that another machine has
        binds = [f"--bind-ro={source}:{target}" for source, target in self._binds.items()]
        command = ["systemd-nspawn", "--quiet", f"--directory={self.root}", "--boot", "--register=no", "--keep-unit"]
        command += ["--private-network", f"--machine={name}", "--console=pipe", *binds]
        with self._console.open("wb") as console:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True
            )
        wait_until(self._find_leader, "the machine's first process", timeout_s=BOOT_TIMEOUT_S)
        wait_until(self._is_up, "the machine is up", timeout_s=BOOT_TIMEOUT_S)

    def _find_leader(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"systemd-nspawn ended with {self._process.returncode}: {self._console.read_text()}")
        leaders = [pid for pid, command in children_of(self._process.pid).items() if "nspawn" not in command]
        self._leader = leaders[0] if leaders else 0
        return bool(leaders)

    def _is_up(self) -> bool:
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(CommandError, subprocess.TimeoutExpired):
            self.run("systemctl", "poweroff", check=False)
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                os.kill(self._process.pid, signal.SIGKILL)
                self._process.wait()
        shutil.rmtree(self.root, ignore_errors=True)

    def run(
        self,
        *command: str,
        check: bool = True,
        user: str | None = None,
        stdin: str = "",
        timeout_s: float = COMMAND_TIMEOUT_S,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command inside, as root or as `user`, with all that the machine's own processes see.

        Raises:
            CommandError: It failed and `check` was not False.
        """
        inside = ["runuser", "-u", user, "--", *command] if user else list(command)
        enter = ["nsenter", f"--target={self._leader}", "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd"]
        done = subprocess.run(
            [*enter, *inside],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root", "SYSTEMD_PAGER": ""},
        )
        if check and done.returncode != 0:
            raise CommandError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file inside, also where a file system of the machine's own is mounted; its folder is made."""
        self.run("mkdir", "-p", str(Path(path).parent))
        self.run("tee", path, stdin=text)
        self.run("chmod", f"{mode:o}", path)

    def show(self, unit: str, *names: str) -> dict[str, str]:
        """Properties of a unit."""
        output = self.run("systemctl", "show", unit, f"--property={','.join(names)}").stdout
        return dict(line.split("=", 1) for line in output.splitlines() if "=" in line)

    def main_pid(self, unit: str) -> int:
        """Process id, as seen inside, of a service's main process; 0 when it is not running."""
        return int(self.show(unit, "MainPID")["MainPID"])

    def is_active(self, unit: str) -> bool:
        """Whether a unit is active now."""
        return self.show(unit, "ActiveState")["ActiveState"] == "active"

    def wait_active(self, *units: str, timeout_s: float = COMMAND_TIMEOUT_S) -> None:
        """Wait until all units are active at one time."""
        wait_until(lambda: all(map(self.is_active, units)), f"{', '.join(units)} active", timeout_s=timeout_s)

    def journal(self, *matches: str) -> list[dict[str, str]]:
        """Journal entries that match, oldest first, each field as text."""
        output = self.run("journalctl", "--output=json", "--all", "--no-pager", *matches).stdout
        return [json.loads(line) for line in output.splitlines()]

    def wait_for(self, check: Sequence[str], what: str, *, timeout_s: float = COMMAND_TIMEOUT_S) -> None:
        """Wait until a command inside succeeds."""
        deadline_s = time.monotonic() + timeout_s
        while self.run(*check, check=False).returncode != 0:
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"{what}: not within {timeout_s} s; {self.run(*check, check=False)}")
            time.sleep(0.1)
