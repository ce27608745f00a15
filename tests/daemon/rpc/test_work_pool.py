"""Threads with a bound on what may wait."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator

import pytest

from jird_daemon.clock import ManualClock, SystemClock
from jird_daemon.errors import OverloadedError, ShuttingDownError
from jird_daemon.rpc.work_pool import WorkPool


@pytest.fixture
async def gate() -> AsyncIterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def started(pool: WorkPool, gate: threading.Event) -> asyncio.Task[bool]:
    """A piece of work that is in its thread, waiting for the gate."""
    begun = threading.Event()

    def work() -> bool:
        begun.set()
        return gate.wait(10)

    task = asyncio.create_task(pool.run(work))
    await asyncio.to_thread(begun.wait, 10)
    return task


async def test_what_exceeds_the_bound_is_refused_at_once(gate: threading.Event) -> None:
    """F113: overload answers fast instead of queueing."""
    pool = WorkPool("search", 1, 2, SystemClock())
    running = await started(pool, gate)
    waiting = asyncio.create_task(pool.run(lambda: "second"))
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError) as caught:
        await pool.run(lambda: "third")
    assert caught.value.retry_after_s > 0
    assert pool.refused_count == 1
    gate.set()
    assert await running
    assert await waiting == "second"
    assert await pool.run(lambda: "fourth") == "fourth"
    pool.close()


async def test_caller_that_leaves_frees_its_place_in_the_queue(gate: threading.Event) -> None:
    pool = WorkPool("search", 1, 2, SystemClock())
    running = await started(pool, gate)
    done: list[str] = []
    waiting = asyncio.create_task(pool.run(lambda: done.append("second")))
    await asyncio.sleep(0)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0)
    assert pool.concurrent == 1
    gate.set()
    assert await running
    assert await pool.run(lambda: "third") == "third"
    assert done == []
    pool.close()


async def test_deadline_ends_the_wait_but_the_thread_keeps_its_place(gate: threading.Event) -> None:
    pool = WorkPool("search", 1, 1, SystemClock())
    with pytest.raises(TimeoutError):
        await pool.run(lambda: gate.wait(10), timeout_s=0.01)
    assert pool.concurrent == 1
    with pytest.raises(OverloadedError):
        await pool.run(lambda: "second")
    gate.set()
    pool.close()


async def test_age_of_the_oldest_work_is_known(gate: threading.Event) -> None:
    clock = ManualClock()
    pool = WorkPool("search", 1, 1, clock)
    assert pool.oldest_s == 0
    running = await started(pool, gate)
    clock.advance(5)
    assert pool.oldest_s == 5
    gate.set()
    await running
    assert pool.oldest_s == 0
    pool.close()


async def test_closed_pool_refuses() -> None:
    pool = WorkPool("search", 1, 1, SystemClock())
    pool.close()
    with pytest.raises(ShuttingDownError):
        await pool.run(lambda: 1)
