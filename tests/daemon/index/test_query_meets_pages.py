# ruff: noqa: RUF001 - texts in many scripts are the point of this file
"""Queries find the pages they should: analysis, tokenizer, index and query reader together."""

from pathlib import Path

import pytest

from jird_daemon.index.analysis import PageText, analyze_page
from jird_daemon.index.query import parse_query
from jird_native import Segment, SegmentBuilder, Snapshot

PAGES = (
    PageText(
        1, 1, "https://example.org/a.html", title="Garden tools", body="A spade and a hoe for the garden", language="en"
    ),
    PageText(
        2, 2, "https://docs.example.org/guide/über_uns.html", title="Über uns", body="Garten und Geräte", language="de"
    ),
    PageText(3, 3, "https://other.test/", title="Other", body="The hoe and the spade, a spade for all", language="en"),
    PageText(
        4, 4, "https://notexample.org/", title="C++ and foo_bar", body="call foo_bar in version v1.2.3", language="en"
    ),
    PageText(5, 5, "https://zh.test/", title="贺词", body="祝你们新年快乐。铁路12306客服", language="zh"),
    PageText(6, 6, "https://ja.test/", title="半角", body="ﾃｽﾄの結果", language="ja"),
    PageText(7, 7, "https://fr.test/", title="Uber", body="uber alles sans accents, l’eau", anchors=("water page",)),
)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    builder = SegmentBuilder()
    for page in PAGES:
        builder.add(analyze_page(page))
    path: Path = tmp_path_factory.mktemp("index") / "pages.qix"
    builder.write(path, sync=False)
    return Snapshot([(Segment.open(path), None)])


def found(snapshot: Snapshot, text: str) -> list[int]:
    tree = parse_query(text).tree
    assert tree is not None
    return [int(page_id) for page_id in snapshot.search(tree, 10).page_ids]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("garden", {1}),
        ("garden garten", {1, 2}),
        ("spade AND garden", {1}),
        ("spade NOT garden", {3}),
        ('"hoe and the spade"', {3}),  # UQ1
        ("»a spade«", {1, 3}),  # UQ2
        ('spade -"for all"', {1}),  # UQ4
        ("spade -garden", {1, 3}),  # UQ4
        ("site:example.org", {1, 2}),  # UQ6
        ("host:example.org", {1}),  # UQ6
        ("host:docs.example.org", {2}),
        ("spade -site:example.org", {3}),  # UQ5
        ("lang:de", {2}),
        ("and lang:en", {1, 3, 4}),
        ("intitle:tools", {1}),
        ("intitle:spade", set()),
        ("inurl:guide", {2}),
        ("inurl:uber", {2}),
        ('"C++ and"', {4}),
        ('"uber uns"', {2}),
        ('"新年快"', {5}),
        ('"快乐 铁路"', {5}),
        ("foo_bar", {4}),
        ("c++", {4}),
        ("1.2.3", {4}),
        ("1.2", {4}),
        ("快乐", {5}),  # F105
        ("12306", {5}),  # F105
        ("福", set()),
        ("客", {5}),
        ("テスト", {6}),  # F105
        ("ﾃｽﾄ", {6}),
        ("eau", {7}),
        ("water", {7}),
        ("to be or the", {1, 3}),  # F107
    ],
)
def test_query_finds_exactly_the_pages_that_match(snapshot: Snapshot, text: str, pages: set[int]) -> None:
    assert set(found(snapshot, text)) == pages


def test_spelling_of_the_query_ranks_first(snapshot: Snapshot) -> None:
    """Accents are kept, and both spellings find both."""
    assert found(snapshot, "über")[0] == 2
    assert set(found(snapshot, "über")) == {2, 7}
    assert set(found(snapshot, "uber")) == {2, 7}
