"""The index follows the store: what is stored is found, what is gone is not, through seals, merges and checkpoints."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jird_daemon.errors import ShuttingDownError, WrongStateError
from jird_daemon.index.background import merge
from jird_daemon.index.manifest import read_manifest
from jird_daemon.index.writer import IndexWriter
from jird_daemon.store import Store
from jird_daemon.store.pages import mark_not_indexable, one_generation, store_page, touch_page
from jird_daemon.store.tables import INDEX_CHANGES
from jird_settings.tables import Index
from testkit.pages import QUIET, TIMEOUT_S, IndexedStore, make_page, page_url


def test_stored_page_is_found_within_a_second_of_its_commit(tmp_path: Path) -> None:
    """Freshness, with the default settings."""
    with IndexedStore(tmp_path, Index()) as index:
        index.put_texts({1: "warm up"})
        with index.store.write() as txn:
            store_page(txn, make_page(page_url(2), "brand new"))
        committed = time.monotonic()
        index.settle()
        assert time.monotonic() - committed < 1.0
        assert index.found("brand") == {2}


def test_changed_page_is_found_by_its_new_text_only(tmp_path: Path) -> None:
    """A page is live in one segment only."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples", 2: "pears"})
        index.put_texts({1: "oranges"})
        assert (index.found("apples"), index.found("oranges"), index.found("pears")) == (set(), {1}, {2})


def test_gone_page_is_not_found_any_more_and_a_later_success_restores_it(tmp_path: Path) -> None:
    """J173, J174: also after compaction and restart."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples", 2: "apples"})
        index.retire(1)
        assert index.found("apples") == {2}
        index.writer.compact()
        assert index.found("apples") == {2}
    with IndexedStore(tmp_path) as index:
        assert index.found("apples") == {2}
        index.writer.rebuild()
        assert index.found("apples") == {2}
        index.put_texts({1: "apples"})
        assert index.found("apples") == {1, 2}


def test_noindex_page_is_not_found_and_not_brought_back_by_a_rebuild(tmp_path: Path) -> None:
    """A page that asks not to be found is never in results or rebuilds."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples", 2: "apples"})
        index.put(make_page(page_url(3), "apples", not_indexable_reason="noindex"))
        with index.store.write() as txn:
            mark_not_indexable(txn, page_url(1), 2.0, reason="noindex", http_status=200, exit_code=171)
        index.settle()
        assert index.found("apples") == {2}
        index.writer.rebuild()
        assert index.found("apples") == {2}


def test_not_modified_page_makes_no_new_view(tmp_path: Path) -> None:
    """J171: 304 neither advances the generation nor moves rankings."""
    with IndexedStore(tmp_path) as index:
        before = index.put_texts({1: "apples"})
        with index.store.write() as txn:
            touch_page(txn, page_url(1), 2000.0)
        after = index.settle()
        assert (after.sequence, after.generation) == (before.sequence, before.generation)


def test_bulk_import_is_indexed_as_a_whole(tmp_path: Path) -> None:
    """J37: many pages under one generation, more than one segment takes at a time."""
    with IndexedStore(tmp_path) as index:
        with index.store.write() as txn, one_generation(txn):
            for number in range(2_100):
                store_page(txn, make_page(page_url(number), "apples"))
        view = index.settle()
        assert view.generation == 1
        assert index.searcher.status().document_count == 2_100


def test_checkpoint_names_everything_and_forgets_the_changes_it_covers(tmp_path: Path) -> None:
    """J90: all that is searchable is durable, and the manifest says so."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples", 2: "pears"})
        index.retire(2)
        view = index.writer.checkpoint()
        assert view.generation == view.checkpoint_generation == 3
        assert not any(ref.is_volatile for ref in view.segments)
        manifest = read_manifest(index.index_dir)
        assert manifest is not None
        assert (manifest.generation, manifest.document_count) == (3, 1)
        with index.store.read() as txn:
            assert txn.count(INDEX_CHANGES) == 0


def test_checkpoint_includes_what_was_committed_and_not_told_of(tmp_path: Path) -> None:
    with IndexedStore(tmp_path) as index:
        with index.store.write() as txn:
            store_page(txn, make_page(page_url(1), "apples"))
        assert index.writer.checkpoint().checkpoint_generation == 1
        assert index.found("apples") == {1}


def test_checkpoint_writes_in_proportion_to_what_changed(tmp_path: Path) -> None:
    """J9: segments are immutable; a checkpoint adds to them."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({number: " ".join(f"word{number * word}" for word in range(200)) for number in range(400)})
        index.writer.checkpoint()
        before = {name: (index.index_dir / name).read_bytes() for name in index.files() - {"MANIFEST"}}
        index.put_texts({1: "pears"})
        index.writer.checkpoint()
        after = {name: (index.index_dir / name).read_bytes() for name in index.files() - {"MANIFEST"}}
        assert all(after[name] == data for name, data in before.items())
        added = sum(len(data) for name, data in after.items() if name not in before)
        assert added < 8_000 < sum(map(len, before.values())) / 20


def test_enough_changed_pages_bring_a_checkpoint_by_themselves(tmp_path: Path) -> None:
    settings = Index(seal_interval_ms=10, checkpoint_every=5)
    with IndexedStore(tmp_path, settings) as index:
        index.put_texts(dict.fromkeys(range(6), "apples"))
        view = index.writer.wait_until(lambda view: view.checkpoint_generation == 6, TIMEOUT_S)
        assert view.generation == 6


def test_quiet_index_is_checkpointed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jird_daemon.index.writer.IDLE_CHECKPOINT_S", 0.02)
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples"})
        index.writer.wait_until(lambda view: view.checkpoint_generation == 1, TIMEOUT_S)


def test_many_segments_are_merged_in_the_background(tmp_path: Path) -> None:
    """J91: reaching the number of segments schedules a merge; results stay the same."""
    settings = Index(seal_interval_ms=10, merge_segments=4, checkpoint_every=1_000_000)
    with IndexedStore(tmp_path, settings) as index:
        for number in range(10):
            index.put_texts({number: f"apples number{number}"})
        index.retire(3)
        view = index.settle()
        assert len(view.segments) < 4
        assert index.found("apples") == set(range(10)) - {3}
        assert index.found("number7") == {7}


def test_page_that_changes_during_a_merge_does_not_come_back(tmp_path: Path) -> None:
    """The merge has read the page's old text; what is installed must not show it."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples", 2: "apples"})
        index.put_texts({3: "apples", 4: "apples"})
        state = index.writer._state  # the test stands in for a slow merge
        watch, epoch, inputs = state.watch(), state.epoch, list(state.live.segments)
        parts = [live.part() for live in inputs]
        index.put_texts({1: "pears"})
        index.retire(4)
        merged = merge(parts, index.index_dir / "merged.qix")
        index.writer._loop.call(lambda: state.install_merge(inputs, merged, watch, epoch))
        index.writer._loop.call(index.writer._show)
        assert (index.found("apples"), index.found("pears")) == ({2, 3}, {1})
        assert index.writer.verify() == ()


def test_compaction_leaves_one_segment_and_only_its_file(tmp_path: Path) -> None:
    """J92: one full segment; only files that the old manifest or views named are removed."""
    with IndexedStore(tmp_path) as index:
        (index.index_dir / "notes.txt").write_text("not ours")
        for number in range(5):
            index.put_texts({number: f"apples number{number}"})
        index.writer.checkpoint()
        index.retire(0)
        stages: list[str] = []
        view = index.writer.compact(lambda stage, done, total: stages.append(stage))
        (ref,) = view.segments
        assert (ref.tombstones, ref.is_volatile, view.changed_documents) == ("", False, 0)
        assert view.checkpoint_generation == view.generation == 6
        assert stages == ["merging segments", "publishing"]
        index.writer.checkpoint()
        assert index.files() == {"MANIFEST", "notes.txt", ref.name}
        assert index.found("apples") == {1, 2, 3, 4}


def test_compaction_of_nothing_leaves_nothing(tmp_path: Path) -> None:
    with IndexedStore(tmp_path) as index:
        assert index.writer.compact().segments == ()
        index.put_texts({1: "apples"})
        index.retire(1)
        assert index.writer.compact().segments == ()
        assert index.files() == {"MANIFEST"}


def test_files_stay_until_a_newer_view_is_acknowledged(tmp_path: Path) -> None:
    """A view that serve may still open names files that exist."""
    with IndexedStore(tmp_path) as index:
        index.writer.acknowledge = lambda sequence: None  # type: ignore[method-assign]
        index.put_texts({1: "apples"})
        old = index.put_texts({1: "pears", 2: "pears"})
        index.writer.compact()
        assert {ref.name for ref in old.segments} <= index.files()
        type(index.writer).acknowledge(index.writer, index.writer.view.sequence)
        index.writer.checkpoint()
        assert index.files() == {"MANIFEST", *(ref.name for ref in index.writer.view.segments)}


def test_rebuild_goes_on_beside_the_index_in_use(tmp_path: Path) -> None:
    """Searches are answered, and changes indexed, while everything is made again."""
    reached, go_on = threading.Event(), threading.Event()

    def hold(stage: str, done: int, total: int) -> None:
        reached.set()
        assert go_on.wait(TIMEOUT_S)

    with IndexedStore(tmp_path) as index:
        index.put_texts({number: f"apples number{number}" for number in range(50)})
        old = {ref.name for ref in index.writer.view.segments}
        rebuilding = threading.Thread(target=index.writer.rebuild, args=(hold,))
        rebuilding.start()
        assert reached.wait(TIMEOUT_S)
        assert len(index.found("apples")) == 50
        with index.store.write() as txn:
            store_page(txn, make_page(page_url(7), "pears"))
            store_page(txn, make_page(page_url(99), "apples"))
        index.writer.notify()
        index.writer.wait_until(lambda view: view.generation == 52, TIMEOUT_S)
        assert index.writer.view.is_rebuilding
        assert (index.found("pears"), index.found("number8")) == ({7}, {8})
        with pytest.raises(WrongStateError) as caught:
            index.writer.rebuild()
        assert caught.value.reason == "REBUILD_RUNNING"
        with pytest.raises(WrongStateError):
            index.writer.compact()
        go_on.set()
        rebuilding.join(TIMEOUT_S)
        assert not old & {ref.name for ref in index.writer.view.segments}
        assert index.found("apples") == set(range(50)) - {7} | {99}
        assert index.found("number7") == set()
        assert index.writer.verify() == ()


def test_rebuild_whose_progress_raises_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    """A cancelled rebuild is given up, and its files with it."""

    def cancel(stage: str, done: int, total: int) -> None:
        raise TimeoutError("cancelled")

    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples"})
        index.writer.checkpoint()
        before = index.files()
        with pytest.raises(TimeoutError, match="cancelled"):
            index.writer.rebuild(cancel)
        assert index.found("apples") == {1}
        assert index.files() == before


def test_closed_writer_refuses(tmp_path: Path) -> None:
    index = IndexedStore(tmp_path)
    index.put_texts({1: "apples"})
    index.close()
    with pytest.raises(ShuttingDownError):
        index.writer.checkpoint()
    manifest = read_manifest(tmp_path / "index")
    assert manifest is not None
    assert manifest.generation == 1


def test_only_the_first_characters_of_a_text_are_indexed_and_all_of_it_is_kept(tmp_path: Path) -> None:
    """S4, S5, S61: a page with two million characters is stored whole and indexed up to the cap."""
    text = "early " + "filler " * 320_000 + "late"
    with IndexedStore(tmp_path, max_chars=1_000) as index:
        index.put_texts({1: text})
        assert (index.found("early"), index.found("late")) == ({1}, set())
        assert len(index.searcher.search("early", 1, 0).hits[0].snippet.text) < 1_000


def test_writer_that_was_never_opened_can_be_closed(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        IndexWriter(store, tmp_path / "index", QUIET, lambda view: None).close()


def test_full_disk_keeps_the_index_and_the_next_try_has_everything(tmp_path: Path) -> None:
    """S8, F101: a file that cannot grow stands for the full disk; what was there goes on answering."""
    script = """
import resource, sys
from pathlib import Path
from jird_daemon.errors import StoreFullError
from jird_daemon.store.pages import store_page
from testkit.pages import IndexedStore, make_page, page_url
index = IndexedStore(Path(sys.argv[1]))
index.put_texts({1: "apples"})
index.writer.checkpoint()
with index.store.write() as txn:
    store_page(txn, make_page(page_url(2), "apples"))
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
index.writer.notify()
refused = []
for work in (index.writer.checkpoint, index.writer.rebuild):
    try:
        work()
    except StoreFullError as error:
        refused.append(error.reason)
print(refused, index.found("apples"))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
index.writer.checkpoint()
print(index.found("apples"), index.writer.verify())
index.close()
"""
    result = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.stdout.splitlines() == ["['DISK_FULL', 'DISK_FULL'] {1}", "{1, 2} ()"], result.stderr
