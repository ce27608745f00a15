"""Leaf or index: the formula, what is counted, and the misses that are known."""

import pytest

from jird_daemon.extract.document import ParseJob
from jird_daemon.extract.indexiness import measure_indexiness
from jird_daemon.extract.page import parse_page
from jird_daemon.index.documents import static_rank


def score(body: str, head: str = "") -> int:
    html = f"<!doctype html><html><head><title>t</title>{head}</head><body>{body}</body></html>"
    document = parse_page(ParseJob("https://a.test/dir/", html.encode(), "text/html; charset=utf-8"), 1_796_000_000.0)
    return measure_indexiness(document.links, is_dated=document.published_s is not None).score


def links(count: int, pattern: str) -> str:
    return "".join(pattern.format(number) for number in range(count))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>words</p>", -10),
        ("<main><h2><a href='/b'>one</a></h2></main>", 1),
        ("<main><a href='/b'><h2>around it</h2></a></main>", 1),
        ("<main><ul><li><a href='/b'>x</a></ul></main>", -5),
        ("<main><ul><li><h3><a href='/b'>both</a></h3></ul></main>", 1),
        ("<main><h2><a href='#x'>to itself</a></h2></main>", -30),
        ("<main><ul><li><a href='#x'>contents</a></ul></main>", -15),
        ("<main><p><a href='https://b.test/'>out</a> <a href='/in'>in, plain</a></main>", -11),
        ("<nav><h2><a href='/b'>menu</a></h2></nav><aside><h2><a href='/c'>c</a></h2></aside>", -10),
        ("<header><h2><a href='/b'>x</a></h2></header><footer><h2><a href='/c'>y</a></h2></footer>", -10),
        ("<article><header><h2><a href='/b'>x</a></h2></header></article>", 1),
    ],
)
def test_each_kind_of_link_has_its_weight(body: str, expected: int) -> None:
    """U156, U157, U158, U161."""
    assert score(body) == expected


def test_a_publishing_date_makes_a_leaf() -> None:
    """U156, U159."""
    date = "<meta property='article:published_time' content='2020-01-01T00:00:00Z'>"
    assert score("<main><h2><a href='/b'>one</a></h2></main>", date) == -24


def test_a_list_of_articles_is_an_index_and_an_article_is_a_leaf() -> None:
    """U159."""
    assert score(f"<main>{links(10, '<h2><a href=/p{0}>post</a></h2>')}</main>") == 100
    assert score(f"<article><h1>Post</h1><p>{links(5, '<a href=https://x{0}.test/>see</a> ')}</p></article>") == -15


def test_known_miss_an_index_in_a_table_is_not_seen() -> None:
    """U160: links in tables are not counted, for the sake of leaves that are laid out with tables."""
    assert score(f"<main><table>{links(30, '<tr><td><a href=/p{0}>post</a>')}</table></main>") == -10


def test_known_miss_a_blog_of_whole_posts_is_taken_for_a_leaf() -> None:
    """U160: hundreds of links out of the site, pictures among them, outweigh the headlines of its posts."""
    posts = links(8, "<h3><a href=/post{0}>post</a></h3>")
    pictures = links(200, "<a href=https://img.test/{0}><img src=/i.png></a>")
    text = links(250, "<a href=https://src.test/{0}>source</a>")
    assert score(f"<main>{posts}{pictures}{text}</main>") == 8 * 11 - 450 - 10


def test_leaves_with_tables_stay_leaves_unless_they_have_lists_too() -> None:
    """U160: a reference page is below zero; a wiki page with some lists is barely above it."""
    contents = "<ul><li><a href='#s'>section</a></ul>"
    table = f"<table>{links(40, '<tr><td><a href=/t{0}>type</a>')}</table>"
    assert score(f"<main>{contents}{table}</main>") < 0
    assert score(f"<main>{links(3, '<ul><li><a href=/w{0}>see also</a></ul>')}{table}</main>") == 5


def test_the_column_of_the_index_holds_every_score_in_order() -> None:
    """0 stands for unknown there."""
    assert [static_rank(value) for value in (-100_000, -1, 0, 1, 100_000)] == [1, 32_767, 32_768, 32_769, 65_535]
