"""A process that fills a store, follows it with the index writer, and then replaces pages at a steady rate."""

import itertools
import multiprocessing
import os
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from jird_daemon.child import NICENESS
from jird_daemon.control import View
from jird_daemon.index.writer import IndexWriter
from jird_daemon.store import Store
from jird_daemon.store.pages import store_page
from jird_settings.tables import Index
from measure import memory_bytes
from stores.filled import SEED, fill, pages, texts
from testkit.pages import make_page, page_url

COMMITS_A_SECOND = 10
"""As a crawl at full speed commits: many pages in a transaction, so that a page waits a tenth of a second for it."""
FILL_TIMEOUT_S = 1_800.0
_NEW_TEXTS = 10_000


@dataclass(frozen=True, slots=True)
class Replaced:
    """What the process did between start and stop."""

    replaced: int
    seconds: float
    cpu_s: float
    peak_memory_bytes: int


class Replacer:
    """The other process, seen from the one that searches. A context manager; leaving it ends the process.

    Args:
        folder: State directory; empty.
        documents: Pages to begin with.
        rate: Pages replaced in a second.
        seed: Of which pages, and of their new texts.
    """

    def __init__(self, folder: Path, documents: int, rate: int, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._words, words = context.Pipe()
        self._views, views = context.Pipe()
        self._process = context.Process(target=_work, args=(folder, documents, rate, seed, words, views))
        self._process.start()
        words.close()
        views.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._words.close()
        self._process.join()

    def wait_until_filled(self) -> View:
        """Wait for the compacted index of all pages."""
        view = self._words.recv()
        assert isinstance(view, View), view
        return view

    def start(self) -> None:
        """Begin to replace."""
        self._words.send("start")

    def stop(self) -> Replaced:
        """End replacing; gives what was done. The writer then makes its last checkpoint and ends."""
        self._words.send("stop")
        done = self._words.recv()
        assert isinstance(done, Replaced), done
        return done

    def views(self) -> Iterator[View]:
        """Each view as it comes; ends with the process."""
        while True:
            try:
                yield self._views.recv()
            except EOFError:
                return

    def acknowledge(self, view: View) -> None:
        """Tell the writer that older views are no longer used."""
        try:
            self._views.send(view.sequence)
        except BrokenPipeError:
            return  # it has ended; there is nothing left to take away


def _work(folder: Path, documents: int, rate: int, seed: int, words: Connection, views: Connection) -> None:
    """The process: fill, tell, replace until told to stop, tell, close."""
    os.nice(NICENESS)
    store = Store.open(folder)
    is_following = threading.Event()

    def show(view: View) -> None:
        if is_following.is_set():
            views.send(view)
        else:
            writer.acknowledge(view.sequence)

    writer = IndexWriter(store, folder / "index", Index(), show)
    writer.open()
    fill(store, pages(documents))
    with store.read() as txn:
        generation = txn.number("index_generation")
    writer.notify()
    writer.wait_until(
        lambda view: view.generation >= generation and not (view.is_merging or view.is_rebuilding), FILL_TIMEOUT_S
    )
    writer.compact()
    is_following.set()
    threading.Thread(target=_hear, args=(views, writer), daemon=True).start()
    words.send(writer.view)
    try:
        words.recv()
        words.send(_replace(store, writer, documents, rate, seed, words))
    except EOFError:
        pass  # whoever asked is gone: nothing more is wanted
    finally:
        writer.close()
        store.close()


def _hear(views: Connection, writer: IndexWriter) -> None:
    """Pass on which views are in use."""
    while True:
        try:
            writer.acknowledge(views.recv())
        except (EOFError, OSError):
            return


def _replace(store: Store, writer: IndexWriter, documents: int, rate: int, seed: int, words: Connection) -> Replaced:
    """Replace pages at the rate until there is something to hear; late commits are made up for."""
    chance = random.Random(seed)
    new = itertools.cycle(list(texts(_NEW_TEXTS, SEED + 1 + seed % 1_000_000)))
    start, cpu, replaced, peak = time.monotonic(), time.process_time(), 0, 0
    while not words.poll(max(0.0, start + (replaced + rate / COMMITS_A_SECOND) / rate - time.monotonic())):
        due = max(1, int((time.monotonic() - start) * rate) - replaced)
        with store.write() as txn:
            for _ in range(due):
                store_page(txn, make_page(page_url(chance.randrange(documents)), f"{replaced} {next(new)}"))
        writer.notify()
        replaced += due
        peak = max(peak, memory_bytes([os.getpid()]))
    words.recv()
    return Replaced(replaced, time.monotonic() - start, time.process_time() - cpu, peak)
