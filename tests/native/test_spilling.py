"""A builder with little memory: documents go to files and come back, and nobody can tell from the segment."""

import os
import resource
from pathlib import Path
from random import Random

import pytest

from jird_native import DocumentOrder, SegmentBuilder
from testkit.index import TextDocument, random_documents, words_of

WORDS = words_of(150)
UNSORTED = random_documents(Random(11), Random(12).sample(range(1, 9999), 700), WORDS, 30)
SORTED = random_documents(Random(13), range(1, 301), WORDS, 30)


def write(path: Path, documents: list[TextDocument], memory_bytes: int | None, order: DocumentOrder) -> bytes:
    builder = SegmentBuilder(memory_bytes=memory_bytes, spill_folder=path.parent)
    for doc in documents:
        builder.add(doc.native)
    builder.write(path, sync=False, order=order)
    return path.read_bytes()


@pytest.mark.parametrize("order", list(DocumentOrder))
@pytest.mark.parametrize("documents", [UNSORTED, SORTED], ids=["unsorted", "sorted"])
@pytest.mark.parametrize("memory_bytes", [1, 150_000])
def test_spilled_build_gives_the_same_bytes(
    memory_bytes: int, documents: list[TextDocument], order: DocumentOrder, tmp_path: Path
) -> None:
    """A run for each document or a few runs, lists that stream and lists that are sorted range by range (J20)."""
    spilled = write(tmp_path / "spilled", documents, memory_bytes, order)
    assert spilled == write(tmp_path / "whole", documents, None, order)
    assert sorted(os.listdir(tmp_path)) == ["spilled", "whole"]


def test_builder_goes_on_after_a_write(tmp_path: Path) -> None:
    builder = SegmentBuilder(memory_bytes=1, spill_folder=tmp_path)
    for number, doc in enumerate(UNSORTED, start=1):
        builder.add(doc.native)
        if number in (100, 400, 700):
            builder.write(tmp_path / "a", sync=False)
    assert (tmp_path / "a").read_bytes() == write(tmp_path / "whole", UNSORTED, None, DocumentOrder.ORIGIN)


def test_page_that_was_spilled_cannot_be_added_again(tmp_path: Path) -> None:
    """Pages that ascend need no set; the first that does not makes one of those in files and in memory."""
    builder = SegmentBuilder(memory_bytes=1, spill_folder=tmp_path)
    for page_id in (3, 5, 9):
        builder.add_terms(page_id, b"word")
    for page_id in (3, 5, 9):
        with pytest.raises(ValueError, match="added before"):
            builder.add_terms(page_id, b"word")
    builder.add_terms(4, b"word")
    with pytest.raises(ValueError, match="added before"):
        builder.add_terms(4, b"word")
    assert builder.write(tmp_path / "a", sync=False).doc_count == 4


def test_full_disk_while_spilling_loses_nothing(tmp_path: Path) -> None:
    """The document is refused with the system's reason; with room again it is added, and the segment is whole (J20)."""
    builder = SegmentBuilder(memory_bytes=60_000, spill_folder=tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    refused = 0
    for doc in UNSORTED:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000 + 40_000 * refused, limits[1]))
        try:
            builder.add(doc.native)
        except OSError:
            refused += 1
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            builder.add(doc.native)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    builder.write(tmp_path / "a", sync=False)
    assert refused > 0
    assert (tmp_path / "a").read_bytes() == write(tmp_path / "whole", UNSORTED, None, DocumentOrder.ORIGIN)


def test_memory_stays_near_its_limit(tmp_path: Path) -> None:
    limit, most = 200_000, 0
    builder = SegmentBuilder(memory_bytes=limit, spill_folder=tmp_path)
    for page_id in range(1, 400):
        builder.add_terms(page_id, " ".join(f"t{(page_id * 31 + i * i) % 9001}" for i in range(300)).encode())
        most = max(most, builder.memory_bytes)
    assert most < 2 * limit


def test_limit_without_a_folder_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a folder"):
        SegmentBuilder(memory_bytes=1)
