"""The processes of a real daemon: killed, hung, stopped, and searched all the while."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird.v1 import index_service_pb2 as index_pb
from jird.v1 import index_service_pb2_grpc as index_grpc
from jird.v1 import status_service_pb2 as status_pb
from jird.v1 import status_service_pb2_grpc as status_grpc
from testkit.daemon import CALL_TIMEOUT_S, FAST, Daemon, kill_process
from testkit.faults import page
from testkit.origin import Origin, Reply
from testkit.processes import wait_until

PAGES = 40


@pytest.fixture
def site(origin: Origin) -> Origin:
    """One page that links to 40 others."""
    links = "".join(f'<a href="/page/{number}">{number}</a> ' for number in range(PAGES))
    origin.add("/", Reply.html(page("Contents", links)))
    for number in range(PAGES):
        origin.add(f"/page/{number}", Reply.html(page(f"Page {number}", f"Common words, and word{number} alone.")))
    return origin


@pytest.fixture
def daemon(site: Origin, tmp_path: Path) -> Iterator[Daemon]:
    settings = {"service": {"hang_timeout_ms": 2_000, "restart_base_ms": 10}}
    with Daemon(tmp_path / "d", site.settings(), FAST, settings) as running:
        yield running


def checkpoint(daemon: Daemon) -> None:
    """Checkpoint; it is refused while the index is being made anew, as after a kill before the first checkpoint."""
    call = daemon.stub(index_grpc.IndexServiceStub).Checkpoint

    def is_done() -> bool:
        try:
            call(index_pb.CheckpointRequest(), timeout=CALL_TIMEOUT_S)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.FAILED_PRECONDITION:
                raise
            return False
        return True

    wait_until(is_done, "a checkpoint")


def is_ready(daemon: Daemon) -> bool:
    readiness = daemon.stub(status_grpc.StatusServiceStub).GetReadiness
    return bool(readiness(status_pb.GetReadinessRequest(), timeout=CALL_TIMEOUT_S).is_ready)


def wait_for_all(daemon: Daemon) -> None:
    """Wait until every page can be found."""
    wait_until(lambda: is_ready(daemon) and daemon.search("common").match_count == PAGES, "all pages are found")


def test_ordered_stop_shows_its_stages_in_order(daemon: Daemon) -> None:
    """J45: listeners, running calls, crawl, index (checkpoint and compaction), mapped index, store; exit code 0."""
    daemon.program.wait_for_log("ingest.ready")
    assert daemon.stop() == 0, daemon.program.log
    stages = re.findall(r"(serve: stop\.stage|ingest: stop\.done) stage=(\w+)", daemon.program.log)
    order = [f"{who.partition(':')[0]} {stage}" for who, stage in stages]
    wanted = [
        "serve listeners",
        "serve drain",
        "ingest crawl",
        "ingest index",
        "ingest store",
        "serve index",
        "serve store",
    ]
    assert [stage for stage in order if stage in wanted] == wanted


def test_crawl_goes_on_when_ingest_is_killed_and_search_answers_meanwhile(daemon: Daemon, site: Origin) -> None:
    run = daemon.start_crawl(site.url("/"))
    site.log.wait_for_path("/page/5")
    kill_process(daemon.pids()["ingest"])
    daemon.search("common")
    wait_until(lambda: "ingest" in daemon.pids(), "another ingest process")
    daemon.search("common")
    ended = daemon.wait_for_run(run.run_id)
    assert ended.state == crawl_pb.CRAWL_RUN_STATE_COMPLETED
    assert ended.counts.ingested_count == PAGES + 1
    wait_for_all(daemon)


@pytest.mark.parametrize("change", ["broken", "state_dir"])
def test_ingest_is_replaced_under_the_settings_in_effect_whatever_the_file_holds(
    daemon: Daemon, site: Origin, change: str
) -> None:
    """A file that is being edited, or was refused, or asks for what waits for the next start."""
    text = daemon.config_file.read_text()
    if change == "state_dir":
        text = text.replace(str(daemon.state_dir), f"{daemon.state_dir}-2")
    else:
        text = text.replace("[crawl]", "[crawl]\nno_such_setting = 1")
    daemon.config_file.write_text(text)
    os.kill(daemon.program.pid, signal.SIGHUP)
    daemon.program.wait_for_log("reload.")
    kill_process(daemon.pids()["ingest"])
    assert daemon.crawl(site.url("/")).counts.ingested_count == PAGES + 1
    wait_for_all(daemon)


def test_hung_ingest_is_replaced(daemon: Daemon, site: Origin) -> None:
    daemon.crawl(site.url("/"))
    hung = daemon.pids()["ingest"]
    os.kill(hung, signal.SIGSTOP)
    wait_until(lambda: daemon.pids().get("ingest", hung) != hung, "another ingest process")
    wait_for_all(daemon)
    checkpoint(daemon)


def test_killed_daemon_finds_again_all_that_it_found(daemon: Daemon, site: Origin) -> None:
    """From READY=1 on, although no checkpoint had been made before the kill."""
    daemon.crawl(site.url("/"))
    wait_for_all(daemon)
    daemon.kill()
    daemon.start()
    assert is_ready(daemon)
    assert daemon.search("common").match_count == PAGES


def test_run_of_a_killed_daemon_is_paused_and_can_be_resumed(daemon: Daemon, site: Origin) -> None:
    """F99: after a restart of the daemon nothing is shown as running that is not."""
    run = daemon.start_crawl(site.url("/"))
    site.log.wait_for_path("/page/5")
    daemon.kill()
    daemon.start()
    paused = daemon.wait_for_run(run.run_id)
    if paused.state != crawl_pb.CRAWL_RUN_STATE_COMPLETED:
        assert (paused.state, paused.reason) == (crawl_pb.CRAWL_RUN_STATE_PAUSED, crawl_pb.CRAWL_RUN_REASON_RESTART)
        assert f"runs.paused runs={run.run_id} reason=restart" in daemon.program.log
        assert daemon.start_crawl(site.url("/")).run_id == run.run_id
        assert daemon.wait_for_run(run.run_id).state == crawl_pb.CRAWL_RUN_STATE_COMPLETED
    wait_for_all(daemon)


def test_damaged_segment_is_never_served_and_is_made_again(daemon: Daemon, site: Origin) -> None:
    """J14, F91: the damage is found, left out, reported to ingest, and mended."""
    daemon.crawl(site.url("/"))
    checkpoint(daemon)
    assert daemon.stop() == 0
    segments = sorted((daemon.state_dir / "index").glob("*.qix"), key=lambda path: path.stat().st_size)
    largest = segments[-1]
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 0x40
    largest.chmod(0o600)
    largest.write_bytes(data)
    daemon.start()
    for _ in range(3):
        assert daemon.search("common").match_count <= PAGES
    wait_for_all(daemon)
    assert "segment" in daemon.program.log
    assert "damage" in daemon.program.log or "rebuild" in daemon.program.log


def test_index_that_was_deleted_is_made_again(daemon: Daemon, site: Origin) -> None:
    """J11, J73."""
    daemon.crawl(site.url("/"))
    before = [hit.document.url for hit in daemon.search("word7 common").hits]
    assert daemon.stop() == 0
    shutil.rmtree(daemon.state_dir / "index")
    daemon.start()
    wait_for_all(daemon)
    assert [hit.document.url for hit in daemon.search("word7 common").hits] == before
