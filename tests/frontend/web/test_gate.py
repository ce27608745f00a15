"""The gate before searches (F113)."""

import asyncio

import pytest

from jird_web.errors import HttpError
from jird_web.gate import PER_CLIENT_MAX, SearchGate


async def hold(gate: SearchGate, client: str, until: asyncio.Event, inside: asyncio.Queue[str]) -> None:
    async with gate.enter(client):
        inside.put_nowait(client)
        await until.wait()


async def arrival(inside: asyncio.Queue[str], count: int) -> None:
    async with asyncio.timeout(10):
        for _ in range(count):
            await inside.get()


async def test_places_are_taken_then_queued_then_refused() -> None:
    """F113."""
    gate, until, inside = SearchGate(2, 1), asyncio.Event(), asyncio.Queue[str]()
    tasks = [asyncio.create_task(hold(gate, f"client {number}", until, inside)) for number in range(3)]
    await arrival(inside, 2)
    with pytest.raises(HttpError) as caught:
        async with gate.enter("late"):
            pass
    assert (caught.value.status, caught.value.headers["Retry-After"]) == (503, "2")
    until.set()
    await asyncio.gather(*tasks)
    assert inside.qsize() == 1
    async with gate.enter("late"):
        pass


async def test_one_client_leaves_room_for_others() -> None:
    """F113."""
    gate, until, inside = SearchGate(100, 100), asyncio.Event(), asyncio.Queue[str]()
    tasks = [asyncio.create_task(hold(gate, "greedy", until, inside)) for _ in range(PER_CLIENT_MAX)]
    await arrival(inside, PER_CLIENT_MAX)
    with pytest.raises(HttpError) as caught:
        async with gate.enter("greedy"):
            pass
    assert caught.value.status == 429
    async with gate.enter("modest"):
        pass
    until.set()
    await asyncio.gather(*tasks)


async def test_searcher_who_leaves_the_queue_gives_its_place_back() -> None:
    gate, until, inside = SearchGate(1, 1), asyncio.Event(), asyncio.Queue[str]()
    holder = asyncio.create_task(hold(gate, "a", until, inside))
    await arrival(inside, 1)
    waiter = asyncio.create_task(hold(gate, "b", until, inside))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    until.set()
    await holder
    async with gate.enter("c"):
        pass
