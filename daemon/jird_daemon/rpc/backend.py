"""What the services work with: the parts of serve that answer, given to each as one bundle."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from jird_daemon.clock import Clock
from jird_daemon.control import Answer, Heartbeat, Progress, Request
from jird_daemon.index.searcher import Searcher
from jird_daemon.rpc.work_pool import WorkPool
from jird_daemon.store.env import Store
from jird_daemon.store.txn import Txn
from jird_settings import Settings

T = TypeVar("T")


class Ingest(Protocol):
    """The ingest process as the services see it."""

    @property
    def pid(self) -> int:
        """Its process id; 0 when none runs."""
        ...

    @property
    def is_up(self) -> bool:
        """Whether it shows signs of life."""
        ...

    @property
    def restart_count(self) -> int:
        """How often it was started again."""
        ...

    @property
    def heartbeat(self) -> Heartbeat:
        """The last sign of life; an empty one when there is none."""
        ...

    async def call(
        self, request: Request, *, timeout_s: float | None, progress: Callable[[Progress], None] | None = None
    ) -> Answer:
        """Give it a command and wait for the answer."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """The parts that services use."""

    store: Store
    searcher: Searcher
    ingest: Ingest
    settings: Callable[[], Settings]
    clock: Clock
    start_time_s: float
    stopping: asyncio.Event
    searches: WorkPool
    reads: WorkPool

    async def read(self, work: Callable[[Txn], T]) -> T:
        """Run `work` on a snapshot of the store, in a thread."""

        def in_thread() -> T:
            with self.store.read() as txn:
                return work(txn)

        return await self.reads.run(in_thread)
