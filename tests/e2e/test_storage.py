"""The promises of store and index, through a real daemon: nothing committed is lost, nothing damaged is served."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from jird.v1 import index_service_pb2 as index_pb
from jird.v1 import index_service_pb2_grpc as index_grpc
from jird.v1 import status_service_pb2 as status_pb
from jird.v1 import status_service_pb2_grpc as status_grpc
from jird_daemon.store import StateLock, Store
from jird_daemon.store.tables import META
from testkit.daemon import CALL_TIMEOUT_S, FAST, Daemon
from testkit.origin import Origin, Reply
from testkit.processes import wait_until

PAGES = 30


def page_html(number: int, words: str = "ripe apples") -> str:
    """A page that links to all others."""
    links = "".join(f"<a href='/{other}'>page {other}</a>" for other in range(PAGES))
    return f"<title>Page {number}</title><main><p>{words} number{number} {'filler ' * 200}</p></main><nav>{links}</nav>"


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Origin]:
    with Origin(tmp_path_factory.mktemp("origin")) as server:
        for number in range(PAGES):
            server.add(f"/{number}", Reply.html(page_html(number)))
        yield server


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, origin: Origin) -> Iterator[Daemon]:
    """One daemon for all tests, with the pages crawled; each test leaves it running and whole."""
    with Daemon(tmp_path_factory.mktemp("jird"), origin.settings(), FAST) as started:
        started.crawl(origin.url("/0"))
        wait_until_found(started, "apples", PAGES)
        yield started


def count(daemon: Daemon, query: str) -> int:
    """How many pages a query finds."""
    return daemon.search(query).match_count


def index_stub(daemon: Daemon) -> index_grpc.IndexServiceStub:
    return daemon.stub(index_grpc.IndexServiceStub)


def status(daemon: Daemon) -> status_pb.Status:
    answer: status_pb.Status = daemon.stub(status_grpc.StatusServiceStub).GetStatus(
        status_pb.GetStatusRequest(), timeout=CALL_TIMEOUT_S
    )
    return answer


def wait_until_found(daemon: Daemon, query: str, expected: int) -> None:
    """Searches answer UNAVAILABLE while there is no index at all."""

    def is_found() -> bool:
        try:
            return count(daemon, query) == expected
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            return False

    wait_until(is_found, f"{expected} pages for {query}", timeout_s=30)


def test_killed_daemon_has_lost_nothing_that_was_crawled(daemon: Daemon) -> None:
    """J2, J36: kill -9 of everything right after the crawl; the next start finds every page."""
    daemon.kill()
    daemon.start()
    wait_until_found(daemon, "apples", PAGES)
    before = status(daemon)
    daemon.restart()
    after = status(daemon)
    assert (after.index.document_count, after.index.generation) == (
        before.index.document_count,
        before.index.generation,
    )
    assert count(daemon, "number7") == 1


def test_killed_ingest_is_replaced_and_searches_are_answered_meanwhile(daemon: Daemon) -> None:
    """What serve shows stays, and what ingest had committed comes back with its successor."""
    first = daemon.pids()["ingest"]
    os.kill(first, signal.SIGKILL)
    wait_until(
        lambda: daemon.pids().get("ingest", first) != first and status(daemon).processes[1].is_up, "a new ingest"
    )
    assert count(daemon, "apples") == PAGES
    state = index_stub(daemon).Checkpoint(index_pb.CheckpointRequest(), timeout=CALL_TIMEOUT_S)
    assert state.generation == state.checkpoint_generation
    assert count(daemon, "apples") == PAGES


def test_damaged_segment_is_reported_left_out_and_made_again(daemon: Daemon) -> None:
    """J14, F91: a flipped byte on disk; no wrong result, and soon all results again."""
    list(index_stub(daemon).Compact(index_pb.CompactRequest(), timeout=CALL_TIMEOUT_S))
    daemon.stop()
    (segment,) = (daemon.state_dir / "index").glob("*.qix")
    segment.chmod(0o644)
    with segment.open("r+b") as file:
        file.seek(-2_000, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-2_000, os.SEEK_END)
        file.write(bytes([byte ^ 1]))
    daemon.start()
    assert count(daemon, "apples") in (0, PAGES)
    wait_until_found(daemon, "apples", PAGES)
    wait_until(lambda: not status(daemon).index.is_rebuilding, "the rebuild is over")
    assert "index.segment_" in daemon.program.log
    assert not segment.exists() or segment.name not in daemon.program.log.split("index.rebuilt")[-1]
    *_, last = index_stub(daemon).Verify(index_pb.VerifyRequest(), timeout=CALL_TIMEOUT_S)
    assert (last.done, list(last.faults)) == (True, [])


def test_removed_index_is_made_again(daemon: Daemon) -> None:
    """J73: derived files may be deleted."""
    daemon.stop()
    for path in (daemon.state_dir / "index").iterdir():
        path.unlink()
    daemon.start()
    wait_until_found(daemon, "apples", PAGES)


def test_commands_on_the_index_answer_with_its_state(daemon: Daemon, origin: Origin) -> None:
    """J90, J92, J93: checkpoint, compact, rebuild, collect; results stay the same."""
    for number in range(5):
        origin.add(f"/{number}", Reply.html(page_html(number, "sour pears")))
    daemon.crawl(origin.url("/0"))
    wait_until_found(daemon, "pears", 5)
    stub = index_stub(daemon)
    state = stub.Checkpoint(index_pb.CheckpointRequest(), timeout=CALL_TIMEOUT_S)
    assert (state.document_count, state.generation) == (PAGES, state.checkpoint_generation)
    *_, compacted = stub.Compact(index_pb.CompactRequest(), timeout=CALL_TIMEOUT_S)
    assert (compacted.done, compacted.state.segment_count) == (True, 1)
    *_, rebuilt = stub.Rebuild(index_pb.RebuildRequest(), timeout=CALL_TIMEOUT_S)
    assert (rebuilt.done, rebuilt.state.document_count) == (True, PAGES)
    collected = stub.CollectGarbage(index_pb.CollectGarbageRequest(), timeout=CALL_TIMEOUT_S)
    assert collected.blob_count >= 5
    assert (count(daemon, "pears"), count(daemon, "apples")) == (5, PAGES - 5)


def test_newer_schema_is_refused_at_start_with_both_versions(tmp_path: Path) -> None:
    """U79: a clear message and exit code 1; the store is left alone."""
    daemon = Daemon(tmp_path / "jird")
    with Store.open(daemon.state_dir) as store, store.write() as txn:
        txn.put(META, "schema_version", 99)
    with pytest.raises(RuntimeError, match="ended with 1") as caught:
        daemon.start()
    assert "schema version 99, this release reads version 1" in str(caught.value)


def test_state_that_another_process_writes_to_is_refused_by_its_name(tmp_path: Path) -> None:
    """F97: the message says which process holds the state directory."""
    daemon = Daemon(tmp_path / "jird")
    lock = StateLock.acquire(daemon.state_dir)
    with pytest.raises(RuntimeError, match="ended with 1") as caught:
        daemon.start()
    assert f"is in use by process {os.getpid()}" in str(caught.value)
    lock.close()
