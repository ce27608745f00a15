"""Both gRPC servers over real sockets, with a real store, index and searcher; ingest is played by a stub."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from grpc import aio

from jird_daemon.clock import SystemClock
from jird_daemon.control import Answer, Heartbeat, Progress, Request
from jird_daemon.errors import NotReadyError
from jird_daemon.index.searcher import Searcher
from jird_daemon.index.writer import IndexWriter
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.server import RpcServers
from jird_daemon.rpc.sockets import SocketFolder
from jird_daemon.rpc.work_pool import WorkPool
from jird_daemon.store import Store
from jird_daemon.store.env import INDEX_FOLDER
from jird_daemon.store.pages import FetchedPage, store_page
from jird_daemon.store.tables import RUNS, Image, Link, Run, RunCounts, RunReason, RunState, Scope
from jird_daemon.store.text_pile import TextPile, encode_pile, pile_digest
from jird_settings import Index, Secret, Settings, Web

START_S = 1_796_000_000.0
TOKEN = "t" * 40
SEED = "https://seed.test/"
PAGES = {
    "https://a.test/apples": ("Apples", "Apples are red. An apple a day."),
    "https://a.test/pears": ("Pears", "Pears are green, and are no apples."),
    "https://a.test/plums": ("Plums", "Plums are blue."),
}

Stub = TypeVar("Stub")


@dataclass
class StubIngest:
    """Plays the ingest process: answers what a test puts in, and remembers what it was told."""

    answers: dict[type, Callable[[Request], Answer]] = field(default_factory=dict)
    steps: list[Progress] = field(default_factory=list)
    gate: asyncio.Event | None = None  # long work waits for it after its steps
    told: list[Request] = field(default_factory=list)
    cancelled: list[Request] = field(default_factory=list)
    heartbeat: Heartbeat = field(default_factory=Heartbeat)
    pid: int = 0
    is_up: bool = True
    restart_count: int = 0

    async def call(
        self, request: Request, *, timeout_s: float | None, progress: Callable[[Progress], None] | None = None
    ) -> Answer:
        self.told.append(request)
        if type(request) not in self.answers:
            raise NotReadyError("the ingest process is being started", "INGEST_STARTING")
        for step in self.steps if progress is not None else ():
            assert progress is not None
            progress(step)
        try:
            if self.gate is not None:
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(request)
            raise
        return self.answers[type(request)](request)


@dataclass
class Serving:
    """What a test uses: the parts behind the servers, and channels to both sockets."""

    backend: Backend
    ingest: StubIngest
    servers: RpcServers
    run_dir: Path
    settings: list[Settings]  # the last one is in effect
    channels: dict[str, aio.Channel] = field(default_factory=dict)

    def stub(self, kind: Callable[[aio.Channel], Stub], which: str = "search") -> Stub:
        if which not in self.channels:
            self.channels[which] = aio.insecure_channel(f"unix:{self.run_dir}/{which}.sock")
        return kind(self.channels[which])


def make_run(number: int, **changes: object) -> Run:
    fields: dict[str, object] = {
        "seeds": (SEED,),
        "state": RunState.COMPLETED,
        "reason": RunReason.DRAINED,
        "max_depth": 3,
        "max_pages": 100,
        "scope": Scope.SAME_ORIGIN,
        "max_frontier": 1_000,
        "create_time_s": START_S + number,
        "end_time_s": START_S + number + 10,
        "name": f"run {number}",
        "counts": RunCounts(requests=7, exit_codes={20: 5, 44: 2}),
        "active_s": 9.5,
    }
    return Run(**{**fields, **changes})  # type: ignore[arg-type]


def fill(state_dir: Path) -> None:
    """Three pages, indexed and checkpointed, and three runs."""
    with Store.open(state_dir, map_bytes=1 << 26) as store:
        writer = IndexWriter(store, state_dir / INDEX_FOLDER, Index(), lambda view: None)
        writer.open()
        with store.write() as txn:
            for url, (title, text) in PAGES.items():
                pile = TextPile(text, (), "en")
                images = (Image(f"{url}.png", f"A picture of {title.lower()}"),)
                page = FetchedPage(
                    url, START_S, encode_pile(pile), pile_digest(pile), title=title, language="en", images=images,
                    links=(Link("https://a.test/pears"),),
                )  # fmt: skip
                store_page(txn, page)
            for number in (1, 2, 3):
                txn.put(RUNS, number, make_run(number))
            txn.put(RUNS, 4, make_run(4, state=RunState.RUNNING, reason=RunReason.NONE, end_time_s=None))
        writer.checkpoint()
        writer.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    state_dir = tmp_path_factory.mktemp("state")
    fill(state_dir)
    return state_dir


@pytest.fixture
def run_dir() -> Iterator[Path]:
    """A folder whose path is short enough for a socket."""
    path = Path(tempfile.mkdtemp(prefix="jird-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
async def serving(filled: Path, run_dir: Path) -> AsyncIterator[Serving]:
    store = Store.open(filled, readonly=True, map_bytes=1 << 26)
    searcher = Searcher(store, filled / INDEX_FOLDER)
    assert searcher.open_published() is not None
    ingest = StubIngest()
    settings = [Settings(web=Web(admin="token"), admin_token=Secret(TOKEN))]
    clock = SystemClock()
    backend = Backend(
        store=store,
        searcher=searcher,
        ingest=ingest,
        settings=lambda: settings[-1],
        clock=clock,
        start_time_s=START_S,
        stopping=asyncio.Event(),
        searches=WorkPool("search", 1, 2, clock),
        reads=WorkPool("read", 2, 64, clock),
    )
    sockets = SocketFolder.claim(run_dir)
    servers = RpcServers(backend, sockets)
    await servers.start()
    await servers.set_ready(True)
    made = Serving(backend, ingest, servers, run_dir, settings)
    yield made
    for channel in made.channels.values():
        await channel.close()
    await servers.stop(0)
    backend.searches.close()
    backend.reads.close()
    searcher.close()
    store.close()
    sockets.close()
