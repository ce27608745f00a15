"""A real jird for tests: `jird serve`, and `jird-web` in front of it, as processes with sockets and a state folder.

    with Daemon(tmp_path, origin.settings()) as daemon:
        run = daemon.crawl(origin.url("/"))
        hits = daemon.search("good page").hits

The daemon is ready when it says READY=1 to NOTIFY_SOCKET; on leaving, it must stop in order with exit code 0.
"""

import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import grpc
import httpx

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird.v1 import crawl_service_pb2_grpc as crawl_grpc
from jird.v1 import search_service_pb2 as search_pb
from jird.v1 import search_service_pb2_grpc as search_grpc
from jird.v1 import status_service_pb2 as status_pb
from jird.v1 import status_service_pb2_grpc as status_grpc
from testkit import toml
from testkit.processes import START_TIMEOUT_S, NotifySocket, Program, children_of, wait_until

CALL_TIMEOUT_S = 30.0
"""Deadline of one gRPC call; long streams pass their own."""

FAST: toml.Tables = {"crawl": {"delay_ms": 0}, "hosts": [{"match": "*", "delay_ms": 0, "adaptive": False}]}
"""Settings for tests that are not about politeness: no delay between requests."""

Stub = TypeVar("Stub")


class Daemon:
    """`jird serve` on a state folder. A context manager; it may be killed and started again within.

    Attributes:
        program: The process, its log and its signals.
        state_dir: The state folder, below the `directory` given.
        run_dir: Folder of the sockets, short enough for any `directory`.
    """

    def __init__(
        self,
        directory: Path,
        *settings: toml.Tables,
        environment: Mapping[str, str | None] | None = None,
        admin_token: str | None = None,
    ) -> None:
        """Write the configuration; start() or `with` starts the daemon.

        Args:
            directory: Where state, configuration and log go.
            settings: Tables of jird.toml, merged from left to right over the folders and a quiet minimum.
            environment: Further environment variables; None removes one.
            admin_token: Token for admin calls on search.sock.
        """
        self.directory = directory
        self.state_dir = directory / "state"
        self.config_file = directory / "jird.toml"
        self.run_dir = Path(tempfile.mkdtemp(prefix="jird-"))
        self.settings = toml.merge(
            {
                "storage": {"state_dir": str(self.state_dir), "run_dir": str(self.run_dir)},
                "web": {"port": free_port()},
                "crawl": {"workers": 1},
            },
            *settings,
        )
        self.write_config()
        self.environment = {"JIRD_ADMIN_TOKEN": admin_token, "JOURNAL_STREAM": None, **(environment or {})}
        self.program = self._program("serve", [sys.executable, "-m", "jird_daemon", "serve"])
        self._channels: dict[str, grpc.Channel] = {}

    def write_config(self) -> None:
        """Write `settings` to the configuration file (again, after a test changed them)."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.config_file.write_text(toml.dump(self.settings))

    def _program(self, name: str, command: list[str]) -> Program:
        command = [*command, "--config", str(self.config_file)]
        return Program(name, command, self.directory / f"{name}.log", self.environment)

    def start(self, *, timeout_s: float = START_TIMEOUT_S) -> "Daemon":
        """Start and wait for READY=1.

        Raises:
            RuntimeError: It ended before that; the message holds its log.
            TimeoutError: It was not ready in time.
        """
        notify = NotifySocket(self.run_dir / "notify")
        try:
            self.program.start({"NOTIFY_SOCKET": str(notify.path)})
            wait_until(lambda: self._is_ready(notify), f"READY=1 of {self.program.log_file}", timeout_s=timeout_s)
        except BaseException:
            self.program.kill()
            raise
        finally:
            notify.close()
        return self

    def _is_ready(self, notify: NotifySocket) -> bool:
        notify.poll(0.05)
        if not self.program.is_running:
            raise RuntimeError(f"jird serve ended with {self.program.wait()} before READY=1:\n{self.program.log}")
        return "READY=1" in notify.messages

    def stop(self) -> int:
        """Stop in order; returns the exit code."""
        self._close_channels()
        return self.program.stop()

    def kill(self) -> None:
        """SIGKILL to the main process; its children must follow by themselves."""
        pids = self.pids()
        self._close_channels()
        self.program.kill()
        wait_until(lambda: not any(_exists(pid) for pid in pids.values()), "children die with their parent")

    def restart(self) -> None:
        """Stop in order, with exit code 0, and start again."""
        code = self.stop()
        assert code == 0, f"exit code {code}:\n{self.program.log}"
        self.start()

    def __enter__(self) -> "Daemon":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self.program.is_running:
                code = self.stop()
                assert kind or code == 0, f"jird serve ended with {code}:\n{self.program.log}"
        finally:
            self._close_channels()
            shutil.rmtree(self.run_dir, ignore_errors=True)

    @property
    def search_socket(self) -> Path:
        """The socket for the frontend."""
        return self.run_dir / "search.sock"

    @property
    def admin_socket(self) -> Path:
        """The socket for admins."""
        return self.run_dir / "admin.sock"

    def channel(self, which: str = "admin") -> grpc.Channel:
        """A channel to `admin` or `search`, kept until the daemon stops."""
        if which not in self._channels:
            path = self.admin_socket if which == "admin" else self.search_socket
            self._channels[which] = grpc.insecure_channel(f"unix:{path}")
        return self._channels[which]

    def stub(self, kind: Callable[[grpc.Channel], Stub], which: str = "admin") -> Stub:
        """A client of a service, e.g. `stub(index_service_pb2_grpc.IndexServiceStub)`."""
        return kind(self.channel(which))

    def _close_channels(self) -> None:
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()

    def crawl(self, *seeds: str, timeout_s: float = 60.0, **options: object) -> crawl_pb.CrawlRun:
        """Crawl and wait for the run's end; `options` are fields of StartCrawlRequest. Returns the final state."""
        run = self.start_crawl(*seeds, **options)
        return self.wait_for_run(run.run_id, timeout_s=timeout_s)

    def start_crawl(self, *seeds: str, **options: object) -> crawl_pb.CrawlRun:
        """Start a crawl; `options` are fields of StartCrawlRequest. Waits while ingest is being started."""
        request = crawl_pb.StartCrawlRequest(seeds=seeds, **options)  # type: ignore[arg-type]
        runs: list[crawl_pb.CrawlRun] = []
        wait_until(lambda: self._try_start(request, runs), "ingest takes commands")
        return runs[0]

    def _try_start(self, request: crawl_pb.StartCrawlRequest, runs: list[crawl_pb.CrawlRun]) -> bool:
        try:
            runs.append(self.stub(crawl_grpc.CrawlServiceStub).StartCrawl(request, timeout=CALL_TIMEOUT_S))
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
        return bool(runs)

    def wait_for_run(self, run_id: int, *, timeout_s: float = 60.0) -> crawl_pb.CrawlRun:
        """Watch a run until it no longer runs; returns its final state."""
        request = crawl_pb.WatchCrawlRunRequest(run_id=run_id)
        last = crawl_pb.CrawlRun()
        for update in self.stub(crawl_grpc.CrawlServiceStub).WatchCrawlRun(request, timeout=timeout_s):
            last = update.run
        return last

    def search(self, query: str, **options: object) -> search_pb.SearchResponse:
        """Search; `options` are fields of SearchRequest."""
        request = search_pb.SearchRequest(query=query, **options)  # type: ignore[arg-type]
        stub = self.stub(search_grpc.SearchServiceStub, "search")
        response: search_pb.SearchResponse = stub.Search(request, timeout=CALL_TIMEOUT_S)
        return response

    def wait_for_documents(self, count: int, *, timeout_s: float = 20.0) -> None:
        """Wait until at least `count` documents can be found: pages become so within a second of their commit."""
        stub = self.stub(status_grpc.StatusServiceStub)
        wait_until(
            lambda: stub.GetStatus(status_pb.GetStatusRequest(), timeout=CALL_TIMEOUT_S).index.document_count >= count,
            f"{count} documents can be found",
            timeout_s=timeout_s,
        )

    def pids(self) -> dict[str, int]:
        """Process ids: "serve", "ingest", and "parse-0", "parse-1", ... in order of start."""
        found = {"serve": self.program.pid}
        for pid, command in children_of(self.program.pid).items():
            if "jird_daemon.ingest" in command:
                found["ingest"] = pid
                parsers = sorted(pid for pid, line in children_of(pid).items() if "jird_daemon.parse" in line)
                found |= {f"parse-{number}": parser for number, parser in enumerate(parsers)}
        return found


class Web:
    """`jird-web` in front of a Daemon, with the same configuration file. A context manager."""

    def __init__(self, daemon: Daemon, environment: Mapping[str, str | None] | None = None) -> None:
        """Prepare; `with` starts it."""
        web = daemon.settings["web"]
        assert isinstance(web, Mapping)
        self.url = f"http://{web.get('bind', '127.0.0.1')}:{web['port']}"
        self.program = daemon._program("web", [sys.executable, "-m", "jird_web"])
        self.program.environment = {**daemon.environment, **(environment or {})}
        self.client = httpx.Client(base_url=self.url, timeout=CALL_TIMEOUT_S, trust_env=False)

    def __enter__(self) -> "Web":
        self.program.start()
        wait_until(self._answers, f"/healthz of {self.program.log_file}", timeout_s=START_TIMEOUT_S)
        return self

    def _answers(self) -> bool:
        if not self.program.is_running:
            raise RuntimeError(f"jird-web ended with {self.program.wait()}:\n{self.program.log}")
        try:
            return self.client.get("/healthz").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
        if self.program.is_running:
            code = self.program.stop()
            assert kind or code == 0, f"jird-web ended with {code}:\n{self.program.log}"


def free_port() -> int:
    """A port of 127.0.0.1 that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def kill_process(pid: int) -> None:
    """SIGKILL to one process, and wait until it is gone."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not _exists(pid), f"process {pid} is gone")


def _exists(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
