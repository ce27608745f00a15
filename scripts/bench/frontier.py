"""Claim and complete URLs of a long queue, compared with a short one; memory; the links of one page.

Each queue is filled on the checkout's disk, then opened by a process of its own, as a crawl that is started again does:
that process leases and completes URLs, a synced transaction for each batch as in a crawl, and says how much memory it
needs beyond the mapped file. The time of one claim is that of a lease; of one completion, its part of the transaction.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from crawls.queues import Desk, fill
from jird_daemon.store import Store
from measure import memory_bytes, report
from stores.filled import scratch_folder
from stores.parameters import Number, read_parameters

SHORT_QUEUE, SHORT_ORIGINS = 10_000, 1_000
WARM_ROUNDS, ROUNDS = 20, 100
PAUSE_S = 0.1
"""Between two rounds, by the clock that the frontier is given."""
PAGES_ENQUEUED = 50
MUST_RATIO, MUST_MEMORY_MB, MUST_ENQUEUE_MS = 1.5, 300.0, 5.0


def work_on(folder: Path) -> dict[str, float]:
    """Claim, complete and enqueue in this process."""
    claims: list[float] = []
    completions: list[float] = []
    with Store.open(folder) as store:
        desk = Desk(store)
        for number in range(WARM_ROUNDS + ROUNDS):
            desk.clock.advance(PAUSE_S)
            leases, seconds = desk.claim()
            completed = desk.complete(leases)
            if number >= WARM_ROUNDS:
                claims += seconds
                completions.append(completed)
        enqueued = [desk.enqueue(page) for page in range(PAGES_ENQUEUED)]
        memory = memory_bytes([os.getpid()])
    return {
        "claim_p50_us": 1e6 * statistics.median(claims),
        "complete_p50_us": 1e6 * statistics.median(completions),
        "memory_mb": memory / 1e6,
        "enqueue_600_links_p50_ms": 1e3 * statistics.median(before for before, _ in enqueued),
        "enqueue_600_links_min_ms": 1e3 * min(before for before, _ in enqueued),
        "enqueue_and_sync_p50_ms": 1e3 * statistics.median(total for _, total in enqueued),
    }


def measure(rows: int, origins: int) -> dict[str, float]:
    """Fill a queue and have another process work on it."""
    with scratch_folder() as folder:
        seconds = fill(folder, rows, origins)
        command = [sys.executable, __file__, "work", str(folder)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        size = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    return {**json.loads(done.stdout), "fill_us_a_row": 1e6 * seconds, "disk_bytes_a_row": size / rows}


def main() -> int:
    """Measure and report; 1 if a figure is not what it must be."""
    if sys.argv[1:2] == ["work"]:
        json.dump(work_on(Path(sys.argv[2])), sys.stdout)
        return 0
    given = read_parameters(
        __doc__, ROWS=Number(10_000_000, "URLs queued"), ORIGINS=Number(100_000, "origins that they are of")
    )
    short, long = measure(SHORT_QUEUE, SHORT_ORIGINS), measure(given["ROWS"], given["ORIGINS"])
    both = [sum(found[f"{kind}_p50_us"] for kind in ("claim", "complete")) for found in (short, long)]
    figures = {
        **{f"short_{name}": value for name, value in short.items()},
        **{f"long_{name}": value for name, value in long.items()},
        "claim_and_complete_ratio": both[1] / both[0],
        "claim_and_complete_ratio_must": MUST_RATIO,
        "long_memory_mb_must": MUST_MEMORY_MB,
        "long_enqueue_600_links_p50_ms_must": MUST_ENQUEUE_MS,
    }
    report("frontier", {**given, "SHORT_ROWS": SHORT_QUEUE, "SHORT_ORIGINS": SHORT_ORIGINS}, figures)
    is_met = (
        both[1] <= MUST_RATIO * both[0]
        and long["memory_mb"] < MUST_MEMORY_MB
        and long["enqueue_600_links_p50_ms"] < MUST_ENQUEUE_MS
    )
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
