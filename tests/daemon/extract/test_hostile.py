"""Pages made to break parsers: bounded, and their text kept (J161, F51)."""

import time

import pytest

from jird_daemon.extract.document import ParsedDocument, ParseJob
from jird_daemon.extract.limits import (
    DOCUMENT_DEPTH_MAX,
    DOCUMENT_NODES_MAX,
    DOCUMENT_TEXT_CHARS_MAX,
    LIMITS,
    MARKERS_MAX,
)
from jird_daemon.extract.nesting import OPEN_ELEMENTS_MAX, guard
from jird_daemon.extract.page import parse_page
from jird_daemon.store.text_pile import decode_pile


def parse(html: str | bytes) -> ParsedDocument:
    body = html.encode() if isinstance(html, str) else html
    return parse_page(ParseJob("https://example.org/", body, "text/html; charset=utf-8"), 1_796_083_200.0)


def text(document: ParsedDocument) -> str:
    return decode_pile(document.pile_bytes).text


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 200_000 + "deep text",
        "<div>x" * 100_000 + "</div>" * 100_000 + "deep text",
        "<ul><li>" * 30_000 + "deep text",
        "<table><tr><td>" * 20_000 + "deep text",
        "<b><p>" * 5_000 + "deep text",
        "<font color=a>" * 300 + "<p>x" * 3_000 + "deep text",
        "<span>" * 50_000 + "</p>" * 50_000 + "deep text",
        "<svg>" * 20_000 + "<text>deep text",
        "<a href=x>" * 30_000 + "deep text",
        "<p " + " ".join(f"a{number}=1" for number in range(300_000)) + ">deep text",
        "<p title='" + "x " * 200_000 + "'>deep text",
        "<" * 1_000_000 + " deep text",
        "&" * 1_000_000 + " deep text",
        "&amp;" * 300_000 + " deep text",
        "<!--" * 200_000 + "--> deep text",
        "\x00" * 500_000 + "deep text",
        "<p>x</p>" * 40_000 + "deep text",
        "<select>" * 20_000 + "deep text",
        "<h1>" * 900 + "<main><code>" * 30 + "deep text",
        "<script type='application/ld+json'>" + '"datePublished":"0001-01-01",' * 60_000 + "</script>deep text",
        "<a href='mailto:" + "x" * 400 + "'>x</a>" * 4 + "<a href=mailto:x?" + "y" * 400_000 + ">deep text",
        "<time datetime=9999-12-31>x</time>" * 20_000 + "deep text",
    ],
    ids=lambda page: page[:12],
)  # fmt: skip
def test_hostile_page_is_read_to_its_end_in_bounded_time(page: str) -> None:
    """J161, F51."""
    before = time.process_time()
    document = parse(page)
    assert time.process_time() - before < 5
    assert text(document).endswith("deep text")


def test_text_below_the_deepest_level_is_kept_without_its_structure() -> None:
    """J161."""
    depth = DOCUMENT_DEPTH_MAX + 50
    document = parse(
        "<div>" * depth + "<p>one</p><p>two <b>thr</b>ee<script>no</script></p>" + "</div>" * depth + "after"
    )
    assert text(document).split() == ["one", "two", "three", "after"]
    assert "document_depth" in document.truncated


def test_number_of_nodes_is_bounded() -> None:
    """J161."""
    document = parse("<i></i>" * (DOCUMENT_NODES_MAX + 10) + "<p>end")
    assert "document_nodes" in document.truncated
    assert "end" not in text(document)
    assert "document_nodes" not in parse("<i></i>" * 1_000 + "<p>end").truncated


def test_length_of_text_is_bounded() -> None:
    """J161."""
    document = parse("<p>" + "word " * 500_000 + "<h1>last</h1>")
    assert len(text(document)) == DOCUMENT_TEXT_CHARS_MAX
    assert "document_text_chars" in document.truncated
    plain = parse_page(ParseJob("https://example.org/", b"x" * 3_000_000, "text/plain"), 0.0)
    assert len(decode_pile(plain.pile_bytes).text) == DOCUMENT_TEXT_CHARS_MAX
    assert plain.truncated == ("document_text_chars",)


def test_number_of_markers_is_bounded() -> None:
    page = "<code>x</code>" * 24_000
    assert len(decode_pile(parse(page).pile_bytes).markers) == 24_000 < MARKERS_MAX


def test_guard_leaves_ordinary_pages_alone() -> None:
    """Real pages nest 30 deep; long ones have thousands of void and unclosed elements."""
    page = "<div>" * 100 + "<p>a<br>b<img src=x><li>c" * 10_000 + "</div>" * 100
    assert guard(page, page.count("<")) == (page, False)
    closed = ("<div><b>x</b></div>" * 20_000) + "<ul>" * (OPEN_ELEMENTS_MAX - 10)
    assert guard(closed, closed.count("<")) == (closed, False)
    script = "<script>" + "if (a <b && c <d) { e } " * 20_000 + "</script>"
    assert parse(script + "<p>end").title == ""


def test_guard_tells_that_it_acted() -> None:
    document = parse("<div>" * 5_000 + "x<a href=/y>z</a>")
    assert "document_nesting" in document.truncated
    assert document.links == ()  # they lie below the depth to which structure is read
    assert text(document) == "xz"


def test_limits_have_names_for_status() -> None:
    """J161, J162, J163."""
    assert LIMITS["document_nodes"] == 100_000
    assert LIMITS["document_depth"] == 256
    assert LIMITS["document_text_chars"] == 2_097_152
    assert LIMITS["document_links"] == 10_000
    assert LIMITS["document_title_chars"] == 1_024
    assert LIMITS["directive_chars"] == 8_192
