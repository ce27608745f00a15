"""What every engine must do; a worker (worker.py) holds one of them.

This module and those beside it that hold a peer run in the benchmark's own environment, so they import nothing of
jird's, and their engine only when it is used.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar


class Engine(ABC):
    """An index of a text with one document a line, whose id is the number of its line from 0."""

    kinds: ClassVar[tuple[str, ...]] = ("term", "or", "and", "phrase")
    """Kinds of queries that it has."""

    @abstractmethod
    def version(self) -> str:
        """The version, and what else a reader of the figures must know."""

    @abstractmethod
    def build(self, text: Path, folder: Path) -> int:
        """Index a text into an empty folder; returns the number of documents."""

    @abstractmethod
    def open(self, folder: Path) -> None:
        """Open what `build` made; this is what is timed as opening."""

    def warm(self) -> None:  # noqa: B027 - most have nothing to do
        """What the engine does once in the background after opening."""

    @abstractmethod
    def prepare(self, kind: str, words: Sequence[str]) -> Any:
        """What can be done for a query before the clock runs: the query object, but no look-up in the index."""

    @abstractmethod
    def search(self, prepared: Any, k: int) -> Any:
        """The best k documents, in whatever form the engine gives them; this is what is timed."""

    @abstractmethod
    def hits(self, found: Any) -> list[tuple[int, float]]:
        """What `search` gave as (id, score), best first."""
