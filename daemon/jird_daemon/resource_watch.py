"""Measures what the guards decide by, at every heartbeat, and holds or lets go the crawl's intake."""

import asyncio
import os
import time
from collections.abc import Sequence

from jird_daemon.control import GuardFacts
from jird_daemon.crawler.crawler import Crawler
from jird_daemon.crawler.guards import LATENCY, Guards, Limits, Readings
from jird_daemon.log import get_logger
from jird_daemon.process_facts import read_process
from jird_daemon.resources import MachineMemory, free_memory, probe_sync_s
from jird_daemon.store.env import Store
from jird_settings import Settings

# Unless set: the crawl may take half of the memory, and leaves an eighth of it, at most this, to everything else.
OWN_SHARE = 2
LEFT_SHARE = 8
LEFT_BYTES_MAX = 512 << 20
# Between two lines that tell how memory stands, so that a run of weeks can be looked back on (Y25).
REPORT_INTERVAL_S = 600.0

_log = get_logger("guards")


class ResourceWatch:
    """Belongs to the event loop of the crawl."""

    def __init__(self, settings: Settings, store: Store, memory: MachineMemory | None = None) -> None:
        """Take the limits, and the store whose file system counts."""
        self._store = store
        self._memory = MachineMemory() if memory is None else memory
        self._crawler: Crawler | None = None
        self._guards = Guards(self._limits(settings), self._relieve)
        self._probe: asyncio.Future[float] | None = None
        self._reported_s = time.monotonic()
        self.facts = GuardFacts()

    def take_up(self, settings: Settings) -> None:
        """Act at other limits from now on; counts go on."""
        self._guards.limits = self._limits(settings)

    def look(self, crawler: Crawler, parser_pids: Sequence[int]) -> None:
        """Measure, decide, and tell the crawler."""
        self._crawler = crawler
        processes = (read_process(pid) for pid in (os.getpid(), *parser_pids))
        _, available = self._memory.read()
        readings = Readings(
            free_bytes=self._store.free_bytes,
            memory_bytes=sum(facts.memory_bytes for facts in processes if facts is not None),
            available_bytes=available,
            commit_s=self._probe_s() if crawler.guard == LATENCY else crawler.committer.commit_s,
        )
        crawler.set_guard(self._guards.check(crawler.guard, readings, time.monotonic()))
        self.facts = GuardFacts(
            pauses=self._guards.pauses,
            paused_s=self._guards.paused_s,
            reliefs=self._guards.reliefs,
            memory_bytes=readings.memory_bytes,
            available_bytes=readings.available_bytes,
            commit_s=readings.commit_s,
        )
        self._report()

    def _limits(self, settings: Settings) -> Limits:
        total, _ = self._memory.read()
        own, left = settings.crawl.max_memory_bytes, settings.crawl.min_available_bytes
        return Limits(
            min_free_bytes=settings.storage.min_free_bytes,
            max_memory_bytes=total // OWN_SHARE if own is None else own,
            min_available_bytes=min(total // LEFT_SHARE, LEFT_BYTES_MAX) if left is None else left,
            max_commit_s=settings.storage.max_commit_ms / 1_000,
        )

    def _relieve(self) -> None:
        """Y21: before intake is paused for want of memory, what can be read again is given back."""
        assert self._crawler is not None
        before = read_process(os.getpid())
        self._crawler.forget_what_is_stored()
        free_memory()
        after = read_process(os.getpid())
        freed = before.memory_bytes - after.memory_bytes if before and after else 0
        _log.warning("memory.short", freed_bytes=max(freed, 0), then="intake is paused if that was not enough")

    def _probe_s(self) -> float:
        """How long the disk takes: while nothing is committed, by trying. A probe that hangs counts as for ever."""
        if self._probe is None:
            self._probe = asyncio.get_running_loop().run_in_executor(None, probe_sync_s, self._store.state_dir)
        if not self._probe.done():
            return float("inf")
        probe, self._probe = self._probe, None
        return float("inf") if probe.exception() is not None else probe.result()

    def _report(self) -> None:
        now_s = time.monotonic()
        if now_s - self._reported_s < REPORT_INTERVAL_S:
            return
        self._reported_s = now_s
        facts = self.facts
        _log.info(
            "memory.state", memory_bytes=facts.memory_bytes, available_bytes=facts.available_bytes,
            pauses=facts.pauses, paused_s=round(facts.paused_s), reliefs=facts.reliefs,
        )  # fmt: skip
