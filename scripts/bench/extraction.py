"""Parse real documentation pages in one process, as a parse worker does between its socket's two ends.

Each page of build/docs (scripts/fetch_docs.py) becomes a ParsedDocument in its wire form. Rounds alternate over all
pages; the best round counts, because a busy machine can only make one slower. `parser_share` is the part of the time
that the HTML parser alone takes for the same pages: what no change of jird's own code can save.
"""

import argparse
import gc
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from jird_daemon.extract.document import ParseJob
from jird_daemon.extract.page import parse_page
from jird_daemon.extract.wire import Parsed, decode_job, encode
from measure import ROOT, report

ROUNDS = 5
NOW_S = 1_750_000_000.0


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds over all pages (default: {ROUNDS})")
    parser.add_argument("--pages", type=int, default=0, help="a sample of so many pages; 0 takes all (default)")
    parser.add_argument("--page-bytes", type=int, default=0, help="leave out shorter pages until the mean is this")
    arguments = parser.parse_args()
    jobs = load_jobs(arguments.pages, arguments.page_bytes)
    payloads = [encode(job) for job in jobs]
    texts = [job.body.decode("utf-8", "replace") for job in jobs]
    # As the parse worker does; what is loaded is never garbage.
    gc.freeze()
    gc.disable()
    page_s, parser_s = _best_s(arguments.rounds, lambda: _parse_all(payloads), lambda: _parse_trees(texts))
    count = len(jobs)
    size = sum(len(job.body) for job in jobs)
    report(
        "extraction",
        {"pages": count, "mean_bytes": size // count, "rounds": arguments.rounds},
        {
            "pages_per_cpu_second": count / page_s,
            "cpu_ms_per_page": 1_000 * page_s / count,
            "megabytes_per_cpu_second": size / page_s / 1e6,
            "parser_share": parser_s / page_s,
        },
    )
    return 0


def load_jobs(count: int, mean_bytes: int) -> list[ParseJob]:
    """Read the pages in a fixed random order; the shortest are left out until the mean is reached."""
    subprocess.run([sys.executable, str(ROOT / "scripts" / "fetch_docs.py")], check=True, stdout=subprocess.DEVNULL)
    docs = ROOT / "build" / "docs"
    jobs = [_job(docs, path) for path in sorted(docs.rglob("*.html"))]
    if mean_bytes:
        jobs.sort(key=lambda job: len(job.body))
        size = sum(len(job.body) for job in jobs)
        start = 0
        while start < len(jobs) - 1 and size < mean_bytes * (len(jobs) - start):
            size -= len(jobs[start].body)
            start += 1
        jobs = jobs[start:]
    random.Random(1).shuffle(jobs)
    return jobs[:count] if count else jobs


def _job(docs: Path, path: Path) -> ParseJob:
    return ParseJob(f"https://{path.relative_to(docs)}", path.read_bytes(), "text/html")


def _parse_all(payloads: list[bytes]) -> None:
    for payload in payloads:
        encode(Parsed(parse_page(decode_job(payload), NOW_S), 0))


def _parse_trees(texts: list[str]) -> None:
    for text in texts:
        LexborHTMLParser(text, scripting=True)


def _best_s(rounds: int, *works: Callable[[], None]) -> list[float]:
    """Least processor time of each work over so many rounds."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for number, work in enumerate(works):
            started = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - started)
    return best


if __name__ == "__main__":
    sys.exit(main())
