"""The channel between serve and ingest, over a real socket pair."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator

import pytest

from jird_daemon import control_client
from jird_daemon.control import (
    FRAME_BYTES_MAX,
    AcknowledgeView,
    Answer,
    Checkpoint,
    CollectGarbage,
    Compact,
    Heartbeat,
    ProbeParsers,
    Progress,
    Rebuild,
    Reload,
    ReportDamage,
    SegmentRef,
    Shutdown,
    StartCrawl,
    StartReindex,
    StopCrawl,
    StopReindex,
    Verify,
    View,
    ViewChanged,
)
from jird_daemon.control_client import ControlClient
from jird_daemon.control_frames import ChannelError
from jird_daemon.control_server import ControlServer, ProgressCallback
from jird_daemon.errors import InternalError, InvalidUrlError, NotReadyError, OverloadedError, WorkCancelledError

VIEW = View(sequence=3, generation=9, checkpoint_generation=7, segments=(SegmentRef("a.qix"),))
DEADLINE_S = 10.0


class Ingest:
    """The crawl side of a channel; `gate` holds compact back until a test opens it."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.begun = asyncio.Event()
        self.outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def start_crawl(self, request: StartCrawl) -> Answer:
        if request.seeds == ("http://a.test/",):
            raise InvalidUrlError("http://a.test/: scheme http, allowed: https", "URL_SCHEME")
        return Answer(run_ids=(len(request.seeds),))

    async def stop_crawl(self, request: StopCrawl) -> Answer:
        return Answer(run_ids=(request.run_id,))

    async def checkpoint(self, request: Checkpoint) -> Answer:
        return Answer(view=VIEW)

    async def compact(self, request: Compact, progress: ProgressCallback) -> Answer:
        self.begun.set()
        try:
            await asyncio.to_thread(self._work, progress)
        except WorkCancelledError:
            self.outcome.set_result("cancelled")
            raise
        self.outcome.set_result("finished")
        return Answer(view=VIEW)

    def _work(self, progress: ProgressCallback) -> None:
        progress("read", 1, 2)
        assert self.gate.wait(DEADLINE_S)
        progress("write", 2, 2)

    async def verify(self, request: Verify, progress: ProgressCallback) -> Answer:
        for done in range(100_000):
            progress("verify", done, 100_000)
        return Answer(faults=("a.qix: offset 8: wrong hash",))

    async def rebuild(self, request: Rebuild, progress: ProgressCallback) -> Answer:
        raise RuntimeError("a fault of our own")

    async def start_reindex(self, request: StartReindex) -> Answer:
        return Answer()

    async def stop_reindex(self, request: StopReindex) -> Answer:
        return Answer()

    async def collect_garbage(self, request: CollectGarbage) -> Answer:
        return Answer()

    async def probe_parsers(self, request: ProbeParsers) -> Answer:
        return Answer()

    async def acknowledge_view(self, request: AcknowledgeView) -> Answer:
        return Answer()

    async def report_damage(self, request: ReportDamage) -> Answer:
        return Answer(run_ids=(len(request.segment),))

    async def reload(self, request: Reload) -> Answer:
        return Answer()

    async def shutdown(self, request: Shutdown) -> Answer:
        return Answer()


class Pair:
    """Both ends, connected and running."""

    def __init__(self, client: ControlClient, server: ControlServer, ingest: Ingest) -> None:
        self.client = client
        self.server = server
        self.ingest = ingest
        self.events: asyncio.Queue[ViewChanged | Heartbeat] = asyncio.Queue()
        self.tasks = [asyncio.create_task(client.run()), asyncio.create_task(server.run())]


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    ours, theirs = socket.socketpair()
    ingest = Ingest()
    events: list[Pair] = []
    client = await ControlClient.connect(ours, lambda event: events[0].events.put_nowait(event))
    server = await ControlServer.connect(theirs, ingest)
    made = Pair(client, server, ingest)
    events.append(made)
    yield made
    ingest.gate.set()
    await client.close()
    await server.close()
    await asyncio.gather(*made.tasks, return_exceptions=True)


async def test_each_request_gets_its_own_answer(pair: Pair) -> None:
    call = pair.client.call
    answers = await asyncio.gather(
        call(StartCrawl(("https://a.test/", "https://b.test/")), timeout_s=DEADLINE_S),
        call(StopCrawl(7), timeout_s=DEADLINE_S),
        call(Checkpoint(), timeout_s=DEADLINE_S),
        call(CollectGarbage(), timeout_s=DEADLINE_S),
        call(ProbeParsers(), timeout_s=DEADLINE_S),
        call(AcknowledgeView(3), timeout_s=DEADLINE_S),
        call(Reload(b""), timeout_s=DEADLINE_S),
        call(Shutdown(), timeout_s=DEADLINE_S),
        call(ReportDamage("a.qix", "offset 8"), timeout_s=DEADLINE_S),
    )
    assert [answer.run_ids for answer in answers[:2]] == [(2,), (7,)]
    assert answers[2].view == VIEW
    assert answers[-1].run_ids == (5,)


async def test_refusal_arrives_as_the_same_exception(pair: Pair) -> None:
    with pytest.raises(InvalidUrlError, match="scheme http, allowed: https") as caught:
        await pair.client.call(StartCrawl(("http://a.test/",)), timeout_s=DEADLINE_S)
    assert caught.value.reason == "URL_SCHEME"


async def test_fault_of_one_command_leaves_the_channel_open(pair: Pair) -> None:
    with pytest.raises(InternalError, match="a fault of our own"):
        await pair.client.call(Rebuild(), timeout_s=DEADLINE_S)
    assert (await pair.client.call(StopCrawl(1), timeout_s=DEADLINE_S)).run_ids == (1,)


async def test_progress_comes_before_the_answer_and_others_are_served_meanwhile(pair: Pair) -> None:
    seen: list[Progress] = []
    compact = asyncio.create_task(pair.client.call(Compact(), timeout_s=DEADLINE_S, progress=seen.append))
    await pair.ingest.begun.wait()
    assert (await pair.client.call(StopCrawl(1), timeout_s=DEADLINE_S)).run_ids == (1,)
    pair.ingest.gate.set()
    assert (await compact).view == VIEW
    assert [(step.stage, step.done, step.total) for step in seen] == [("read", 1, 2), ("write", 2, 2)]


async def test_flood_of_progress_is_thinned(pair: Pair) -> None:
    seen: list[Progress] = []
    answer = await pair.client.call(Verify(), timeout_s=DEADLINE_S, progress=seen.append)
    assert answer.faults == ("a.qix: offset 8: wrong hash",)
    assert 1 <= len(seen) < 100


async def test_cancelled_caller_stops_long_work_at_its_next_step(pair: Pair) -> None:
    """F101: the work ends at a safe point of its own, not in the middle of a write."""
    compact = asyncio.create_task(pair.client.call(Compact(), timeout_s=DEADLINE_S))
    await pair.ingest.begun.wait()
    compact.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await compact
    await pair.client.call(StopCrawl(1), timeout_s=DEADLINE_S)  # behind the cancellation in the channel
    pair.ingest.gate.set()
    assert await asyncio.wait_for(pair.ingest.outcome, DEADLINE_S) == "cancelled"


async def test_deadline_ends_the_wait(pair: Pair) -> None:
    with pytest.raises(TimeoutError):
        await pair.client.call(Compact(), timeout_s=0.01)


async def test_events_arrive_in_order(pair: Pair) -> None:
    pair.server.send_heartbeat(
        Heartbeat(in_flight=4, in_flight_by_run={1: 4}, waiting_reasons={"https://a.test": "robots"})
    )
    pair.server.publish_view(VIEW)
    await asyncio.to_thread(pair.server.publish_view, View(sequence=4, generation=10, checkpoint_generation=7))
    first, second, third = [await asyncio.wait_for(pair.events.get(), DEADLINE_S) for _ in range(3)]
    assert isinstance(first, Heartbeat)
    assert first.in_flight_by_run == {1: 4}
    assert isinstance(second, ViewChanged)
    assert isinstance(third, ViewChanged)
    assert (second.view.sequence, third.view.sequence) == (3, 4)


async def test_calls_end_when_ingest_goes_away(pair: Pair) -> None:
    compact = asyncio.create_task(pair.client.call(Compact(), timeout_s=DEADLINE_S))
    await pair.ingest.begun.wait()
    pair.ingest.gate.set()
    closing = asyncio.create_task(pair.server.close())
    with contextlib.suppress(NotReadyError):
        await compact
    await closing
    await pair.tasks[0]
    with pytest.raises(NotReadyError):
        await pair.client.call(Checkpoint(), timeout_s=DEADLINE_S)


async def test_calls_in_flight_are_bounded(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_client, "CALLS_MAX", 1)
    compact = asyncio.create_task(pair.client.call(Compact(), timeout_s=DEADLINE_S))
    await pair.ingest.begun.wait()
    with pytest.raises(OverloadedError):
        await pair.client.call(Checkpoint(), timeout_s=DEADLINE_S)
    pair.ingest.gate.set()
    await compact


@pytest.mark.parametrize("data", [(FRAME_BYTES_MAX + 1).to_bytes(4, "big"), b"\0\0\0\1\xc1", b"\0\0\0\2\x80\x80"])
async def test_broken_frame_ends_the_channel(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    client = await ControlClient.connect(ours, lambda _: None)
    theirs.sendall(data)
    with pytest.raises(ChannelError):
        await client.run()
    with pytest.raises(NotReadyError):
        await client.call(Checkpoint(), timeout_s=DEADLINE_S)
    theirs.close()
    await client.close()


async def test_request_larger_than_a_frame_is_refused_before_it_is_sent(pair: Pair) -> None:
    with pytest.raises(ChannelError):
        await pair.client.call(StartCrawl(("x" * (FRAME_BYTES_MAX + 1),)), timeout_s=DEADLINE_S)
    assert (await pair.client.call(StopCrawl(1), timeout_s=DEADLINE_S)).run_ids == (1,)
