"""kill -9 at each named step of sealing, checkpoint and merge leaves a state that recovers."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from testkit.pages import IndexedStore

SCRIPT = """
import os, signal, sys
from pathlib import Path
from jird_settings.tables import Index
from testkit.pages import IndexedStore

step, left = sys.argv[2], [int(sys.argv[3])]

def die(name):
    if name == step:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

settings = Index(seal_interval_ms=10, checkpoint_every=4, merge_segments=3, max_overlay_documents=1_000_000)
index = IndexedStore(Path(sys.argv[1]), settings, at_step=die)
for number in range(12):
    index.put_texts({number: f"apples number{number}", 100: f"round{number}"})
    print(number, flush=True)
    if number == 6:
        index.retire(2)
        index.writer.compact()
index.writer.compact()
os._exit(3)
"""

STEPS = [
    ("seal.segment_written", 1),
    ("seal.segment_written", 6),
    ("view.deletions_written", 5),
    ("merge.file_written", 1),
    ("merge.file_written", 2),
    ("merge.installed", 1),
    ("merge.installed", 2),
    ("checkpoint.files_synced", 1),
    ("checkpoint.files_synced", 2),
    ("checkpoint.manifest_written", 1),
    ("checkpoint.manifest_written", 3),
    ("checkpoint.manifest_published", 1),
    ("checkpoint.manifest_published", 2),
    ("checkpoint.changes_pruned", 1),
    ("checkpoint.changes_pruned", 3),
    ("none", 1),
]


@pytest.mark.parametrize(("step", "time"), STEPS)
def test_kill_at_a_step_loses_nothing_that_was_committed(tmp_path: Path, step: str, time: int) -> None:
    """J36, J20: everything that was committed is found afterwards, once, and the index is sound."""
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path), step, str(time)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == (3 if step == "none" else -signal.SIGKILL), result.stderr
    done = len(result.stdout.split())
    with IndexedStore(tmp_path) as index:
        index.settle()
        with index.store.read() as txn:
            committed = txn.number("index_generation")
        found = index.found("apples")
        assert found >= set(range(done)) - {2}
        assert index.searcher.status().document_count == len(found) + 1
        rounds = [number for number in range(12) if index.found(f"round{number}") == {100}]
        assert len(rounds) == 1
        assert rounds[0] >= done - 1
        assert index.writer.verify() == ()
        assert index.writer.checkpoint().checkpoint_generation == committed
