"""A store of every released schema version is opened by today's code."""

import tarfile
from pathlib import Path

import pytest

from jird_daemon.store import Txn
from jird_daemon.store.pages import get_page
from jird_daemon.store.tables import ALL_TABLES, GENERATIONS, LINKS, ROBOTS, ROWS, RUNS, RowState, RunState
from testkit.pages import IndexedStore, page_url

STORES = sorted(Path(__file__).parent.glob("store-*.tar.xz"))


def status_of(txn: Txn, number: int) -> tuple[int, str]:
    """What the row of a page says."""
    found = get_page(txn, page_url(number))
    assert found is not None
    return found[1].http_status, found[1].not_indexable_reason


@pytest.mark.parametrize("archive", STORES, ids=lambda path: path.name)
def test_store_of_a_released_version_opens_with_all_that_it_holds(tmp_path: Path, archive: Path) -> None:
    """U79, J2: every table is read; what was indexed is found, and what a new tokenizer or format needs is done."""
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    with IndexedStore(tmp_path) as index:
        with index.store.read() as txn:
            for table in ALL_TABLES:
                assert len(list(txn.scan(table))) == txn.count(table)
            assert [status_of(txn, number) for number in range(1, 6)] == [
                (200, ""),
                (200, ""),
                (200, "noindex"),
                (410, "gone"),
                (301, "redirect"),
            ]
            assert [key for key, _ in txn.scan(GENERATIONS, (2, 0), (3, 0))] == [(2, 0), (2, 1)]
            links, run, row, robots = txn.get(LINKS, 1), txn.get(RUNS, 1), txn.get(ROWS, (1, 2)), txn.get(ROBOTS, 1)
            assert links is not None
            assert links.links[0].text == "to the pears"
            assert run is not None
            assert (run.state, run.counts.exit_codes) == (RunState.PAUSED, {20: 4, 31: 1})
            assert row is not None
            assert (row.state, row.sequence) == (RowState.QUEUED, 7)
            assert robots is not None
            assert robots.body.startswith(b"User-agent")
        index.settle()
        assert (index.found("apples"), index.found("pears"), index.found("gone")) == ({1}, {2}, set())
        assert index.searcher.search("pears", 1, 0).hits[0].snippet.text == "soft pears"
        assert index.writer.verify() == ()


def test_there_is_a_store_of_the_current_schema_version() -> None:
    assert "store-1.tar.xz" in {path.name for path in STORES}
