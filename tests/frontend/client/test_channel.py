"""Long-lived clients outlast daemons, and large messages pass."""

import asyncio
from pathlib import Path

import grpc
import pytest

from jird.v1.crawl_service_pb2 import ListCrawlLogEntriesRequest
from jird.v1.search_service_pb2 import SearchRequest
from jird_client.channel import AsyncClient, Client
from jird_client.errors import DaemonUnreachableError
from testkit.fake_daemon import FakeDaemon, Fault, make_entry


async def test_restart_of_the_daemon_is_waited_for(run_dir: Path) -> None:
    first = FakeDaemon(run_dir).start()
    client = AsyncClient(run_dir / "search.sock")
    await client.call(client.stubs.search.Search, SearchRequest(query="x"))
    await asyncio.to_thread(first.stop)

    waiting = asyncio.create_task(client.call(client.stubs.search.Search, SearchRequest(query="x")))
    await asyncio.sleep(0)  # the call is on its way before the second daemon exists
    second = FakeDaemon(run_dir).start()
    answer = await asyncio.wait_for(waiting, 10)
    assert len(answer.hits) == 20
    await client.close()
    await asyncio.to_thread(second.stop)


async def test_daemon_that_was_away_for_long_fails_calls_at_once(run_dir: Path) -> None:
    now = [0.0]
    daemon = FakeDaemon(run_dir).start()
    client = AsyncClient(run_dir / "search.sock", clock=lambda: now[0])
    await client.call(client.stubs.search.Search, SearchRequest(query="x"))
    await asyncio.to_thread(daemon.stop)
    now[0] += 31
    with pytest.raises(DaemonUnreachableError):
        await asyncio.wait_for(client.call(client.stubs.search.Search, SearchRequest(query="x")), 1)
    await client.close()


def test_daemon_that_is_not_ready_yet_is_asked_again(daemon: FakeDaemon) -> None:
    """`systemctl start jird && jirdctl crawl start ...` must not be a matter of luck."""
    daemon.faults["Search"] = Fault(grpc.StatusCode.UNAVAILABLE, "INGEST_STARTING", "being started", retry_after_ms=700)
    waits: list[float] = []

    def wait(delay_s: float) -> None:
        waits.append(delay_s)
        if len(waits) == 3:
            daemon.faults.clear()

    with Client(daemon.run_dir / "search.sock", sleep=wait) as client:
        assert client.call(client.stubs.search.Search, SearchRequest(query="x")).hits
    assert waits == [0.7] * 3


def test_answer_above_four_mebibytes_arrives(daemon: FakeDaemon) -> None:
    """F123: the limit is set on purpose, above the largest answer of the contract."""
    daemon.entries = [make_entry(number) for number in range(1_000)]
    for entry in daemon.entries:
        entry.message = "x" * 4_900
    with Client(daemon.run_dir / "admin.sock") as client:
        answer = client.call(client.stubs.crawl.ListCrawlLogEntries, ListCrawlLogEntriesRequest(page_size=1_000))
    assert answer.ByteSize() > 4 * 1024 * 1024
