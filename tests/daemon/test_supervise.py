"""Supervision of the ingest process, with real processes."""

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jird_daemon import supervise
from jird_daemon.child import IngestArguments, child_environment
from jird_daemon.clock import SystemClock
from jird_daemon.control import Checkpoint, Heartbeat, StopCrawl, ViewChanged
from jird_daemon.errors import NotReadyError
from jird_daemon.supervise import Supervisor
from jird_settings import Service, Settings

STUB = Path(__file__).with_name("stub_ingest.py")
DEADLINE_S = 30.0
FAST = Service(hang_timeout_ms=1_000, restart_base_ms=1, restart_max_ms=10, stop_timeout_ms=10_000)


class Watched:
    """A running supervisor and what it reported."""

    def __init__(self, settings: Service, environ: dict[str, str], lock_fd: int) -> None:
        self.views: asyncio.Queue[ViewChanged] = asyncio.Queue()
        self.beat = asyncio.Event()
        self.supervisor = Supervisor(
            (sys.executable, str(STUB)),
            lock_fd,
            lambda: Settings(service=settings),
            SystemClock(),
            {**os.environ, **environ},
            self.take,
        )

    def take(self, event: ViewChanged | Heartbeat) -> None:
        if isinstance(event, ViewChanged):
            self.views.put_nowait(event)
        else:
            self.beat.set()

    async def next_view(self) -> None:
        """Wait for a (further) ingest process to be there."""
        await asyncio.wait_for(self.views.get(), DEADLINE_S)

    async def tell(self, number: int) -> tuple[int, ...]:
        return (await self.supervisor.call(StopCrawl(number), timeout_s=DEADLINE_S)).run_ids


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what no event tells of, with a deadline."""
    async with asyncio.timeout(DEADLINE_S):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@asynccontextmanager
async def watched(settings: Service = FAST, **environ: str) -> AsyncIterator[Watched]:
    lock_fd = os.memfd_create("lock")
    made = Watched(settings, environ, lock_fd)
    await made.supervisor.start()
    running = asyncio.create_task(made.supervisor.run())
    try:
        await made.next_view()
        yield made
    finally:
        await made.supervisor.close()
        await asyncio.wait_for(running, DEADLINE_S)
        os.close(lock_fd)


async def test_first_process_is_no_restart_and_leads_its_own_group() -> None:
    """F99: only the successor of a crashed process is told to resume what was running."""
    async with watched() as ingest:
        is_restart, pid, is_group_leader, _ = await ingest.tell(5)
        assert (is_restart, pid, is_group_leader) == (0, ingest.supervisor.pid, 1)


async def test_killed_process_is_started_again_and_told_so() -> None:
    async with watched() as ingest:
        first = ingest.supervisor.pid
        os.kill(first, signal.SIGKILL)
        await ingest.next_view()
        is_restart, second, _, _ = await ingest.tell(5)
        assert is_restart == 1
        assert second != first
        assert ingest.supervisor.restart_count == 1


async def test_call_that_the_process_does_not_survive_is_refused() -> None:
    async with watched() as ingest:
        with pytest.raises(NotReadyError):
            await ingest.tell(1)
        await ingest.next_view()
        await ingest.tell(5)


async def test_call_between_two_processes_waits_for_the_second() -> None:
    async with watched() as ingest:
        os.kill(ingest.supervisor.pid, signal.SIGKILL)
        await until(lambda: ingest.supervisor.restart_count == 1)
        is_restart, _, _, _ = await ingest.tell(5)
        assert is_restart == 1


async def test_call_is_refused_when_no_process_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "READY_WAIT_S", 0.1)
    settings = Service(restart_base_ms=60_000, restart_max_ms=60_000)
    async with watched(settings) as ingest:
        with contextlib.suppress(NotReadyError):
            await ingest.tell(1)
        await until(lambda: ingest.supervisor.pid == 0)
        with pytest.raises(NotReadyError):
            await ingest.supervisor.call(Checkpoint(), timeout_s=1)
        assert not ingest.supervisor.is_up


async def test_hung_process_is_killed_and_replaced() -> None:
    async with watched() as ingest:
        await asyncio.wait_for(ingest.beat.wait(), DEADLINE_S)
        first = ingest.supervisor.pid
        with pytest.raises(NotReadyError):
            await ingest.tell(2)
        await ingest.next_view()
        assert ingest.supervisor.pid != first


async def test_process_that_never_shows_a_sign_of_life_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "START_TIMEOUT_S", 1.0)
    async with watched(STUB_MODE="silent") as ingest:
        await ingest.next_view()
        assert ingest.supervisor.restart_count >= 1


async def test_process_that_breaks_the_channel_is_replaced() -> None:
    async with watched() as ingest:
        with pytest.raises(NotReadyError):
            await ingest.tell(3)
        await ingest.next_view()
        assert ingest.supervisor.restart_count == 1


async def test_process_that_asks_for_another_release_is_not_started_again() -> None:
    async with watched() as ingest:
        with pytest.raises(NotReadyError):
            await ingest.tell(4)
        await until(lambda: ingest.supervisor.must_be_replaced)
        assert await ingest.supervisor.stop() == ()


async def test_ordered_stop_ends_with_nothing_to_report_and_may_be_repeated() -> None:
    """J45, J46."""
    async with watched() as ingest:
        first, second = await asyncio.gather(ingest.supervisor.stop(), ingest.supervisor.stop())
        assert first == ()
        assert second == ()
        assert ingest.supervisor.pid == 0


async def test_fault_at_the_stop_is_reported() -> None:
    """J47."""
    async with watched(STUB_MODE="faulty") as ingest:
        assert await ingest.supervisor.stop() == ("checkpoint: disk full",)


async def test_process_that_does_not_stop_is_killed_in_the_end() -> None:
    """J47."""
    settings = Service(stop_timeout_ms=1_000)
    async with watched(settings, STUB_MODE="stubborn") as ingest:
        assert await ingest.supervisor.stop() == ("the ingest process did not stop within 1000 ms",)


async def test_heartbeats_are_kept_and_forgotten_with_their_process() -> None:
    async with watched() as ingest:
        await asyncio.wait_for(ingest.beat.wait(), DEADLINE_S)
        assert ingest.supervisor.is_up
        assert ingest.supervisor.heartbeat.in_flight == 7
        await ingest.supervisor.stop()
        await ingest.supervisor.close()
        assert not ingest.supervisor.is_up


def test_child_dies_with_its_parent(tmp_path: Path) -> None:
    """F97: no orphan goes on writing."""
    script = (
        "import os, subprocess, sys\n"
        "child = 'import os, sys, time; from jird_daemon.child import die_with_parent;'"
        "'die_with_parent(int(sys.argv[1])); print(os.getpid(), flush=True); time.sleep(3600)'\n"
        "subprocess.Popen([sys.executable, '-c', child, str(os.getpid())]).wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        handle = os.pidfd_open(child)
        parent.kill()
        assert select.select([handle], [], [], DEADLINE_S)[0], "the child outlived its parent"
        os.close(handle)


def test_arguments_survive_their_way() -> None:
    arguments = IngestArguments(control_fd=5, lock_fd=6, parent_pid=7, settings_fd=8, is_restart=True)
    assert IngestArguments.parse(arguments.to_argv()) == arguments
    bare = IngestArguments(control_fd=5, lock_fd=6, parent_pid=7, settings_fd=8, is_restart=False)
    assert IngestArguments.parse(bare.to_argv()) == bare


def test_child_gets_no_secret() -> None:
    """J99: only serve compares the token."""
    environ = {"JIRD_ADMIN_TOKEN": "x", "CREDENTIALS_DIRECTORY": "/c", "NOTIFY_SOCKET": "/n", "JIRD_PORT": "1"}
    assert child_environment(environ) == {"JIRD_PORT": "1"}
