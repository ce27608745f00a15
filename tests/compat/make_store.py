"""Write the store of the current schema version that later releases must read: `python tests/compat/make_store.py`.

Run it once for each schema version, when that version is released, and never again: the file stands for the stores
that people have. It holds a state directory: metadata, a blob volume and a published index.
"""

import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from jird_daemon.store.pages import mark_not_indexable, retire_page
from jird_daemon.store.tables import (
    CRAWL_LOG,
    CRAWL_LOG_BY_ORIGIN,
    CRAWL_LOG_BY_URL,
    ORIGIN_STATES,
    QUEUE,
    ROBOTS,
    ROWS,
    RUN_ORIGINS,
    RUNS,
    SCHEMA_VERSION,
    WAITING,
    Image,
    Link,
    LogEntry,
    OriginState,
    Robots,
    Row,
    RowState,
    Run,
    RunCounts,
    RunOrigin,
    RunReason,
    RunState,
    Scope,
)
from jird_daemon.store.txn import Txn
from jird_daemon.store.uuid7 import make_uuid7
from testkit.pages import IndexedStore, make_page, page_url

# LMDB's lock file belongs to a running process; the state lock is empty.
LEFT_OUT = {"lock.mdb", "lock"}


def fill(state_dir: Path) -> None:
    """Something in every table."""
    with IndexedStore(state_dir) as index:
        link = Link(page_url(2), "to the pears", is_crawlable=True)
        image = Image("https://example.org/apple.png", "an apple")
        index.put(
            make_page(
                page_url(1), "ripe apples", title="Fruit", links=(link,), images=(image,), content=b"<p>ripe apples"
            ),
            make_page(page_url(2), "ripe pears", 1001.0, etag='"2"', language="en"),
            make_page(page_url(3), "hidden", 1002.0, not_indexable_reason="noindex"),
            make_page(page_url(4), "gone", 1003.0),
        )
        index.put(make_page(page_url(2), "soft pears", 1004.0, etag='"3"', language="en"))
        index.writer.checkpoint()
        with index.store.write() as txn:
            retire_page(txn, page_url(4), 1005.0, http_status=410)
            mark_not_indexable(
                txn, page_url(5), 1006.0, reason="redirect", http_status=301, exit_code=31, final_url=page_url(1)
            )
            fill_crawl(txn)


def fill_crawl(txn: Txn) -> None:
    """A run, its rows, and what politeness remembers."""
    counts = RunCounts(requests=5, ingested=4, exit_codes={20: 4, 31: 1})
    txn.put(
        RUNS,
        1,
        Run((page_url(1),), RunState.PAUSED, RunReason.STOPPED, 3, 100, Scope.SEEDS, 1000, 999.0, counts=counts),
    )
    txn.put(ROWS, (1, 1), Row(RowState.DONE, 0, 1, exit_code=20))
    txn.put(ROWS, (1, 2), Row(RowState.QUEUED, 1, 1, sequence=7))
    txn.put(QUEUE, (1, 1, 0, 7), 2)
    txn.put(WAITING, (1, 5_000, 3), None)
    txn.put(RUN_ORIGINS, (1, 1), RunOrigin(queued=1, waiting=1))
    txn.put(ORIGIN_STATES, 1, OriginState(2_000.0, 1, "rate_limited", 120))
    txn.put(ROBOTS, 1, Robots(1_000.0, 200, True, b"User-agent: *\nAllow: /\n"))
    key = make_uuid7(1_000.0)
    txn.put(CRAWL_LOG, key, LogEntry(1, 0, 20, 1_000.0, 84, 200, run_id=1))
    txn.put(CRAWL_LOG_BY_URL, (1, key), 20)
    txn.put(CRAWL_LOG_BY_ORIGIN, (1, key), 20)


def main() -> None:
    """Write store-VERSION.tar.xz beside this file."""
    target = Path(__file__).parent / f"store-{SCHEMA_VERSION}.tar.xz"
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        with tarfile.open(target, "w:xz") as archive:
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file() and path.name not in LEFT_OUT:
                    archive.add(path, path.relative_to(folder), filter=anonymous)
    sys.stdout.write(f"{target.name}: {target.stat().st_size} bytes\n")


def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the names and times of whoever made it."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main()
