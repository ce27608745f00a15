"""Processes of a daemon under load are killed at random moments; the origin's access log is the witness.

`make test` kills 20 times, `make chaos` 200 times (JIRD_CHAOS_ROUNDS). The seed of the random numbers is in the report
of a failure; JIRD_CHAOS_SEED repeats it.
"""

import itertools
import os
import random
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird.v1 import crawl_service_pb2_grpc as crawl_grpc
from jird_daemon.outcome import ExitCode
from testkit.access_log import Access
from testkit.daemon import CALL_TIMEOUT_S, Daemon, Web, kill_process
from testkit.faults import page
from testkit.origin import Exchange, Origin, Reply
from testkit.processes import wait_until

ROUNDS = int(os.environ.get("JIRD_CHAOS_ROUNDS", "20"))
SEED = int(os.environ.get("JIRD_CHAOS_SEED", "0")) or random.randrange(1, 1 << 32)
VICTIMS = ["serve"] * 2 + ["web"] * 2 + ["ingest"] * 6 + ["parse"] * 10
"""Of 20 rounds, in random order; a start of serve or web takes seconds."""
LEAVES = 8 * ROUNDS
"""Pages of each hub; a crawl is at most 32 links deep, and the hubs must last for all rounds."""
BETWEEN_REQUESTS = (2, 40)
"""So many requests are made before the next kill: from the middle of a start to the middle of a commit."""
UNCOMMITTED_S = 10.0
"""What was asked for so long before a kill may be asked for again: pages wait, uncommitted, while killed parse workers
are replaced, which takes seconds on a loaded machine."""


class GrowingSite:
    """Hub n leads to its leaves, and each page of it to hub n + 1, so that a lost hub ends nothing."""

    def __init__(self, origin: Origin) -> None:
        self.is_growing = True
        self._origin = origin
        for hub in range(40):
            self._serve(hub)

    def _serve(self, hub: int) -> None:
        async def answer(exchange: Exchange) -> None:
            is_hub = exchange.path == f"/hub/{hub}"
            links = [f"/leaf/{hub}/{leaf}" for leaf in range(LEAVES)] if is_hub and self.is_growing else []
            links += [f"/hub/{hub + 1}"] if self.is_growing else []
            anchors = "".join(f'<a href="{link}">on</a> ' for link in links)
            await exchange.send(Reply.html(page(exchange.path, f"common words of {exchange.path} {anchors}")))

        self._origin.add(f"/hub/{hub}", answer)
        for leaf in range(LEAVES):
            self._origin.add(f"/leaf/{hub}/{leaf}", answer)


class Chaos:
    """Kills, and what is known afterwards."""

    def __init__(self, daemon: Daemon, web: Web, site: Origin, chance: random.Random) -> None:
        self.daemon, self.web, self.site, self.chance = daemon, web, site, chance
        self.kills: list[tuple[float, str]] = []
        self.seed_url = site.url("/hub/0")
        self.run_id = daemon.start_crawl(self.seed_url, max_depth=32, max_pages=1_000_000).run_id

    def run(self) -> crawl_pb.CrawlRun:
        return self.daemon.stub(crawl_grpc.CrawlServiceStub).GetCrawlRun(
            crawl_pb.GetCrawlRunRequest(run_id=self.run_id), timeout=CALL_TIMEOUT_S
        )

    def round(self, victim: str) -> None:
        """Let some requests pass, kill one process, and hold what was known against what is known then."""
        asked = len(self.site.log.entries())
        more = self.chance.randint(*BETWEEN_REQUESTS)
        self.site.log.wait_for(lambda entries: len(entries) >= asked + more)
        before = self.run().counts
        ways: dict[str, Callable[[], None]] = {
            "serve": self._kill_serve, "ingest": self._kill_ingest, "parse": self._kill_parser, "web": self._kill_web,
        }  # fmt: skip
        ways[victim]()
        after = self.run().counts
        assert after.ingested_count >= before.ingested_count, f"{victim}: acknowledged pages are forgotten"
        assert after.request_count >= before.request_count, victim
        assert after.discovered_count >= before.discovered_count, victim

    def _note(self, victim: str) -> None:
        self.kills.append((time.monotonic(), victim))

    def _kill_serve(self) -> None:
        self.daemon.kill()
        self._note("serve")
        self.daemon.start()
        resumed = self.daemon.start_crawl(self.seed_url, max_depth=32, max_pages=1_000_000)
        assert resumed.run_id == self.run_id, "the run goes on under its number"

    def _kill_ingest(self) -> None:
        wait_until(lambda: "ingest" in self.daemon.pids(), "an ingest process")
        kill_process(self.daemon.pids()["ingest"])
        self._note("ingest")

    def _kill_parser(self) -> None:
        wait_until(lambda: "parse-0" in self.daemon.pids(), "a parse worker")
        kill_process(self.daemon.pids()["parse-0"])
        self._note("parse")

    def _kill_web(self) -> None:
        self.web.program.kill()
        self._note("web")
        self.web.__enter__()


def unexplained_repetitions(entries: list[Access], kills: list[tuple[float, str]]) -> list[str]:
    """Paths that were asked for again although nothing was killed right after the time before."""
    times: dict[str, list[float]] = defaultdict(list)
    for access in entries:
        if access.target != "/robots.txt":
            times[access.target].append(access.start_s)
    deaths = [when for when, who in kills if who != "web"]
    found = []
    for target, starts in times.items():
        for earlier, later in itertools.pairwise(starts):
            if not any(earlier - UNCOMMITTED_S < death - UNCOMMITTED_S < earlier and death < later for death in deaths):
                found.append(target)
    return found


def test_kills_at_random_moments_lose_nothing_and_repeat_nothing(origin: Origin, tmp_path: Path) -> None:
    """Whatever is killed: acknowledged pages stay, nothing is fetched twice without reason, nothing is forgotten."""
    site = GrowingSite(origin)
    settings = {
        "crawl": {"delay_ms": 3, "workers": 2, "retry_base_ms": 20, "retry_max_ms": 100},
        "hosts": [{"match": "*", "delay_ms": 3, "adaptive": False}],
        "service": {"restart_base_ms": 10},
    }
    with Daemon(tmp_path / "d", origin.settings(), settings) as daemon, Web(daemon) as web:
        chaos = Chaos(daemon, web, origin, random.Random(SEED))
        victims = random.Random(SEED).sample(VICTIMS, len(VICTIMS)) * (ROUNDS // len(VICTIMS))
        for victim in victims:
            chaos.round(victim)
        site.is_growing = False
        wait_until(lambda: "ingest" in daemon.pids(), "an ingest process")
        run = daemon.wait_for_run(chaos.run_id)
        while run.state == crawl_pb.CRAWL_RUN_STATE_RUNNING:  # the watch ended with a process
            run = daemon.wait_for_run(chaos.run_id)
        told = f"seed {SEED}, kills {[who for _, who in chaos.kills]}"
        assert run.state == crawl_pb.CRAWL_RUN_STATE_COMPLETED, told
        lost = run.counts.skipped_count
        parse_kills = sum(who == "parse" for _, who in chaos.kills)
        # A page that was in a killed worker's hands is recorded as not understood.
        assert lost == run.counts.exit_code_counts.get(int(ExitCode.DID_NOT_UNDERSTAND_ANSWER), 0), told
        assert lost <= parse_kills, told
        assert run.counts.failed_count == 0, told
        found = run.counts.ingested_count
        wait_until(lambda: daemon.search("common").match_count == found, f"{found} pages are found; {told}")
        assert web.client.get("/search?q=common").status_code == 200
    entries = origin.log.entries()
    asked = {access.target for access in entries} - {"/robots.txt"}
    assert run.counts.ingested_count + lost == len(asked), told
    assert unexplained_repetitions(entries, chaos.kills) == [], told
    hubs = {target.split("/")[2] for target in asked if target.startswith("/leaf/")}
    assert {f"/leaf/{hub}/{leaf}" for hub in hubs for leaf in range(LEAVES)} <= asked, f"forgotten; {told}"
