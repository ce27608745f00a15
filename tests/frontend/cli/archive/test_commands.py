"""`jirdctl import` and `jirdctl export`: what they say, what they end with, and what they leave behind."""

import json
from pathlib import Path

import grpc
import pytest

from jird_cli.__main__ import run
from jird_cli.archive.batches import BATCH_DOCUMENTS
from jird_cli.archive.import_command import FAULTS_SHOWN
from testkit.fake_daemon import FakeDaemon, Fault

Captured = pytest.CaptureFixture[str]
UNAVAILABLE = grpc.StatusCode.FAILED_PRECONDITION


def ctl(daemon: FakeDaemon, *arguments: str) -> int:
    return run(["--run-dir", str(daemon.run_dir), *arguments])


def lines(path: Path, *texts: str) -> str:
    documents = [json.dumps({"url": f"https://docs.test/{n}", "text": text}) for n, text in enumerate(texts)]
    path.write_text("\n".join(documents))
    return str(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.jsonl"


def test_documents_go_in_batches_and_the_last_waits(daemon: FakeDaemon, capsys: Captured, path: Path) -> None:
    count = 2 * BATCH_DOCUMENTS + 1
    assert ctl(daemon, "import", lines(path, *["words"] * count), "--json") == 0
    requests = [call.request for call in daemon.calls("ImportDocuments")]
    assert sorted(len(request.documents) for request in requests) == [1, BATCH_DOCUMENTS, BATCH_DOCUMENTS]
    assert [request.wait_searchable for request in requests].count(True) == 1
    assert requests[-1].wait_searchable
    answer = json.loads(capsys.readouterr().out)
    assert (answer["document_count"], answer["outcomes"], answer["generation"]) == (count, {"stored": count}, 7)


def test_a_url_that_comes_again_waits_until_its_first_batch_is_stored(daemon: FakeDaemon, path: Path) -> None:
    """In this order or not at all: the last line of a URL counts."""
    documents = [
        {"url": f"https://docs.test/{n % BATCH_DOCUMENTS}", "text": str(n)} for n in range(3 * BATCH_DOCUMENTS)
    ]
    path.write_text("\n".join(map(json.dumps, documents)))
    assert ctl(daemon, "import", str(path), "--json") == 0
    texts = [int(each.body) for call in daemon.calls("ImportDocuments") for each in call.request.documents]
    assert texts == list(range(3 * BATCH_DOCUMENTS))


def test_faults_are_shown_up_to_a_number_and_all_counted(daemon: FakeDaemon, capsys: Captured, path: Path) -> None:
    count = FAULTS_SHOWN + 20
    assert ctl(daemon, "import", lines(path, *["bad"] * count, "good")) == 1
    answer = capsys.readouterr()
    assert f"{path}: line 1: https://docs.test/0: no such  [31mthing" in answer.err, "controls are blanks"
    assert answer.err.count("no such") == FAULTS_SHOWN
    assert "more of them are counted" in answer.err
    assert f"{count} of the file's records could not be imported" in answer.err
    assert f"{count + 1} documents: {count} refused, 1 stored" in answer.out


def test_a_daemon_that_refuses_ends_it_with_how_far_it_came(daemon: FakeDaemon, capsys: Captured, path: Path) -> None:
    daemon.faults["ImportDocuments"] = Fault(UNAVAILABLE, "INTAKE_PAUSED", "intake is paused by the disk guard")
    assert ctl(daemon, "import", lines(path, "words"), "--json") == 1
    error = json.loads(capsys.readouterr().err)
    assert error["reason"] == "INTAKE_PAUSED"
    assert "intake is paused by the disk guard; this ended it after 0 documents" in error["message"]


@pytest.mark.parametrize("name", ["none.jsonl", "folder"])
def test_what_is_no_file_is_a_failure(daemon: FakeDaemon, capsys: Captured, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    assert ctl(daemon, "import", str(tmp_path / name)) == 1
    assert name in capsys.readouterr().err
    assert not daemon.calls("ImportDocuments")


def test_an_empty_file_is_no_failure(daemon: FakeDaemon, capsys: Captured, path: Path) -> None:
    path.write_bytes(b"")
    assert ctl(daemon, "import", str(path)) == 0
    assert capsys.readouterr().out == "0 documents\n"


@pytest.mark.parametrize(
    ("name", "beginning"), [("x.jsonl", b'{"id":'), ("x.warc", b"WARC/1.1"), ("x.gz", b"\x1f\x8b")]
)
def test_the_name_of_the_file_tells_the_format(
    daemon: FakeDaemon, capsys: Captured, tmp_path: Path, name: str, beginning: bytes
) -> None:
    target = tmp_path / name
    target.write_bytes(b"what was there before")
    assert ctl(daemon, "export", "-o", str(target), "--json") == 0
    assert target.read_bytes().startswith(beginning)
    assert json.loads(capsys.readouterr().out)["documents"] == 2
    request = daemon.calls("ExportPages")[0].request
    assert (request.with_text, request.with_content) == (name != "x.warc", name == "x.warc")


def test_an_export_that_fails_leaves_what_was_there(daemon: FakeDaemon, capsys: Captured, tmp_path: Path) -> None:
    target = tmp_path / "pages.jsonl"
    target.write_bytes(b"what was there before")
    daemon.faults["ExportPages"] = Fault(grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN", "stopping")
    assert ctl(daemon, "export", "-o", str(target)) != 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [target.name]
    assert target.read_bytes() == b"what was there before"
    capsys.readouterr()
