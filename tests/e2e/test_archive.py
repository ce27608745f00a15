"""Documents in and out of a real daemon, by the program that people use: nothing is lost, what comes out goes in."""

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from jird.v1 import index_service_pb2 as index_pb
from jird.v1 import index_service_pb2_grpc as index_grpc
from testkit.daemon import CALL_TIMEOUT_S, Daemon, kill_process
from testkit.processes import wait_until
from testkit.stale import read_otherwise

DOCUMENTS = 1_200
COMMAND_TIMEOUT_S = 60.0


def ctl(daemon: Daemon, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "jird_cli", "--run-dir", str(daemon.run_dir), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False)


def line(number: int) -> bytes:
    words = " ".join(f"w{number * 7 + k * k % (number + 3)}" for k in range(40))
    document = {
        "url": f"https://docs.test/{number}",
        "title": f"Title {number}",
        "text": f"gerbil number{number} {words}",
    }
    if number % 3 == 0:
        del document["text"]
        document["html"] = f"<html lang=en><h1>Headline {number}</h1><p>gerbil number{number} {words}"
    return json.dumps(document).encode() + b"\n"


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lines") / "documents.jsonl"
    path.write_bytes(b"".join(map(line, range(DOCUMENTS))))
    return path


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, lines: Path) -> Iterator[Daemon]:
    """A daemon that has the documents."""
    with Daemon(tmp_path_factory.mktemp("jird")) as running:
        done = ctl(running, "import", str(lines), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["outcomes"] == {"stored": DOCUMENTS}
        assert running.search("number77").hits[0].document.title == "Title 77", "searchable when the command ends"
        yield running


def end_of(export: bytes) -> dict[str, object]:
    end: dict[str, object] = json.loads(export.splitlines()[-1])
    return end


def test_a_second_import_finds_everything_there(daemon: Daemon, lines: Path) -> None:
    done = ctl(daemon, "import", "-", "--json", stdin=gzip.compress(lines.read_bytes()))
    assert json.loads(done.stdout)["outcomes"] == {"unchanged": DOCUMENTS}


def test_bad_lines_are_told_and_the_exit_code_is_1(daemon: Daemon) -> None:
    stdin = b'nonsense\n{"url": "ftp://a.test/", "text": "x"}\n' + line(5)
    done = ctl(daemon, "import", "-", stdin=stdin)
    assert done.returncode == 1
    errors = done.stderr.decode()
    assert "-: line 1: JSON is malformed" in errors
    assert "-: line 2: ftp://a.test/: URL scheme" in errors
    assert b"1 unchanged" in done.stdout


def test_exports_are_complete_and_can_be_limited(daemon: Daemon, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl.gz"
    done = ctl(daemon, "export", "-o", str(path))
    assert done.returncode == 0, done.stderr
    exported = gzip.decompress(path.read_bytes())
    end = end_of(exported)
    assert (end["records"], end["documents"]) == (DOCUMENTS, DOCUMENTS)
    assert {json.loads(each)["url"] for each in exported.splitlines()[:-1]} == {
        f"https://docs.test/{number}" for number in range(DOCUMENTS)
    }
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert end_of(ctl(daemon, "export", "--host", "other.test").stdout)["records"] == 0
    assert end_of(ctl(daemon, "export", "--since", "2199-01-01").stdout)["records"] == 0
    assert ctl(daemon, "export", "-o", str(tmp_path / "none" / "x")).returncode == 1


def test_an_import_that_was_interrupted_goes_on_and_survives_the_death_of_ingest(
    daemon: Daemon, lines: Path, tmp_path: Path
) -> None:
    """In the end both daemons hold the same: their exports have one digest (J37)."""
    with Daemon(tmp_path / "other") as other:
        command = [sys.executable, "-m", "jird_cli", "--run-dir", str(other.run_dir), "import", "-"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as interrupted:
            assert interrupted.stdin is not None
            interrupted.stdin.write(b"".join(map(line, range(DOCUMENTS // 2))))
            interrupted.stdin.flush()
            other.wait_for_documents(1)
            interrupted.send_signal(signal.SIGINT)
            _, errors = interrupted.communicate()
        assert interrupted.returncode == 1
        assert b"run it again to go on" in errors
        with subprocess.Popen([*command[:-1], str(lines), "--json"], stdout=subprocess.PIPE) as again:
            other.wait_for_documents(DOCUMENTS // 2 + 1)
            kill_process(other.pids()["ingest"])
            output, _ = again.communicate()
        assert again.returncode == 0
        outcomes = json.loads(output)["outcomes"]
        assert outcomes["unchanged"] > 0
        assert sum(outcomes.values()) == DOCUMENTS
        digest = end_of(ctl(daemon, "export").stdout)["digest"]
        assert end_of(ctl(other, "export").stdout)["digest"] == digest


def test_reindex_that_is_killed_meanwhile_gives_what_a_fresh_import_of_the_same_bytes_gives(
    daemon: Daemon, lines: Path, tmp_path: Path
) -> None:
    """An older release has read every page otherwise; the digests of the exports say that nothing of it is left."""
    with Daemon(tmp_path / "old") as old:
        assert ctl(old, "import", str(lines)).returncode == 0
        assert old.stop() == 0
        assert read_otherwise(old.state_dir) == DOCUMENTS
        old.start()
        digest = end_of(ctl(daemon, "export").stdout)["digest"]
        assert end_of(ctl(old, "export").stdout)["digest"] != digest
        stub = old.stub(index_grpc.IndexServiceStub)
        stub.StartReindex(index_pb.StartReindexRequest(), timeout=CALL_TIMEOUT_S)
        status = index_pb.GetReindexRequest()
        wait_until(lambda: stub.GetReindex(status, timeout=CALL_TIMEOUT_S).done_count > 0, "a batch is written")
        kill_process(old.pids()["ingest"])
        wait_until(
            lambda: stub.GetReindex(status, timeout=CALL_TIMEOUT_S).HasField("end_time"), "it goes on to its end"
        )
        state = stub.GetReindex(status, timeout=CALL_TIMEOUT_S)
        assert (state.derived_count, state.changed_count, state.failed_count) == (DOCUMENTS, DOCUMENTS, 0)
        assert end_of(ctl(old, "export").stdout)["digest"] == digest


def test_a_warc_is_read_by_a_standard_reader_and_by_another_daemon(daemon: Daemon, tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    assert ctl(daemon, "export", "-o", str(path)).returncode == 0
    with open(path, "rb") as stream:
        kinds = [each.headers["WARC-Type"] for each in ArchiveIterator(stream, verify_digests=True)]
    assert (kinds.count("response"), kinds.count("metadata")) == (DOCUMENTS, DOCUMENTS)
    with Daemon(tmp_path / "other") as other:
        done = ctl(other, "import", str(path), "--json")
        assert json.loads(done.stdout)["outcomes"] == {"stored": DOCUMENTS}
        hits = other.search("number9").hits
        assert hits[0].document.url == "https://docs.test/9"
