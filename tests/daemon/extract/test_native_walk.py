"""The walk in C against the walk in Python: the same tree, field by field."""

import random

import pytest
from selectolax.lexbor import LexborHTMLParser

from jird_daemon.extract import native_walk
from jird_daemon.extract.elements import ELEMENTS, Layout, LocationFlag, Role
from jird_daemon.extract.limits import DOCUMENT_DEPTH_MAX, DOCUMENT_NODES_MAX, DOCUMENT_TEXT_CHARS_MAX, MARKERS_MAX
from jird_daemon.extract.native_walk import walk_page
from jird_daemon.extract.tree import ATTRIBUTE_NAMES, RAW_LINKS_MAX, PageTree, RawLink
from jird_daemon.extract.walk import walk_tree
from jird_native import page as native
from jird_native._page import lib

PIECES = (
    "word", " ", "\n", " two words\t", "\u3000", "\xa0x", "\u2028", "\x85", "é", "日本", "&#x1c;", "&amp;", "&#0;",
    "<br>", "<!-- c -->", "<a href=x>", "<a href=''>", "<a href>", "<a name=n>", "</a>", "<h2>", "</h2>",
    "<pre>\n\n", "</pre>", "<div hidden>", "<p hidden=until-found>", "<p style='x; display:none'>",
    "<p style='display: none'>", "</div>", "<div role=main>", "<div role=' Navigation\xa0'>",
    "<section role=none hidden>", "<nav>", "</nav>", "<dialog>", "<dialog open>", "</dialog>",
    "<svg><title>t</title>", "</svg>", "<math><annotation>", "</math>", "<title>T &lt;</title>",
    "<img src=i alt='a  b'>", "<img alt=' '>", "<picture><source srcset=s>", "</picture>", "<iframe src=f>",
    "</iframe>", "<meta name=a content=b>", "<link rel=next href=n>", "<base href=/b>", "<time datetime=2020>",
    "<code>", "</code>", "<table><tr><td>", "</table>", "<ul><li>", "</ul>", "<script>s</script>",
    "<template>t</template>", "<x-y>", "</x-y>", "<main>", "<article>", "</article>", "<q>",
    "<div class='articleBody x'>", "<div id=comments itemprop=text>", "<p>A sentence, and more of it.</p>",
    "<a href=b><div>", "<textarea>\nt</textarea>", "<select><option>o</select>", "<ruby>k<rt>r",
)  # fmt: skip


def fields(tree: PageTree) -> dict[str, object]:
    """Everything in a tree, comparable; of an element only the attributes that are read."""
    found: dict[str, object] = {
        name: getattr(tree, name) for name in ("text", "markers", "found", "title", "truncated", "has_unwanted")
    }
    found["title"] = tree.title or ""
    found["root"] = _read(tree.root_attributes)
    for name in ("images", "metas", "head_links", "bases", "times"):
        found[name] = [_read(attributes) for attributes in getattr(tree, name)]
    found["links"] = [_link(link) for link in tree.links]
    return found


def _read(attributes: dict[str, str | None]) -> dict[str, str | None]:
    return {name: value for name, value in attributes.items() if name in ATTRIBUTE_NAMES}


def _link(link: RawLink) -> tuple[object, ...]:
    return (
        link.target, _read(link.attributes), link.flags, link.has_headline, link.start,
        link.end if link.start >= 0 else -1, link.text.split(), link.alt.split(),
    )  # fmt: skip


def both(html: str) -> PageTree:
    """Walk a page both ways; gives the tree after comparing."""
    parser = LexborHTMLParser(html, scripting=True)
    fast, slow = walk_page(parser), walk_tree(parser)
    assert fields(fast) == fields(slow)
    walk = native_walk._native_walk()
    assert walk is not None
    assert walk.blocks() == slow.blocks
    return fast


def test_the_parser_exports_what_the_walk_in_c_needs() -> None:
    """Otherwise every page would be read the slow way, and nothing here would be compared."""
    assert native_walk._native_walk() is not None


@pytest.mark.parametrize("seed", range(300))
def test_random_markup_gives_the_same_tree_both_ways(seed: int) -> None:
    """J156-J162, U162."""
    rng = random.Random(seed)
    both("".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 120))))


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_every_element_means_the_same_both_ways(name: str) -> None:
    """J156, J157: alone, nested in itself, hidden, and with text around it."""
    both(f"a<{name}>b <a href=x>c</a></{name}>d<{name} hidden> e <a href=y> f <b>g</b></a></{name}>h <{name}><{name}>i")


@pytest.mark.parametrize(
    ("html", "limit"),
    [
        ("<p>a <b>b</b> c" * (DOCUMENT_NODES_MAX // 4), "document_nodes"),
        ("<span>a <i>b " * DOCUMENT_DEPTH_MAX + "<p>c<br>d<h1>e</h1><script>f</script>", "document_depth"),
        ("<p>" + "word  " * (DOCUMENT_TEXT_CHARS_MAX // 5 + 9) + "<h1>last</h1>", "document_text_chars"),
        ("<a href=x>a</a>" * (RAW_LINKS_MAX // 2), ""),
        ("<code>a</code>" * (DOCUMENT_NODES_MAX // 3), ""),
    ],
)
def test_limits_are_met_at_the_same_place_both_ways(html: str, limit: str) -> None:
    """J161."""
    assert both(html).truncated == ({limit} if limit else set())


def test_more_links_and_markers_than_allowed_are_left_out_both_ways() -> None:
    """J161: and what comes behind the last one is still read as text."""
    assert both("<a href=x></a>" * (RAW_LINKS_MAX + 9)).truncated == {"document_links"}
    assert len(both("<code></code>" * (MARKERS_MAX + 9)).markers) == MARKERS_MAX


def test_a_page_with_a_main_part_in_its_text_gives_it_both_ways() -> None:
    """U19, U23."""
    prose = "<p>A sentence, and more of it, which is long enough to be read as one.</p>" * 9
    tree = both(
        f"<div class=menu><a href=a>one</a></div><div><div><b>Lead</b>{prose}</div><ul><li><a href=b>b</a></ul>"
    )
    assert [kind for kind, _, _ in tree.found] == [11, 0, 11]


def test_numbers_of_layouts_and_roles_are_those_of_the_c_code() -> None:
    for layout in Layout:
        assert getattr(lib, f"PAGE_{layout.name}") == layout
    for flag in LocationFlag:
        assert getattr(lib, f"PAGE_{flag.name}") == flag
    for role in Role:
        assert getattr(lib, "PAGE_NO_ROLE" if role == Role.NONE else f"PAGE_{role.name}") == role


def test_a_parser_without_the_functions_is_read_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the functions are missing, a page is read."""
    with pytest.raises(NotImplementedError, match="does not export"):
        native.PageWalk(native_walk._rules(), "/nonexistent/library.so")
    monkeypatch.setattr(native_walk, "_native_walk", lambda: None)
    html = "<title>t</title><p>text <a href=x>link</a>"
    assert fields(walk_page(LexborHTMLParser(html))) == fields(walk_tree(LexborHTMLParser(html)))
