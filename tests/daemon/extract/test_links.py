"""Links of a page (J136-J148, J161, J163, U45, U47, U161, U162, F23, F39, F53)."""

import pytest

from jird_daemon.extract.destinations import (
    COMMUNICATION,
    DOCUMENT,
    FEED,
    FILE,
    MEDIA_AUDIO,
    MEDIA_IMAGE,
    MEDIA_VIDEO,
    SCRIPT,
    STYLESHEET,
)
from jird_daemon.extract.document import ParsedDocument, ParseJob
from jird_daemon.extract.elements import LocationFlag
from jird_daemon.extract.limits import DOCUMENT_LINKS_MAX
from jird_daemon.extract.links import IN_LINK, OUT_LINK, REL_ME, REL_NOFOLLOW, REL_TAG, SELF_LINK
from jird_daemon.extract.page import parse_page
from jird_daemon.store.tables import Link

URL = "https://example.org/a/page?x=1"
NOW_S = 1_796_083_200.0


def parse(html: str, url: str = URL, **headers: tuple[str, ...]) -> ParsedDocument:
    return parse_page(ParseJob(url, html.encode(), "text/html; charset=utf-8", **headers), NOW_S)


def targets(html: str, url: str = URL) -> list[str]:
    return [link.to_url for link in parse(html, url).links]


def only(html: str) -> Link:
    (link,) = parse(html).links
    return link


def test_links_come_in_tree_order_with_their_text() -> None:
    found = parse("<p><a href=b>one <b>two</b></a><area href=/c alt=map><a name=x>no</a><iframe src=d>x</iframe>").links
    assert [(link.to_url, link.text) for link in found] == [
        ("https://example.org/a/b", "one two"),
        ("https://example.org/c", "map"),
        ("https://example.org/a/d", ""),
    ]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=x>a<h2>b</h2><p>c</p></a>", "a b c"),
        ("<a href=x><img alt='the  picture' src=i></a>", "the picture"),
        ("<a href=x title=t></a>", "t"),
        ("<a href=x aria-label=l><svg></svg></a>", "l"),
        ("<a href=x> </a>", ""),
        ("<div hidden><a href=x>Menu <b>item</b></a></div>", "Menu item"),
        ("<table><tr><td><a href=x>a</a><td>b</table>", "a"),
        ("<p>so<a href=x>me</a>thing", "me"),
    ],
)
def test_anchor_text(html: str, expected: str) -> None:
    assert only(html).text == expected


@pytest.mark.parametrize(
    "bad", ["http://[IP-Adresse", "http://www.ghostscript.com]", "//[::1", "http://[http//w.on24.com/r.htm", "http:/",
            "a\\b", "?q=100%", "data:,x", "javascript:x()", "https://u:p@h.org/"],
)  # fmt: skip
def test_one_bad_link_costs_only_itself(bad: str) -> None:
    """F39, J143."""
    assert targets(f"<a href=one>1</a><a href='{bad}'>x</a><a href=two>2</a>") == [
        "https://example.org/a/one",
        "https://example.org/a/two",
    ]


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("mailto:a@b.org", "mailto:a@b.org"),
        (" MAILTO:A@b.org?subject=x&body=y ", "mailto:A@b.org"),
        ("tel:+49-30-1234", "tel:+49-30-1234"),
        ("xmpp:room@b.org?join", "xmpp:room@b.org"),
    ],
)
def test_link_to_a_person_is_kept_and_never_followed(href: str, expected: str) -> None:
    """U45, J143."""
    link = only(f"<footer><address><a href='{href}'>write</a></address></footer>")
    assert (link.to_url, link.text, link.destination_type, link.locality) == (
        expected,
        "write",
        COMMUNICATION,
        OUT_LINK,
    )
    assert link.location_flags == LocationFlag.IN_FOOTER | LocationFlag.IN_ADDRESS
    assert not link.is_crawlable


@pytest.mark.parametrize("href", ["mailto:", "mailto: a b", "tel:a\\b", "mailto:" + "x" * 400, "about:blank", "news:x"])
def test_link_that_leads_to_nobody_is_left_out(href: str) -> None:
    assert targets(f'<a href="{href}">x</a>') == []


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=x>l</a><base href=/b/><base href=/c/>", "https://example.org/b/x"),
        ("<base target=_blank><base href=/b/><a href=x>l</a>", "https://example.org/b/x"),
        ("<base href='http://['><base href=/c/><a href=x>l</a>", "https://example.org/a/x"),
        ("<base href='data:,'><base href=/c/><a href=x>l</a>", "https://example.org/a/x"),
        ("<base href=https://other.org/q/><a href=x>l</a>", "https://other.org/q/x"),
    ],
)
def test_first_base_with_href_decides(html: str, expected: str) -> None:
    """J140."""
    assert targets(html) == [expected]


def test_links_are_resolved_against_the_url_that_answered() -> None:
    """F53."""
    assert targets("<a href=c>l</a>", "https://example.org/b/") == ["https://example.org/b/c"]


def test_link_is_unique_by_target_and_keeps_the_better_place() -> None:
    """J161, U157: headlines beat lists, the page's text beats its frame."""
    html = """<nav><a href=x rel=nofollow>menu</a></nav><main><ul><li><a href=x#part>list</a></ul>
        <h2><a href=x>head</a></h2></main><footer><a href=x>foot</a></footer>"""
    link = only(html)
    assert link.text == "head"
    assert link.location_flags & LocationFlag.IN_HEADLINE
    assert not link.is_nofollow
    assert link.is_crawlable


def test_rel_nofollow_stays_in_the_graph_and_out_of_discovery() -> None:
    """J139, U64."""
    link = only("<a href=x rel='Me NOFOLLOW tag'>l</a>")
    assert link.is_nofollow
    assert not link.is_crawlable
    assert link.rel_flags == REL_NOFOLLOW | REL_ME | REL_TAG


def test_oversized_rel_is_nofollow_and_no_canonical() -> None:
    """J163."""
    long = "x" * 8_200
    assert only(f"<a href=x rel='me {long}'>l</a>").is_nofollow
    assert parse(f"<link rel='canonical {long}' href=/c>").canonical_url == ""


def test_page_nofollow_keeps_links_but_makes_none_crawlable() -> None:
    """J138."""
    for document in (parse("<meta name=robots content=nofollow><a href=x>l</a>"),
                     parse("<a href=x>l</a>", x_robots_tag=("nofollow",))):  # fmt: skip
        assert document.is_nofollow
        assert [(link.to_url, link.is_nofollow, link.is_crawlable) for link in document.links] == [
            ("https://example.org/a/x", True, False)
        ]


@pytest.mark.parametrize(
    ("html", "headers", "expected"),
    [
        ('<META NAME="ROBOTS" CONTENT="NOINDEX">', (), (True, False)),
        ("<meta name='robots'content='noindex'/>", (), (True, False)),
        ("<meta name=Jird content=none>", (), (True, True)),
        ("<meta name=otherbot content=none>", (), (False, False)),
        ("<meta name=robots content=index>", ("noindex",), (True, False)),
        ("<meta name=robots content=nofollow>", ("otherbot: none, jird: noindex",), (True, True)),
        ("<meta name=robots content='unavailable_after: 2020-01-01'>", (), (True, False)),
        ("<noscript><meta name=robots content=noindex></noscript>", (), (False, False)),
        ("<body><p>x<meta name=robots content=noindex>", (), (True, False)),
    ],
)
def test_directives_of_meta_and_header_combine(
    html: str, headers: tuple[str, ...], expected: tuple[bool, bool]
) -> None:
    """J136, J137, F17."""
    document = parse(html + "<a href=x>l</a>", x_robots_tag=headers)
    assert (document.is_noindex, document.is_nofollow) == expected
    assert len(document.links) == 1


@pytest.mark.parametrize(
    ("html", "header", "expected"),
    [
        ("<link rel=canonical href=/c>", (), "https://example.org/c"),
        ("<link rel='Alternate CANONICAL' href=/c><link rel=canonical href=/d>", (), "https://example.org/c"),
        ("<base href=/b/><link rel=canonical href=c>", (), "https://example.org/b/c"),
        ("<link rel=canonical href='/c#x'>", (), "https://example.org/c"),
        ("<link rel=canonical><link rel=canonical href=/d>", (), "https://example.org/d"),
        ("", ('</c>; rel="next", </d>; rel=canonical',), "https://example.org/d"),
        ("<link rel=canonical href=/c>", ("</d>; rel=canonical",), "https://example.org/c"),
        ("<link rel=canonical href='http://['><link rel=canonical href=/d>", (), ""),
        ("<link rel=canonical href=https://other.org/>", (), ""),
        ("<link rel=canonical href=http://example.org/c>", (), ""),
        (f"<link rel=canonical href='{URL}'>", (), ""),
        ("<link rel='canonical nofollow' href=/c>", (), ""),
        ("<meta name=robots content=nofollow><link rel=canonical href=/c>", (), ""),
    ],
)
def test_canonical_hint(html: str, header: tuple[str, ...], expected: str) -> None:
    """J147, J148, F23."""
    document = parse(html, link=header)
    assert document.canonical_url == expected
    if expected:
        assert document.links[0].to_url == expected
        assert document.links[0].is_crawlable


def test_canonical_slot_is_reserved_among_many_links() -> None:
    """J161."""
    many = "".join(f"<a href=/{number}>l</a>" for number in range(DOCUMENT_LINKS_MAX + 10))
    document = parse(many + "<link rel=canonical href=/c>")
    assert len(document.links) == DOCUMENT_LINKS_MAX
    assert document.links[0].to_url == "https://example.org/c"
    assert "document_links" in document.truncated


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("#top", SELF_LINK),
        ("", SELF_LINK),
        ("?y=2", IN_LINK),
        ("/b", IN_LINK),
        ("http://example.org/a/page?x=1", IN_LINK),
        ("https://example.org:8443/", IN_LINK),
        ("https://example.org.evil.com/", OUT_LINK),
        ("https://www.example.org/", OUT_LINK),
    ],
)
def test_locality(href: str, expected: int) -> None:
    """U47, U161."""
    assert only(f"<a href='{href}'>l</a>").locality == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("href=/x", DOCUMENT), ("href=/x.html", DOCUMENT), ("href=/x.PDF?y", DOCUMENT), ("href=/v1.2", DOCUMENT),
        ("href=/x.tar.gz", FILE), ("href=/x.css", STYLESHEET), ("href=/x.js", SCRIPT), ("href=/x.rss", FEED),
        ("href=/x type=application/atom+xml", FEED), ("href=/x.JPG", MEDIA_IMAGE), ("href=/x.mp3", MEDIA_AUDIO),
        ("href=/x.webm", MEDIA_VIDEO), ("href=/x type='video/mp4; codecs=x'", MEDIA_VIDEO),
    ],
)  # fmt: skip
def test_destination_type(markup: str, expected: int) -> None:
    """U45."""
    assert only(f"<a {markup}>l</a>").destination_type == expected


@pytest.mark.parametrize(
    ("before", "flag"),
    [
        ("<header>", LocationFlag.IN_HEADER), ("<footer>", LocationFlag.IN_FOOTER), ("<aside>", LocationFlag.IN_ASIDE),
        ("<nav>", LocationFlag.IN_NAV), ("<form>", LocationFlag.IN_FORM), ("<main>", LocationFlag.IN_MAIN),
        ("<article>", LocationFlag.IN_ARTICLE), ("<section>", LocationFlag.IN_SECTION),
        ("<table><tr><td>", LocationFlag.IN_TABLE), ("<figure>", LocationFlag.IN_FIGURE),
        ("<address>", LocationFlag.IN_ADDRESS), ("<pre>", LocationFlag.IN_CODE), ("<code>", LocationFlag.IN_CODE),
        ("<h4>", LocationFlag.IN_HEADLINE), ("<ol><li>", LocationFlag.IN_LIST), ("<dl><dd>", LocationFlag.IN_LIST),
        ("<p>", LocationFlag.IN_PARAGRAPH), ("<div>", LocationFlag(0)), ("<div role=navigation>", LocationFlag.IN_NAV),
    ],
)  # fmt: skip
def test_each_location_has_its_flag(before: str, flag: LocationFlag) -> None:
    """U162, U64."""
    assert only(f"{before}<span><a href=x>l</a>").location_flags == flag


def test_flags_end_with_their_elements() -> None:
    """U162."""
    found = parse("<main><nav><p><a href=1>l</a></p></nav><a href=2>l</a></main><a href=3>l</a>").links
    nested = LocationFlag.IN_MAIN | LocationFlag.IN_NAV | LocationFlag.IN_PARAGRAPH
    assert [link.location_flags for link in found] == [nested, LocationFlag.IN_MAIN, 0]
    assert [flag.value for flag in LocationFlag] == [1 << bit for bit in range(15)]


def test_link_around_a_headline_is_marked() -> None:
    """U162, U64."""
    assert only("<a href=x><h3>t</h3></a>").has_headline
    assert not only("<a href=x>t</a><h3>u</h3>").has_headline


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta http-equiv=Refresh content='0; URL=/r'>", ["https://example.org/r"]),
        ("<meta http-equiv=refresh content=\"5;url='r?x'\">", ["https://example.org/a/r?x"]),
        ("<noscript><meta http-equiv=refresh content='0;url=/x'></noscript>", []),
        ("<meta http-equiv=refresh content=30>", []),
    ],
)
def test_refresh_is_a_link_but_not_inside_noscript(html: str, expected: list[str]) -> None:
    """F21."""
    assert targets(html) == expected


def test_feeds_and_neighbours_are_linked_from_the_head() -> None:
    found = parse("""<link rel=alternate type=application/rss+xml href=/feed title='News  feed'>
        <link rel=next href=/2><link rel=stylesheet href=/s.css><link rel='alternate stylesheet' href=/t.css>
        <link rel=icon href=/i.ico>""").links
    assert [(link.to_url, link.text, link.destination_type) for link in found] == [
        ("https://example.org/feed", "News feed", FEED),
        ("https://example.org/2", "", DOCUMENT),
    ]


def test_links_in_templates_and_scripts_are_none() -> None:
    assert targets("<template><a href=x>l</a></template><script>'<a href=y>'</script><!-- <a href=z> -->") == []


def test_query_of_a_link_is_encoded_like_its_page() -> None:
    body = "<meta charset=windows-1251><a href='/?q=мир'>l</a>".encode("windows-1251")
    document = parse_page(ParseJob(URL, body, "text/html"), NOW_S)
    assert document.links[0].to_url == "https://example.org/?q=%EC%E8%F0"
