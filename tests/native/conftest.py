"""A segment with every kind of block, for the tests that look into files."""

from pathlib import Path
from random import Random

import pytest

from jird_native import SegmentBuilder
from testkit.index import random_documents, words_of

WORDS = words_of(200)


@pytest.fixture(scope="session")
def sample_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,500 documents: bitmap, packed and tail blocks, exceptions, range bounds, keywords, positions in all fields."""
    path, random = tmp_path_factory.mktemp("sample") / "sample.qix", Random(4)
    builder = SegmentBuilder()
    for doc in random_documents(random, range(1, 2501), WORDS, 30):
        builder.add(doc.native)
    builder.write(path, sync=False)
    return path


@pytest.fixture(scope="session")
def sample(sample_path: Path) -> bytes:
    """The bytes of that segment."""
    return sample_path.read_bytes()
