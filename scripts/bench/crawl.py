"""Crawl generated sites with jird, with Scrapy, and with a bare libcurl loop, in turns, over the same nginx.

jird fetches, parses, takes text and links, stores and indexes: state on the checkout's disk, synced commits, several
parse workers, and the clock stops when the index holds every page. Scrapy follows links and takes title, text and
links; it stores nothing. The bare loop knows all URLs, fetches them and builds a tree of each: the practical limit.
CPU time is that of every process of the crawler; nginx is not counted, but uses the same cores.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests")]

from crawls.static_sites import StaticSites, static_sites  # noqa: E402
from e2e import cpu_by_kind, wait_until_searchable  # noqa: E402
from engines.environment import peer_python  # noqa: E402
from measure import RESULTS, report  # noqa: E402
from stores.parameters import Number, read_parameters  # noqa: E402
from testkit import toml  # noqa: E402
from testkit.daemon import Daemon  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "crawls"
CONNECTIONS = 64
SITES = 4
DEPTH = 32
"""More than the links from a front page to the farthest page."""
MUST_PER_CPU_SECOND, MUST_PER_SECOND = 10.0, 12.0
"""What jird must reach of Scrapy's figures, the second on two cores."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """What one crawl took."""

    pages: int
    seconds: float
    cpu_s: float
    cpu_s_of: Mapping[str, float] = field(default_factory=dict)  # by kind of process


def crawl_with_jird(sites: StaticSites, work: Path, workers: int) -> Crawl:
    """Crawl into an empty state folder, until every page can be found."""
    settings: toml.Tables = {"crawl": {"workers": workers}, "log": {"level": "warning"}}
    with Daemon(work / "jird", sites.settings(CONNECTIONS), settings) as daemon:
        before, started = cpu_by_kind(daemon), time.perf_counter()
        run = daemon.start_crawl(*sites.seeds, max_depth=DEPTH, max_pages=10 * len(sites.urls))
        documents = wait_until_searchable(daemon, run.run_id)
        seconds = time.perf_counter() - started
        used_s = {kind: after - before.get(kind, 0.0) for kind, after in cpu_by_kind(daemon).items()}
    shutil.rmtree(work / "jird")
    return Crawl(documents, seconds, sum(used_s.values()), used_s)


def crawl_with(command: list[str]) -> Crawl:
    """Run a crawler that prints its figures."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    return Crawl(int(found["pages"]), float(found["seconds"]), float(found["cpu_s"]))


def crawlers(sites: StaticSites, work: Path, workers: int) -> dict[str, Callable[[], Crawl]]:
    """How each crawls, by name."""
    urls = work / "urls"
    urls.write_text("\n".join(sites.urls))
    scrapy = [str(peer_python()), str(FOLDER / "scrapy_peer.py"), str(CONNECTIONS), str(CONNECTIONS // SITES)]
    bare = [sys.executable, str(FOLDER / "bare_loop.py"), str(CONNECTIONS), str(urls)]
    return {
        "jird": lambda: crawl_with_jird(sites, work, workers),
        "scrapy": lambda: crawl_with([*scrapy, *sites.seeds]),
        "bare": lambda: crawl_with(bare),
    }


def figures_of(name: str, crawls: list[Crawl]) -> dict[str, float]:
    """The best of each figure over the rounds: load of others only makes it worse."""
    best = min(crawls, key=lambda crawl: crawl.cpu_s / crawl.pages)
    return {
        f"{name}_pages": crawls[0].pages,
        f"{name}_pages_per_second": max(crawl.pages / crawl.seconds for crawl in crawls),
        f"{name}_pages_per_cpu_second": max(crawl.pages / crawl.cpu_s for crawl in crawls),
        f"{name}_cpu_ms_per_page": 1000 * best.cpu_s / best.pages,
        **{f"{name}_cpu_ms_per_page_{kind}": 1000 * used / best.pages for kind, used in best.cpu_s_of.items()},
    }


def main() -> int:
    """Measure and report; 1 if a crawler did not see every page."""
    given = read_parameters(
        __doc__, PAGES=Number(3_000, "pages of all sites"), ROUNDS=Number(2, "turns"), WORKERS=Number(2, "workers")
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=RESULTS, prefix="crawl-") as folder,
        static_sites(Path(folder) / "sites", SITES, given["PAGES"] // SITES) as sites,
    ):
        ways = crawlers(sites, Path(folder), given["WORKERS"])
        crawls: dict[str, list[Crawl]] = {name: [] for name in ways}
        for _ in range(given["ROUNDS"]):
            for name, crawl in ways.items():
                crawls[name].append(crawl())
                print(f"{name}: {crawls[name][-1]}", file=sys.stderr, flush=True)
    figures = {key: value for name, found in crawls.items() for key, value in figures_of(name, found).items()}
    for kind, must in (("second", MUST_PER_SECOND), ("cpu_second", MUST_PER_CPU_SECOND)):
        figures[f"times_scrapy_per_{kind}"] = figures[f"jird_pages_per_{kind}"] / figures[f"scrapy_pages_per_{kind}"]
        figures[f"times_scrapy_per_{kind}_must"] = must
    figures["share_of_bare_loop_per_cpu_second"] = (
        figures["jird_pages_per_cpu_second"] / figures["bare_pages_per_cpu_second"]
    )
    report("crawl", {**given, "sites": SITES, "connections": CONNECTIONS}, figures)
    return int(any(crawl.pages != len(sites.urls) for found in crawls.values() for crawl in found))


if __name__ == "__main__":
    sys.exit(main())
