"""When a file of the index folder may go: no view that anyone may still open names it, and no manifest does."""

from pathlib import Path

from jird_daemon.control import View
from jird_daemon.index.regular import remove_irregular

_TEMPORARY_SUFFIX = ".tmp"


class ViewFiles:
    """Remembers which view named a file last; belongs to the writer's thread."""

    def __init__(self, folder: Path) -> None:
        self.manifest: frozenset[str] = frozenset()  # files of the published manifest
        self._folder = folder
        self._last_view: dict[str, int] = {}
        self._current: frozenset[str] = frozenset()

    def note(self, view: View) -> None:
        """A view is about to be shown."""
        names = {name for ref in view.segments for name in (ref.name, ref.tombstones)} - {""}
        self._current = frozenset(names)
        for name in names:
            self._last_view[name] = view.sequence

    def remove_unused(self, acknowledged: int) -> int:
        """Remove files that only views before the acknowledged one named; returns how many.

        Args:
            acknowledged: Sequence of a view: its user opens no older one any more. Files that are open stay readable.
        """
        keep = self._current | self.manifest
        gone = [name for name, last in self._last_view.items() if last < acknowledged and name not in keep]
        for name in gone:
            (self._folder / name).unlink(missing_ok=True)
            del self._last_view[name]
        return len(gone)

    def remove_unlisted(self) -> int:
        """Remove every file of ours that neither the view nor the manifest names; at open only. Returns how many."""
        removed = 0
        for path in self._folder.iterdir():
            is_ours = path.suffix in (".qix", ".del", ".new", _TEMPORARY_SUFFIX)
            if is_ours and path.name not in self._current | self.manifest:
                remove_irregular(path)
                path.unlink(missing_ok=True)
                removed += 1
        return removed
