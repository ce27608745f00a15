"""Parse stored documentation again: from the command until all of it can be found as read today.

The sites of scripts/bench/e2e.py are crawled first, which is not counted. Then each stored page is parsed, written and,
where it changed, indexed by the running daemon. Pages that read as before are written and need no new index entry, as
after an update that changes little; in a second round every page reads otherwise than it is stored.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests")]

from e2e import cpu_by_kind, wait_until_searchable  # noqa: E402
from jird.v1 import index_service_pb2 as index_pb  # noqa: E402
from jird.v1 import index_service_pb2_grpc as index_grpc  # noqa: E402
from measure import ROOT, report  # noqa: E402
from testkit.daemon import CALL_TIMEOUT_S, Daemon  # noqa: E402
from testkit.documentation import DocumentationSites  # noqa: E402
from testkit.stale import read_otherwise  # noqa: E402

LOOK_INTERVAL_S = 0.02


def main() -> int:
    """Run it once and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, help="parse workers (default: 2)")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="reindex-", dir=ROOT / "build"))
    try:
        with DocumentationSites(work / "sites") as sites:
            crawl = {"crawl": {"workers": args.workers}}
            with Daemon(work / "jird", sites.settings(), crawl) as daemon:
                limits = {"max_depth": sites.depth, "max_pages": 10 * sites.page_count}
                run_id = daemon.start_crawl(*sites.seeds(), **limits).run_id
                wait_until_searchable(daemon, run_id)
                pages, figures = measure(daemon, run_id, "")
                assert daemon.stop() == 0
                read_otherwise(daemon.state_dir)
                daemon.start()
                wait_until_searchable(daemon, run_id)
                figures |= measure(daemon, run_id, "changed_")[1]
        report("reindex", {"pages": pages, "workers": args.workers}, figures)
    finally:
        shutil.rmtree(work)
    return 0


def measure(daemon: Daemon, run_id: int, prefix: str) -> tuple[int, dict[str, float]]:
    """Parse everything again; returns the number of pages, and figures whose names begin with `prefix`."""
    stub = daemon.stub(index_grpc.IndexServiceStub)
    cpu_before, started = cpu_by_kind(daemon), time.perf_counter()
    state = stub.StartReindex(index_pb.StartReindexRequest(), timeout=CALL_TIMEOUT_S)
    while not state.HasField("end_time"):
        time.sleep(LOOK_INTERVAL_S)
        state = stub.GetReindex(index_pb.GetReindexRequest(), timeout=CALL_TIMEOUT_S)
    wait_until_searchable(daemon, run_id)
    elapsed_s = time.perf_counter() - started
    used_s = {kind: after - cpu_before.get(kind, 0.0) for kind, after in cpu_by_kind(daemon).items()}
    pages = int(state.derived_count)
    figures = {
        "seconds": elapsed_s,
        "pages_per_second": pages / elapsed_s,
        "changed": state.changed_count,
        "failed": state.failed_count,
        **{f"cpu_ms_per_page_{kind}": 1000 * used / pages for kind, used in used_s.items()},
    }
    return pages, {f"{prefix}{name}": value for name, value in figures.items()}


if __name__ == "__main__":
    sys.exit(main())
