"""The index as its one writer changes it: what is live, which generation that is, what is durable.

Everything here runs in the writer's thread. A change of a page and a finished merge or rebuild meet in one rule: work
beside that thread has a `watch`, a set that collects the pages changed meanwhile, and when the work comes in, those
pages are deleted from it. So no page is ever live twice, and none comes back.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jird_daemon.control import View
from jird_daemon.index.changes import prune_changes, read_changes, store_generation
from jird_daemon.index.documents import documents_of
from jird_daemon.index.live import SEGMENT_SUFFIX, LiveSegment, LiveSegments
from jird_daemon.index.manifest import (
    Fingerprint,
    Manifest,
    file_names,
    publish_manifest,
    withdraw_manifest,
    write_manifest_file,
)
from jird_daemon.index.merge_policy import changed_since_base
from jird_daemon.index.view_files import ViewFiles
from jird_daemon.store import Store
from jird_daemon.store.blobs import sync_folder
from jird_native import Segment, SegmentBuilder

# Documents of one segment that is sealed: what 300 ms of a fast crawl bring is far below; after a crash it bounds how
# long the first view takes.
SEALED_DOCUMENTS_MAX = 2_000

# Called at each step between which a kill must do no harm; tests kill there.
Step = Callable[[str], None]


@dataclass(slots=True)
class Rebuild:
    """A rebuild that is running."""

    era: int  # segments of an older one are dropped when it has finished
    is_beside: bool  # the old segments answer until then; else what is made is shown as it comes
    is_spoiled: bool = False  # a segment with changes since it began was lost: it must be done again
    changed: set[int] = field(default_factory=set)  # pages changed since it began
    fresh: list[LiveSegment] = field(default_factory=list)  # made and not shown yet


class IndexState:
    """See the module."""

    def __init__(self, store: Store, folder: Path, fingerprint: Fingerprint, at_step: Step, builder_bytes: int) -> None:
        self.store = store
        self.folder = folder
        self.fingerprint = fingerprint
        self.builder_bytes = builder_bytes  # at which a segment is written, in a rebuild too
        self.live = LiveSegments(folder)
        self.generation = 0  # of the store, that `live` covers
        self.checkpoint_generation = 0  # of the published manifest; 0 when there is none
        self.changed_since_checkpoint = 0
        self.changed_since_merge = 0
        self.needs_rebuild = ""  # why pages are missing that can be found; no manifest may be published then
        self.rebuild: Rebuild | None = None
        self.is_merging = False
        self.merge_failed = False
        self.epoch = 0  # stepped when segments go for another reason than a merge
        self.files = ViewFiles(folder)
        self._era = 0
        # Above that of any view of a writer before, so that an acknowledgement that comes late removes nothing new.
        self._sequence = time.time_ns() // 1_000_000
        self._watches: list[set[int]] = []
        self.at_step = at_step

    @property
    def is_dirty(self) -> bool:
        """Whether there is something that no checkpoint covers."""
        return self.checkpoint_generation != self.generation or self.changed_since_checkpoint > 0

    def watch(self) -> set[int]:
        """A set that will collect every page that changes from now on."""
        watch: set[int] = set()
        self._watches.append(watch)
        return watch

    def unwatch(self, watch: set[int]) -> None:
        """Stop collecting."""
        self._watches = [other for other in self._watches if other is not watch]

    def apply_changes(self) -> bool:
        """Index the pages that changed, at most one segment full of them; returns whether more are waiting.

        Raises:
            OSError: The disk is full, or broken. What is live is as it was, and the next call does the same again.
            jird_native.CorruptSegmentError: A segment in use is damaged; the writer takes it out and tries again.
        """
        changes = read_changes(self.store, self.generation, SEALED_DOCUMENTS_MAX)
        if changes.page_ids:
            sealed = self._seal(changes.page_ids)
            self.live.delete_pages(changes.page_ids)
            for watch in self._watches:
                watch.update(changes.page_ids)
            self.live.segments += sealed
            self.changed_since_checkpoint += len(changes.page_ids)
            self.changed_since_merge += len(changes.page_ids)
        self.generation = changes.generation
        return not changes.is_last

    def next_view(self) -> View:
        """Write what deletions there are, and name what can be searched now."""
        self.live.write_deletions()
        self.at_step("view.deletions_written")
        self._sequence += 1
        view = View(
            sequence=self._sequence,
            generation=self.generation,
            checkpoint_generation=self.checkpoint_generation,
            segments=self.live.refs(),
            changed_documents=changed_since_base(self.live.sizes()),
            is_merging=self.is_merging,
            merge_failed=self.merge_failed,
            is_rebuilding=self.rebuild is not None or bool(self.needs_rebuild),
        )
        self.files.note(view)
        return view

    def adopt(self, path: Path, changed: Iterable[int]) -> LiveSegment:
        """Take in a segment made elsewhere, without the pages that changed since its documents were read.

        Raises:
            jird_native.CorruptSegmentError: It is damaged already.
        """
        adopted = LiveSegment(path.name, Segment.open(path), era=self._era)
        for page_id in changed:
            adopted.delete_page(page_id)
        return adopted

    def install_merge(self, inputs: Sequence[LiveSegment], merged: Path | None, changed: set[int], epoch: int) -> bool:
        """Put a merged segment in the place of its inputs; False when it came too late, and is of no use.

        Args:
            inputs: What was merged.
            merged: The file; None when nothing in the inputs was live.
            changed: Pages that changed since.
            epoch: `self.epoch` when the merge began.
        """
        if epoch != self.epoch:
            return False
        output = None if merged is None else self.adopt(merged, changed)
        if output is not None:
            output.era = min(live.era for live in inputs)
        self.live.replace(inputs, output)
        self.changed_since_checkpoint += 1
        return True

    def begin_rebuild(self) -> Rebuild:
        """Start collecting what a rebuild must not bring back; its documents must be read after this."""
        self._era += 1
        self.rebuild = Rebuild(self._era, is_beside=not self.needs_rebuild or bool(self.live.segments))
        if not self.rebuild.is_beside:
            # All that has changed up to here is in the pages that the rebuild will read.
            self.generation, _ = store_generation(self.store)
        self._watches.append(self.rebuild.changed)
        return self.rebuild

    def deliver(self, rebuild: Rebuild, path: Path) -> None:
        """Take in a segment of a rebuild: shown at once when there is nothing better, else kept for the end."""
        fresh = self.adopt(path, rebuild.changed)
        if rebuild.is_beside:
            rebuild.fresh.append(fresh)
        else:
            self.live.segments.append(fresh)

    def finish_rebuild(self, rebuild: Rebuild) -> None:
        """Replace what was there before the rebuild by what it made, and what changed since."""
        for fresh in rebuild.fresh:
            for page_id in rebuild.changed:
                fresh.delete_page(page_id)
        newer = [live for live in self.live.segments if live.era >= rebuild.era]
        self.live.segments = rebuild.fresh + newer
        self.epoch += 1
        self.end_rebuild()
        self.needs_rebuild = "damage was found during the rebuild" if rebuild.is_spoiled else ""
        self.changed_since_checkpoint += 1

    def end_rebuild(self) -> None:
        """Forget the rebuild, finished or not."""
        if self.rebuild is not None:
            self.unwatch(self.rebuild.changed)
            self.rebuild = None

    def drop_segment(self, name: str, reason: str) -> bool:
        """Take a damaged segment out, and the manifest that vouches for it; returns whether it was in use."""
        damaged = [live for live in self.live.segments if live.name == name]
        if not damaged:
            return False
        withdraw_manifest(self.folder)
        self.checkpoint_generation = 0
        self.files.manifest = frozenset()
        self.epoch += 1
        self.live.replace(damaged, None)
        self.needs_rebuild = reason
        if self.rebuild is not None and damaged[0].era >= self.rebuild.era:
            self.rebuild.is_spoiled = True
        return True

    def checkpoint(self) -> None:
        """Make what is live durable and publish its manifest, then forget the changes that it covers.

        Raises:
            OSError: The disk is full, or broken; the published manifest is the one before, and valid.
            StoreFullError: The manifest is published; the changes it covers are removed by the next checkpoint.
        """
        assert not self.needs_rebuild, self.needs_rebuild
        self.live.write_deletions()
        self.live.sync_files()
        sync_folder(self.folder)
        self.at_step("checkpoint.files_synced")
        written = write_manifest_file(self.folder, self._manifest())
        self.at_step("checkpoint.manifest_written")
        publish_manifest(self.folder, written)
        self.at_step("checkpoint.manifest_published")
        self.live.mark_durable()
        self.checkpoint_generation = self.generation
        self.changed_since_checkpoint = 0
        self.files.manifest = file_names(self._manifest())
        prune_changes(self.store, self.generation)
        self.at_step("checkpoint.changes_pruned")

    def _seal(self, page_ids: Sequence[int]) -> list[LiveSegment]:
        """Make segments of the pages that can be found: one, unless their text is very long, or none."""
        sealed = []
        builder = SegmentBuilder(self.fingerprint.field_weights)
        for document in documents_of(self.store, page_ids, self.fingerprint.max_chars):
            builder.add(document)
            if builder.memory_bytes >= self.builder_bytes:
                sealed.append(self._write(builder))
                builder = SegmentBuilder(self.fingerprint.field_weights)
        if builder.doc_count:
            sealed.append(self._write(builder))
        return sealed

    def _write(self, builder: SegmentBuilder) -> LiveSegment:
        path = self.folder / self.live.names.next(SEGMENT_SUFFIX)
        builder.write(path, sync=False)
        self.at_step("seal.segment_written")
        return LiveSegment(path.name, Segment.open(path), era=self._era)

    def _manifest(self) -> Manifest:
        made_with = self.fingerprint
        return Manifest(
            store_id=made_with.store_id,
            generation=self.generation,
            analysis_version=made_with.analysis_version,
            format_version=made_with.format_version,
            field_weights=made_with.field_weights,
            max_chars=made_with.max_chars,
            segments=self.live.entries(),
        )
