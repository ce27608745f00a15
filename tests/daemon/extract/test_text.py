"""Text of a page: reading order, blocks, no glued and no split words (U18, U19, U23, F85, F89)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.extract.document import ParsedDocument, ParseJob, ParseKind
from jird_daemon.extract.page import parse_page
from jird_daemon.store.text_pile import MarkerKind, TextPile, decode_pile, pile_digest

NOW_S = 1_796_083_200.0


def parse(html: str | bytes, content_type: str = "text/html; charset=utf-8") -> ParsedDocument:
    body = html.encode() if isinstance(html, str) else html
    return parse_page(ParseJob("https://example.org/", body, content_type), NOW_S)


def pile(html: str) -> TextPile:
    return decode_pile(parse(html).pile_bytes)


def text(html: str) -> str:
    return pile(html).text


def marked(html: str, kind: MarkerKind) -> list[str]:
    found = pile(html)
    return [found.text[marker.start : marker.end] for marker in found.markers if marker.kind == kind]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a<b>b</b>c", "abc"),
        ("<p>one<p>two", "one\ntwo"),
        ("<div>one</div>two<div>three</div>", "one\ntwo\nthree"),
        ("<ul><li>1<li>2</ul>3", "1\n2\n3"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
        ("<td>a</td>", "a"),
        ("one<br>two", "one\ntwo"),
        ("a<wbr>b&shy;c", "ab\u00adc"),
        ("a\n  b\t<span> c </span> d", "a b c d"),
        ("a&nbsp;b\u3000c", "a b c"),
        ("<h1>Title</h1>text", "Title\ntext"),
        ("<dl><dt>t<dd>d</dl>", "t\nd"),
        ("<b>x<i>y</b>z</i>", "xyz"),
        ("<button>a</button><button>b</button>", "a b"),
        ("<a href=x>a</a><a href=y>b</a>", "ab"),
        ("x<script>no</script>y<style>no</style>z", "xyz"),
        ("<template>no</template>yes", "yes"),
        ("<noscript><p>no</noscript>yes", "yes"),
        ("<iframe>no</iframe>yes", "yes"),
        ("<p hidden>no</p>yes<div style='display:none'>no</div>", "yes"),
        ("<p hidden=until-found>found</p>", "found"),
        ("<dialog>no</dialog><dialog open>yes</dialog>", "yes"),
        ("<svg><title>no</title><text>yes</text></svg>", "yes"),
        ("<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です", "漢字です"),
        ("<textarea>typed</textarea>", "typed"),
        ("text before <table><tr><td>cell</table>", "text before\ncell"),
        ("<table>fostered<tr><td>cell</table>", "fostered\ncell"),
        ("<p>&notin; &#150; &lt;b&gt;", "∉ \u2013 <b>"),
        ("<plaintext><b>x</b>", "<b>x</b>"),
        ("<math><mi>x</mi><annotation>\\x</annotation></math>", "x"),
        ("", ""),
    ],
)
def test_blocks_stand_apart_and_words_stay_whole(html: str, expected: str) -> None:
    """U18, U23."""
    assert text(f"<!doctype html><body>{html}") == expected


def test_preformatted_text_keeps_its_lines_and_indents() -> None:
    assert text("<p>a<pre>\n\nx = 1\n  <b>y</b> =\t2\n\n</pre>b") == "a\nx = 1\n  y =\t2\nb"


def test_nested_noscript_does_not_swallow_the_body() -> None:
    """F85."""
    html = "<head><noscript><noscript><link rel=x></noscript></noscript><title>T</title></head><body><p>text"
    assert text(html) == "text"
    assert parse(html).title == "T"


def test_self_closed_script_swallows_nothing_in_xhtml() -> None:
    """F85."""
    html = (
        b"<html xmlns='http://www.w3.org/1999/xhtml'><head><script src='x'/><title>T</title></head><body>a<b/>c</body>"
    )
    document = parse(html, "application/xhtml+xml")
    assert document.title == "T"
    assert decode_pile(document.pile_bytes).text == "ac"


@pytest.mark.parametrize(
    "html", ["a\x00b", "a&#0;b", "a&#xD800;b", "a&#xFFFF;b", "a\ufffeb", "a\x1bb&#27;", "<title>a\x00b&#xDFFF;</title>"]
)
def test_text_holds_nothing_that_json_or_protobuf_refuse(html: str) -> None:
    """F89."""
    document = parse(html)
    found = decode_pile(document.pile_bytes).text + document.title
    assert "a" in found
    assert "b" in found
    found.encode()
    assert not any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 or char in "\ufffe\uffff" for char in found)


def test_markers_tell_what_ranges_were() -> None:
    """U19."""
    html = """<!doctype html><nav>menu</nav><main><h1>Head <i>line</i></h1><p>Call <code>f(x)</code> now.
        <blockquote>said</blockquote><ul><li>one<li>two</ul><table><tr><td>a<td>b</table><pre>code\n here</pre>
        <h3>Sub</h3></main><footer>end</footer>"""
    assert marked(html, MarkerKind.HEADING_1) == ["Head line"]
    assert marked(html, MarkerKind.HEADING_3) == ["Sub"]
    assert marked(html, MarkerKind.CODE) == ["f(x)", "code\n here"]
    assert marked(html, MarkerKind.QUOTE) == ["said"]
    assert marked(html, MarkerKind.LIST) == ["one\ntwo"]
    assert marked(html, MarkerKind.TABLE) == ["a b"]
    assert marked(html, MarkerKind.NAVIGATION) == ["menu", "end"]
    (main,) = marked(html, MarkerKind.MAIN)
    assert main.startswith("Head line\nCall f(x) now.")
    assert main.endswith("Sub")


def test_markers_come_in_order_and_inside_the_text() -> None:
    found = pile("<main><article><h1>a</h1><ul><li><code>b</code></ul></article></main>")
    keys = [(marker.start, -marker.end) for marker in found.markers]
    assert keys == sorted(keys)
    assert all(0 <= marker.start < marker.end <= len(found.text) for marker in found.markers)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<article>a</article><p>b", ["a"]),
        ("<article>a</article><article>b</article>", []),
        ("<article>a</article><main>b</main>", ["b"]),
        ("<div role=main>a</div>", ["a"]),
        ("<div>a</div>", []),
    ],
)
def test_main_part_is_named_by_main_or_a_single_article(html: str, expected: list[str]) -> None:
    assert marked(html, MarkerKind.MAIN) == expected


def test_one_text_has_one_digest_whatever_the_page_around_it() -> None:
    """U17, U21."""
    first = parse("<html lang=en><title>A</title><p>same <b>text</b>")
    second = parse("<html lang=en-GB><title>B</title><!-- x --><p class=y>same   <b>text</b>")
    other = parse("<html lang=de><p>same <b>text</b>")
    assert first.pile_digest == second.pile_digest == pile_digest(decode_pile(first.pile_bytes))
    assert len(first.pile_digest) == 64
    assert other.pile_digest != first.pile_digest


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<html lang=EN-us>", "en"),
        ("<html lang=zh_Hans>", "zh"),
        ("<html xml:lang=fr>", "fr"),
        ("<meta http-equiv=Content-Language content='pt-BR, en'>", "pt"),
        ("<html lang=''>", ""),
        ("<html lang=i-klingon>", ""),
        ("<html lang='x y'>", ""),
    ],
)
def test_stated_language_is_kept_with_the_text(head: str, expected: str) -> None:
    """U19."""
    assert parse(f"{head}<p>x").language == expected
    assert pile(f"{head}<p>x").language == expected


def test_plain_text_is_taken_as_it_is() -> None:
    """J155, F87."""
    document = parse(b"<b>one</b>\r\n  two\x00\n", "text/plain; charset=utf-8")
    assert document.kind is ParseKind.DOCUMENT
    assert decode_pile(document.pile_bytes).text == "<b>one</b>\n  two"
    assert document.links == ()


@pytest.mark.parametrize(
    "content_type",
    ["", "application/msword", "text/htmlx", "xtext/html", "text", "image/png", "application/xhtml", "text/xml",
     "application/pdf; x=text/html"],
)  # fmt: skip
def test_other_media_types_are_not_guessed_into_the_index(content_type: str) -> None:
    """J155, F87."""
    document = parse("<title>T</title><p>x", content_type)
    assert document.kind is ParseKind.UNKNOWN_TYPE
    assert document.pile_bytes == b""
    declared = content_type.partition(";")[0]
    assert document.media_type == ("text/html" if declared in ("", "application/msword") else declared)


@pytest.mark.parametrize("content_type", ["TEXT/HTML", " text/html ; charset=utf-8", "text/html;charset=utf-8;x=y"])
def test_parameters_and_case_of_a_media_type_do_not_matter(content_type: str) -> None:
    """J155."""
    assert parse("<title>T</title>", content_type).media_type == "text/html"


@given(st.text(max_size=200))
def test_any_markup_gives_clean_text_with_markers_inside(html: str) -> None:
    """F89."""
    found = pile(html)
    found.text.encode()
    assert "\x00" not in found.text
    assert found.text == found.text.strip("\n")
    assert all(marker.end <= len(found.text) for marker in found.markers)
