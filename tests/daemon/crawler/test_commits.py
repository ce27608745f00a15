"""The writer's thread: many results in one transaction, and one bad one among them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jird_daemon.clock import SystemClock
from jird_daemon.crawler.commits import Committer
from jird_daemon.frontier.batch import BatchEffects, FrontierBatch
from jird_daemon.frontier.runs import RunPlan, start_run
from jird_daemon.store import Store
from jird_daemon.store.tables import META, ROWS, Scope


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(tmp_path, map_bytes=1 << 26) as opened:
        yield opened


@asynccontextmanager
async def committing(store: Store, effects: list[BatchEffects]) -> AsyncIterator[Committer]:
    """A committer that runs."""
    committer = Committer(store, SystemClock(), effects.append)
    committer.start()
    try:
        yield committer
    finally:
        await committer.close()


def put(name: str, value: int) -> Callable[[FrontierBatch], int]:
    """Work that puts a number."""

    def work(batch: FrontierBatch) -> int:
        batch.txn.put(META, name, value)
        return value

    return work


async def test_results_that_come_together_share_a_transaction(store: Store) -> None:
    """J36: durable when `submit` returns, and in order of submission."""
    effects: list[BatchEffects] = []
    async with committing(store, effects) as committer:
        results = await asyncio.gather(*(committer.submit(put("n", number)) for number in range(100)))
    assert results == list(range(100))
    assert committer.commits <= 3
    with store.read() as txn:
        assert txn.get(META, "n") == 99


async def test_a_bad_result_does_not_take_the_others_with_it(store: Store) -> None:
    """S8: the transaction is rolled back, each is tried alone, and only the one at fault fails."""

    def bad(batch: FrontierBatch) -> None:
        batch.txn.put(META, "half", 1)
        raise ValueError("one too many")

    effects: list[BatchEffects] = []
    async with committing(store, effects) as committer:
        results = await asyncio.gather(
            committer.submit(put("a", 1)),
            committer.submit(bad),
            committer.submit(put("b", 2)),
            return_exceptions=True,
        )
    assert results[0] == 1
    assert isinstance(results[1], ValueError)
    assert results[2] == 2
    with store.read() as txn:
        assert [txn.get(META, name) for name in ("a", "half", "b")] == [1, None, 2]


async def test_a_rolled_back_row_is_not_taken_for_known(store: Store) -> None:
    """F103: nothing in memory outlives the transaction that made it."""

    def begin(batch: FrontierBatch) -> int:
        started = start_run(batch.txn, RunPlan(("https://a.test/",), 1, 10, Scope.OPEN, 1_000), 1.0, 10)
        return batch.discover(started.run_id, ["https://a.test/", "https://a.test/b"], 0)

    def begin_badly(batch: FrontierBatch) -> int:
        begin(batch)
        raise KeyError("rolled back")

    effects: list[BatchEffects] = []
    async with committing(store, effects) as committer:
        with pytest.raises(KeyError, match="rolled back"):
            await committer.submit(begin_badly)
        assert await committer.submit(begin) == 2
    with store.read() as txn:
        assert txn.count(ROWS) == 2


async def test_a_caller_that_goes_away_does_not_stop_a_commit(store: Store) -> None:
    """F101: cancelled in mid-commit; the writer stays open and the result is on disk."""
    effects: list[BatchEffects] = []
    async with committing(store, effects) as committer:
        task = asyncio.create_task(committer.submit(put("kept", 1)))
        await asyncio.sleep(0)
        task.cancel()
        assert await committer.submit(put("next", 2)) == 2
    with store.read() as txn:
        assert (txn.get(META, "kept"), txn.get(META, "next")) == (1, 2)


async def test_what_was_submitted_before_the_close_is_written(store: Store) -> None:
    """J45."""
    effects: list[BatchEffects] = []
    async with committing(store, effects) as committer:
        task = asyncio.create_task(committer.submit(put("last", 1)))
        await asyncio.sleep(0)
    assert await task == 1
