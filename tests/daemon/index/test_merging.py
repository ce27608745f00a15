"""Merges beside the writer's thread: stopped, cancelled, watched, and never so long that segments pile up."""

from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

from jird_daemon.errors import ShuttingDownError, WorkCancelledError
from jird_daemon.index import background, writer
from jird_daemon.index.background import Part
from jird_native import MergeControl, StoppedError
from jird_settings.tables import Index
from testkit.pages import TIMEOUT_S, IndexedStore


class HeldMerges:
    """Holds the first merge that begins until it is stopped or let go; later ones go through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self.may_end = Event(), Event()
        self._merge = background.merge
        monkeypatch.setattr(background, "merge", self)

    def __call__(self, parts: Sequence[Part], path: Path, control: MergeControl) -> Path | None:
        if not self.has_begun.is_set():
            self.has_begun.set()
            while not self.may_end.wait(0.002):
                if control.is_stopped:
                    raise StoppedError("stopped")
        return self._merge(parts, path, control)


def test_stop_does_not_wait_for_a_long_merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """J45: the merge is told to end, and does; the index has everything at the next start."""
    merges = HeldMerges(monkeypatch)
    settings = Index(seal_interval_ms=10, merge_segments=2, checkpoint_every=1_000_000)
    with IndexedStore(tmp_path, settings) as index:
        index.commit_texts({1: "apples"})
        index.commit_texts({2: "apples"})
        assert merges.has_begun.wait(TIMEOUT_S)
        merger = index.writer._merger

        def compact() -> None:
            with pytest.raises(ShuttingDownError):
                index.writer.compact()

        waiting = Thread(target=compact, daemon=True)
        waiting.start()
    assert not any(thread.is_alive() for thread in merger._threads)
    waiting.join(TIMEOUT_S)
    assert not waiting.is_alive()
    monkeypatch.undo()
    with IndexedStore(tmp_path) as index:
        assert index.found("apples") == {1, 2}


def test_segments_stay_few_while_a_large_merge_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """J91: what is sealed meanwhile is merged beside it."""
    merges = HeldMerges(monkeypatch)
    settings = Index(seal_interval_ms=10, merge_segments=4, checkpoint_every=1_000_000)
    with IndexedStore(tmp_path, settings) as index:
        for number in range(4):
            index.commit_texts({number * 100 + row: "apples" for row in range(100)})
        assert merges.has_begun.wait(TIMEOUT_S)
        for number in range(1_000, 1_020):
            index.commit_texts({number: "pears"})
        index.writer.wait_until(lambda view: view.is_merging and len(view.segments) < 4 + 4, TIMEOUT_S)
        merges.may_end.set()
        index.settle()
        assert index.found("pears") == set(range(1_000, 1_020))
        assert len(index.found("apples")) == 100  # as many as are asked for


def test_cancelled_compaction_leaves_the_index_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What progress raises ends it at once; it can be asked for again."""
    merges = HeldMerges(monkeypatch)
    with IndexedStore(tmp_path) as index:
        for number in range(3):
            index.put_texts({number: f"apples number{number}"})
        before = index.files()

        def progress(stage: str, done: int, total: int) -> None:
            assert merges.has_begun.wait(TIMEOUT_S)
            raise WorkCancelledError("nobody waits any more")

        with pytest.raises(WorkCancelledError, match="nobody waits"):
            index.writer.compact(progress)
        view = index.writer.wait_until(lambda view: not view.is_merging, TIMEOUT_S)
        assert (len(view.segments), view.merge_failed) == (3, False)
        assert index.files() == before
        assert len(index.writer.compact().segments) == 1


def test_compaction_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than begin and end: bytes of lists, again and again."""
    merges, told = HeldMerges(monkeypatch), list[tuple[str, int, int]]()
    monkeypatch.setattr(writer, "_PROGRESS_S", 0.001)
    with IndexedStore(tmp_path) as index:
        for number in range(3):
            index.put_texts({number: f"apples number{number}"})

        def progress(stage: str, done: int, total: int) -> None:
            told.append((stage, done, total))
            if len(told) == 4:
                merges.may_end.set()

        index.writer.compact(progress)
    assert [stage for stage, _, _ in told[:4]] == ["merging segments"] * 4
    assert told[-1] == ("publishing", 1, 1)
    assert all(0 <= done <= total for _, done, total in told)
