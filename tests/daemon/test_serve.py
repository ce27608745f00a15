"""The main process as a process: start, signals, sockets, and what it says to systemd. Ingest is played by a stub."""

import os
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from jird.v1 import index_service_pb2 as index_pb
from jird.v1 import index_service_pb2_grpc as index_grpc
from jird.v1 import search_service_pb2 as search_pb
from jird.v1 import search_service_pb2_grpc as search_grpc
from jird.v1 import status_service_pb2 as status_pb
from jird.v1 import status_service_pb2_grpc as status_grpc
from jird_daemon.store import Store
from jird_daemon.store.env import SCHEMA_KEY
from jird_daemon.store.pages import FetchedPage, store_page
from jird_daemon.store.tables import META, SCHEMA_VERSION
from jird_daemon.store.text_pile import TextPile, encode_pile, pile_digest
from testkit.processes import NotifySocket, Program, children_of, wait_until

PROGRAM = Path(__file__).with_name("serve_program.py")
DEADLINE_S = 20.0


class Served:
    """A serve process with its folders; several may share a state folder or a run folder."""

    def __init__(self, folder: Path, run_dir: Path, state_dir: Path | None = None, name: str = "serve") -> None:
        self.run_dir = run_dir
        self.state_dir = state_dir or folder / "state"
        self.config = folder / f"{name}.toml"
        self.restart_base_ms = 1
        self.write_config()
        command = [sys.executable, str(PROGRAM), "serve", "--config", str(self.config)]
        self.program = Program(name, command, folder / f"{name}.log", {"JOURNAL_STREAM": None, "NOTIFY_SOCKET": None})
        self.notify = NotifySocket(Path(tempfile.mkdtemp(prefix="jird-n")) / "n")
        self.channel: grpc.Channel | None = None

    def write_config(self, more: str = "") -> None:
        self.config.write_text(
            f'[storage]\nstate_dir = "{self.state_dir}"\nrun_dir = "{self.run_dir}"\n'
            f"[service]\nrestart_base_ms = {self.restart_base_ms}\n{more}"
        )

    def start(self, **environ: str) -> "Served":
        self.notify.messages.clear()
        self.program.start({"NOTIFY_SOCKET": str(self.notify.path), **environ})
        self.wait_for("READY=1")
        return self

    def wait_for(self, message: str) -> None:
        def is_there() -> bool:
            self.notify.poll(0.05)
            assert self.program.is_running, self.program.log
            return message in self.notify.messages

        wait_until(is_there, f"{message}\n{self.program.log}", timeout_s=DEADLINE_S)

    def wait(self) -> int:
        """Wait for the end, reading what it says to systemd; returns the exit code."""

        def has_ended() -> bool:
            self.notify.poll(0.02)
            return not self.program.is_running

        wait_until(has_ended, "the end", timeout_s=DEADLINE_S)
        return self.program.wait()

    def stop(self) -> int:
        self.program.send(signal.SIGTERM)
        return self.wait()

    def open_channel(self) -> grpc.Channel:
        self.channel = self.channel or grpc.insecure_channel(f"unix:{self.run_dir}/admin.sock")
        return self.channel

    def search(self) -> search_pb.SearchResponse:
        stub = search_grpc.SearchServiceStub(self.open_channel())
        answer: search_pb.SearchResponse = stub.Search(search_pb.SearchRequest(query="a"), timeout=DEADLINE_S)
        return answer

    def status(self) -> status_pb.Status:
        stub = status_grpc.StatusServiceStub(self.open_channel())
        answer: status_pb.Status = stub.GetStatus(status_pb.GetStatusRequest(), timeout=DEADLINE_S)
        return answer

    def ingest_pid(self) -> int:
        pids = [pid for pid, command in children_of(self.program.pid).items() if "stub_ingest" in command]
        return pids[0] if pids else 0

    def close(self) -> None:
        if self.channel is not None:
            self.channel.close()
        self.program.kill()
        self.notify.close()
        shutil.rmtree(self.notify.path.parent)


@pytest.fixture
def run_dir() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="jird-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def served(tmp_path: Path, run_dir: Path) -> Iterator[Served]:
    made = Served(tmp_path, run_dir)
    yield made
    made.close()


def run_once(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "jird_daemon", *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def test_ready_means_that_searches_are_answered_on_both_sockets(served: Served) -> None:
    """F121: and the sockets are for owner and group alone."""
    served.start()
    assert served.search().match_count == 0
    for name in ("search.sock", "admin.sock"):
        path = served.run_dir / name
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        with grpc.insecure_channel(f"unix:{path}") as channel:
            readiness = status_grpc.StatusServiceStub(channel).GetReadiness
            assert readiness(status_pb.GetReadinessRequest(), timeout=DEADLINE_S).is_ready


def test_systemd_hears_status_and_signs_of_life(served: Served) -> None:
    served.start(WATCHDOG_USEC="600000")
    served.notify.messages.clear()
    served.wait_for("WATCHDOG=1")
    served.wait_for("STATUS=0 documents; no crawl runs")
    served.notify.messages.clear()
    served.wait_for("WATCHDOG=1")


def stages(log: str) -> list[str]:
    return re.findall(r"stop\.stage stage=(\w+)", log)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_in_order(served: Served, number: signal.Signals) -> None:
    """J45: listeners, drain, crawl and index (ingest's own stages), mapped index, store; the log shows it."""
    served.start()
    served.program.send(number)
    assert served.wait() == 0
    log = served.program.log
    assert stages(log) == ["listeners", "drain", "reads", "searches", "ingest", "index", "store", "lock", "sockets"]
    assert log.index(f"stop reason={number.name}") < log.index("stage=listeners") < log.index("serve: stopped")
    served.notify.poll(0.1)
    assert "STOPPING=1" in served.notify.messages
    assert any(message.startswith("EXTEND_TIMEOUT_USEC=") for message in served.notify.messages)
    assert not (served.run_dir / "search.sock").exists()


def test_second_signal_during_the_stop_is_harmless(served: Served) -> None:
    """J46."""
    served.start()
    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGINT):
        served.program.send(number)
    assert served.wait() == 0
    assert served.program.log.count("stop reason=") == 1


def test_failed_stage_is_reported_after_all_were_tried(served: Served) -> None:
    """J47: non-zero exit, and every remaining stage is tried."""
    served.start(STUB_MODE="faulty")
    assert served.stop() == 1
    log = served.program.log
    assert "stop.ingest.failed" in log
    assert "checkpoint: disk full" in log
    assert stages(log)[-4:] == ["index", "store", "lock", "sockets"]


def test_ingest_that_does_not_stop_is_killed_and_reported(served: Served) -> None:
    """J47."""
    served.write_config("stop_timeout_ms = 1000\n")
    served.start(STUB_MODE="stubborn")
    assert served.stop() == 1
    assert "did not stop within 1000 ms" in served.program.log


def test_search_answers_all_the_while_that_ingest_is_replaced(served: Served) -> None:
    served.start()
    wait_until(lambda: served.ingest_pid() != 0, "ingest runs")
    for _ in range(3):
        first = served.ingest_pid()
        os.kill(first, signal.SIGKILL)

        def is_replaced(first: int = first) -> bool:
            assert served.search().match_count == 0
            return served.ingest_pid() not in (0, first)

        wait_until(is_replaced, "another ingest process")
    wait_until(lambda: served.status().processes[1].is_up, "ingest is up")
    assert served.status().processes[1].restart_count == 3


def test_command_without_ingest_is_unavailable(served: Served) -> None:
    served.restart_base_ms = 60_000
    served.write_config()
    served.start()
    os.kill(served.ingest_pid(), signal.SIGKILL)
    wait_until(lambda: not served.status().processes[1].is_up, "ingest is down")
    with pytest.raises(grpc.RpcError) as caught:
        index_grpc.IndexServiceStub(served.open_channel()).Checkpoint(index_pb.CheckpointRequest(), timeout=DEADLINE_S)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert served.search().match_count == 0


def test_second_daemon_on_the_state_is_refused_and_says_why(served: Served, tmp_path: Path) -> None:
    """F97: and the first one is left alone."""
    served.start()
    other_dir = Path(tempfile.mkdtemp(prefix="jird-"))
    second = Served(tmp_path, other_dir, served.state_dir, "second")
    second.program.start()
    assert second.program.wait() == 1
    assert f"{served.state_dir} is in use by process {served.program.pid} (serve)" in second.program.log
    second.close()
    shutil.rmtree(other_dir)
    assert served.search().match_count == 0


@pytest.mark.parametrize("setting", ["state_dir", "run_dir"])
def test_folder_that_cannot_be_used_is_named_with_its_setting(tmp_path: Path, setting: str) -> None:
    (tmp_path / "file").write_text("in the way")
    folders = {"state_dir": tmp_path / "state", "run_dir": tmp_path / "run", setting: tmp_path / "file" / "folder"}
    served = Served(tmp_path, folders["run_dir"], folders["state_dir"])
    served.program.start()
    assert served.program.wait() == 1
    assert f"storage.{setting}: {folders[setting]} cannot be used: Not a directory" in served.program.log
    served.close()


def test_second_daemon_on_the_sockets_is_refused_and_says_why(served: Served, tmp_path: Path) -> None:
    """F119: the first one keeps its sockets."""
    served.start()
    second = Served(tmp_path, served.run_dir, tmp_path / "other", "second")
    second.program.start()
    assert second.program.wait() == 1
    assert "another process serves the sockets there" in second.program.log
    second.close()
    assert served.search().match_count == 0


def test_killed_daemon_leaves_nothing_that_keeps_its_successor_out(served: Served) -> None:
    """F97, F119: children die with it, the lock of the dead is taken over, its sockets are replaced."""
    served.start()
    wait_until(lambda: served.ingest_pid() != 0, "ingest runs")
    orphan = os.pidfd_open(served.ingest_pid())
    served.program.kill()
    assert (served.run_dir / "search.sock").is_socket()
    served.start()
    assert served.search().match_count == 0
    assert select.select([orphan], [], [], DEADLINE_S)[0], "the ingest process outlived its parent"
    os.close(orphan)


def test_reload_takes_up_a_good_file_here_and_in_ingest(served: Served) -> None:
    served.start()
    served.write_config('[index]\nk1 = 2\n[log]\nlevel = "debug"\n')
    served.program.send(signal.SIGHUP)
    served.wait_for("STATUS=reloaded")
    assert any(message.startswith("MONOTONIC_USEC=") for message in served.notify.messages)
    assert "stub: reload" in served.program.log
    assert "reload.partial tables=index" in served.program.log
    assert served.search().match_count == 0


def test_reload_refuses_a_bad_file_and_keeps_what_was(served: Served) -> None:
    served.write_config("[crawl]\nmax_pages = 77\n")
    served.start()
    served.write_config("[crawl]\nmax_pages = -1\n")
    served.program.send(signal.SIGHUP)
    served.program.wait_for_log("reload.refused")
    assert "crawl.max_pages is -1; it must be 0 to 10000000" in served.program.log
    assert served.status().limits["crawl_max_pages"] == 77
    assert "stub: reload" not in served.program.log


def test_ingest_that_asks_for_another_release_ends_the_daemon_with_42(served: Served) -> None:
    """S45, S47."""
    served.start(STUB_MODE="outdated")
    assert served.wait() == 42


def test_index_that_is_gone_is_not_ready_until_ingest_shows_a_view(served: Served) -> None:
    """F125: the daemon is up while the index is rebuilt, and says that it is not ready."""
    pile = TextPile("words")
    with Store.open(served.state_dir) as store, store.write() as txn:
        store_page(txn, FetchedPage("https://a.test/", 1.8e9, encode_pile(pile), pile_digest(pile)))
    served.start(STUB_MODE="viewless")
    readiness = status_grpc.StatusServiceStub(served.open_channel()).GetReadiness
    answer = readiness(status_pb.GetReadinessRequest(), timeout=DEADLINE_S)
    assert (answer.is_ready, answer.reason) == (False, "the index is being opened or rebuilt")
    with pytest.raises(grpc.RpcError) as caught:
        served.search()
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_newer_schema_is_refused(served: Served) -> None:
    with Store.open(served.state_dir) as store, store.write() as txn:
        txn.put(META, SCHEMA_KEY, SCHEMA_VERSION + 1)
    served.program.start()
    assert served.wait() == 1
    assert f"schema version {SCHEMA_VERSION + 1}, this release reads version {SCHEMA_VERSION}" in served.program.log


def test_unset_user_agent_is_warned_of(served: Served) -> None:
    """U131."""
    served.start()
    assert "crawl.user_agent_unset" in served.program.log


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[crawl]\ndelay_ms = 600001\n", ":2: crawl.delay_ms is 600001; it must be 0 to 600000"),
        ("[crawl]\nspeed = 1\n", ":2: crawl.speed is an unknown key"),
        (f'[storage]\nrun_dir = "/{"r" * 100}"\n', "a socket's path has at most 107"),
        ('[web]\nbind = "0.0.0.0"\n', "there is no admin token"),
    ],
)
def test_bad_configuration_is_one_line_and_exit_code_2(tmp_path: Path, text: str, words: str) -> None:
    """S47: exit codes other than 0 and 1 have one meaning each."""
    path = tmp_path / "jird.toml"
    path.write_text(text)
    ended = run_once("serve", "--config", str(path))
    assert ended.returncode == 2
    assert words in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_short_token_is_refused_at_start(tmp_path: Path) -> None:
    """J52."""
    ended = run_once("serve", "--config", "/dev/null", JIRD_ADMIN_TOKEN="x" * 31)
    assert ended.returncode == 2
    assert "JIRD_ADMIN_TOKEN has 31 characters; it must have 32 to 1024" in ended.stderr
    assert "x" * 31 not in ended.stderr


def test_help_and_version_say_what_there_is() -> None:
    """S48."""
    assert re.fullmatch(r"jird \d+\.\d+\.\d+\n", run_once("--version").stdout)
    shown = run_once("serve", "--help")
    assert shown.returncode == 0
    assert "--config FILE" in shown.stdout
    assert "exit codes: 0 stopped in order" in shown.stdout
    assert run_once().returncode == 2
