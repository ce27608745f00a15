"""Whatever of the index is missing or damaged is made again, and nothing damaged is ever served."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jird_daemon.errors import WrongStateError
from jird_daemon.index.manifest import encode_manifest, read_manifest
from jird_daemon.store.tables import META
from testkit.pages import IndexedStore

TEXTS = {number: f"apples number{number}" for number in range(1, 40)}


def build(state_dir: Path) -> None:
    """Two segments, one of them with deletions, all of it durable."""
    with IndexedStore(state_dir) as index:
        index.put_texts(TEXTS)
        index.writer.checkpoint()
        index.put_texts({number: f"pears number{number}" for number in (3, 40)})
        index.retire(5)


def check(index: IndexedStore) -> None:
    """What `build` stored is found, no more and no less."""
    index.settle()
    assert index.found("apples") == set(TEXTS) - {3, 5}
    assert index.found("pears") == {3, 40}
    assert index.found("number5") == set()
    assert index.writer.verify() == ()


def segment_files(index_dir: Path) -> list[Path]:
    """Segments, largest first."""
    return sorted(index_dir.glob("*.qix"), key=lambda path: -path.stat().st_size)


def flip(path: Path, offset: int) -> None:
    """Change one bit of a file that is not to be written to."""
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x10]))


def replace(path: Path, make: Callable[[Path], object]) -> None:
    """Put something else in a file's place."""
    path.unlink()
    make(path)


def rewrite_manifest(index_dir: Path, **changes: object) -> None:
    """A manifest that can be read and says something else."""
    manifest = read_manifest(index_dir)
    assert manifest is not None
    fields = {name: getattr(manifest, name) for name in manifest.__struct_fields__}
    (index_dir / "MANIFEST").write_bytes(encode_manifest(type(manifest)(**(fields | changes))))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "index folder missing (J73)": shutil.rmtree,
    "manifest missing (J73)": lambda index: (index / "MANIFEST").unlink(),
    "manifest empty": lambda index: (index / "MANIFEST").write_bytes(b""),
    "manifest with a flipped bit": lambda index: flip(index / "MANIFEST", 200),
    "manifest of another analysis": lambda index: rewrite_manifest(index, analysis_version=99),
    "manifest of another store": lambda index: rewrite_manifest(index, store_id="00"),
    "manifest older than the changes that are left (J12, J13)": lambda index: rewrite_manifest(index, generation=20),
    "manifest newer than the store (J13)": lambda index: rewrite_manifest(index, generation=4_000),
    "manifest without one of its segments (J13)": lambda index: rewrite_manifest(index, segments=()),
    "segment missing (J11)": lambda index: segment_files(index)[0].unlink(),
    "small segment missing (J11)": lambda index: segment_files(index)[-1].unlink(),
    "segment cut short (J14)": lambda index: os.truncate(segment_files(index)[0], 5_000),
    "segment empty (J14)": lambda index: os.truncate(segment_files(index)[0], 0),
    "segment header damaged (J14)": lambda index: flip(segment_files(index)[0], 9),
    "segment is another segment (J14)": lambda index: shutil.copy(*reversed(segment_files(index))),
    "deletions missing": lambda index: next(index.glob("*.del")).unlink(),
    "manifest is a folder": lambda index: replace(index / "MANIFEST", Path.mkdir),
    "manifest is a pipe": lambda index: replace(index / "MANIFEST", os.mkfifo),
    "segment is a folder": lambda index: replace(segment_files(index)[0], Path.mkdir),
    "segment is a pipe": lambda index: replace(segment_files(index)[0], os.mkfifo),
    "segment is a link to nowhere": lambda index: replace(segment_files(index)[0], lambda path: path.symlink_to("no")),
    "deletions are a pipe": lambda index: replace(next(index.glob("*.del")), os.mkfifo),
    "deletions damaged": lambda index: flip(next(index.glob("*.del")), 41),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_index_damaged_while_stopped_is_made_again_and_answers_as_before(tmp_path: Path, damage: str) -> None:
    """J11, J12, J13, J14, J73: discarded and rebuilt, and the next start finds it sound."""
    build(tmp_path)
    DAMAGE[damage](tmp_path / "index")
    with IndexedStore(tmp_path) as index:
        assert index.first_view.is_rebuilding
        check(index)
    with IndexedStore(tmp_path) as index:
        assert not index.first_view.is_rebuilding
        check(index)


def test_ordinary_restart_uses_the_segments_that_are_there(tmp_path: Path) -> None:
    """J10: nothing is tokenised again."""
    build(tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in segment_files(tmp_path / "index")}
    with IndexedStore(tmp_path) as index:
        assert {ref.name for ref in index.first_view.segments} == set(before)
        check(index)
        assert {path.name: path.stat().st_mtime_ns for path in segment_files(tmp_path / "index")} == before


def test_every_flipped_bit_of_a_segment_is_found_or_harmless(tmp_path: Path) -> None:
    """J14: a query never shows what was not written; verify names the segment and the offset, and mends it."""
    build(tmp_path)
    size = segment_files(tmp_path / "index")[0].stat().st_size
    for offset in range(7, size, size // 12):
        copy = tmp_path.parent / f"{tmp_path.name}-{offset}"
        shutil.copytree(tmp_path, copy)
        name = segment_files(copy / "index")[0].name
        flip(copy / "index" / name, offset)
        with IndexedStore(copy) as index:
            assert index.found("apples") <= set(TEXTS) - {3, 5}
            if not index.damage and not index.writer.view.is_rebuilding:
                faults = index.writer.verify()
                assert faults == () or f"segment {name}: offset" in faults[0] or name in faults[0]
            check(index)
        shutil.rmtree(copy)


def test_damage_that_a_query_meets_takes_the_segment_out_and_starts_the_rebuild(tmp_path: Path) -> None:
    """J14: the other segments answer meanwhile; afterwards everything does."""
    build(tmp_path)
    victim = segment_files(tmp_path / "index")[0]
    flip(victim, victim.stat().st_size - 1_000)  # among the postings, which opening does not read
    with IndexedStore(tmp_path) as index:
        assert not index.first_view.is_rebuilding
        report, reported = index.writer.report_damage, list[tuple[str, str]]()
        index.writer.report_damage = lambda *what: reported.append(what)  # type: ignore[method-assign]
        assert index.found("apples") == set()
        ((name, reason),) = reported
        assert name == victim.name
        assert "offset" in reason
        assert index.found("pears") == {3, 40}
        report(name, reason)
        index.writer.wait_until(lambda view: name not in {ref.name for ref in view.segments}, 10)
        check(index)
        assert victim.name not in {ref.name for ref in index.writer.view.segments}


def test_background_check_finds_damage_that_no_query_has_met(tmp_path: Path) -> None:
    """Every chunk is hashed before its first use, and in the background otherwise."""
    build(tmp_path)
    victim = segment_files(tmp_path / "index")[0]
    flip(victim, victim.stat().st_size - 1_000)
    with IndexedStore(tmp_path) as index:
        while index.searcher.check_chunks():
            pass
        assert [name for name, _ in index.damage] == [victim.name]
        check(index)


def test_kill_during_the_rebuild_after_damage_rebuilds_at_the_next_start(tmp_path: Path) -> None:
    """The manifest is withdrawn before anything else happens: a half-made index is never taken for a whole one."""
    build(tmp_path / "state")
    with IndexedStore(tmp_path / "state") as index:
        name = index.writer.view.segments[0].name
        index.writer._loop.call(lambda: index.writer._state.drop_segment(name, "test"))
        shutil.copytree(tmp_path / "state", tmp_path / "killed")
        with pytest.raises(WrongStateError) as caught:
            index.writer.checkpoint()
        assert caught.value.reason == "REBUILD_RUNNING"
        index.writer._loop.call(index.writer._rebuilder.start_if_needed)
        check(index)
    with IndexedStore(tmp_path / "killed") as index:
        check(index)


def test_files_left_over_by_a_crash_are_removed_at_open(tmp_path: Path) -> None:
    build(tmp_path)
    before = {path.name for path in (tmp_path / "index").iterdir()}
    for name in ("feed-00000001.qix", "feed-00000002.del", "MANIFEST.new", ".feed.qix.1-0.tmp"):
        (tmp_path / "index" / name).write_bytes(b"left over")
    with IndexedStore(tmp_path) as index:
        assert index.files() == before


def test_restored_backup_without_its_index_answers_as_before(tmp_path: Path) -> None:
    """J72, J2: metadata and content are enough."""
    build(tmp_path / "state")
    for part in ("meta.mdb", "blobs"):
        shutil.copytree(tmp_path / "state" / part, tmp_path / "restored" / part)
    with IndexedStore(tmp_path / "restored") as index:
        check(index)


def test_older_backup_beside_a_newer_index_is_indexed_again(tmp_path: Path) -> None:
    """J13: the index of a later generation is not believed."""
    build(tmp_path / "state")
    shutil.copytree(tmp_path / "state", tmp_path / "backup")
    with IndexedStore(tmp_path / "state") as index:
        index.put_texts({3: "plums"})
    for part in ("meta.mdb", "blobs"):
        shutil.rmtree(tmp_path / "state" / part)
        shutil.copytree(tmp_path / "backup" / part, tmp_path / "state" / part)
    with IndexedStore(tmp_path / "state") as index:
        check(index)
        assert index.found("plums") == set()


def test_damaged_text_costs_the_page_its_words_and_nothing_else(tmp_path: Path) -> None:
    """A blob that cannot be read: its page is found by title, the others are not touched."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples", 2: "x" * 20})
    volume = tmp_path / "blobs" / "00000001.vol"
    flip(volume, volume.stat().st_size - 3)
    with IndexedStore(tmp_path) as index:
        index.writer.rebuild()
        assert index.found("apples") == {1}
        assert index.found("example.org") == {1, 2}
        hits = index.searcher.search("example.org", 10, 0, show_duplicates=True).hits
        assert {hit.snippet.text for hit in hits} == {"apples", ""}


def test_store_remembers_what_was_pruned(tmp_path: Path) -> None:
    build(tmp_path)
    with IndexedStore(tmp_path) as index, index.store.read() as txn:
        assert txn.get(META, "index_pruned") == txn.number("index_generation")
