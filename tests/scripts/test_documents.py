"""What the documents name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("", "daemon/jird_daemon", "frontend", "native")  # where the documents' paths begin
PATH = re.compile(r"`([\w.]+(?:/[\w.]+)+\.(?:py|c|h|proto|md|conf))`")
LINK = re.compile(r"\]\(([\w./-]+)\)")


@pytest.mark.parametrize(
    "name",
    ["README.md", "ARCHITECTURE.md", "docs/frontend.md", "docs/storage.md", "docs/analysis.md", "docs/crawling.md"],
)
def test_every_file_that_a_document_names_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    paths, links = PATH.findall(text), LINK.findall(text)
    assert paths or links
    assert [path for path in paths if not any((ROOT / folder / path).exists() for folder in FOLDERS)] == []
    assert [link for link in links if not ((ROOT / name).parent / link).exists()] == []
