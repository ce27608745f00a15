"""The main part of a page."""

import pytest

from jird_daemon.extract.document import ParseJob
from jird_daemon.extract.main_text import main_text
from jird_daemon.extract.page import parse_page
from jird_daemon.store.text_pile import Marker, MarkerKind, TextPile, decode_pile


def main_of(html: str) -> str:
    document = parse_page(ParseJob("https://example.org/", html.encode(), "text/html"), 1_796_083_200.0)
    return main_text(decode_pile(document.pile_bytes))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<nav>menu</nav><main><h1>h</h1><p>a<aside>side</aside><p>b</main><footer>f</footer>", "h\na\nb"),
        ("<nav>menu</nav><p>a<p>b<footer>f</footer>", "a\nb"),
        ("<header><h1>h</h1></header><article>a</article><div>ads</div>", "a"),
        ("<main>a</main><p>x<main>b</main>", "a\nb"),
        ("<main><nav>only</nav></main>", ""),
        ("", ""),
    ],
)
def test_main_part_without_navigation(html: str, expected: str) -> None:
    assert main_of(html) == expected


def test_ranges_may_nest_and_overlap() -> None:
    pile = TextPile(
        "one two three four",
        (
            Marker(MarkerKind.MAIN, 0, 13),
            Marker(MarkerKind.MAIN, 4, 7),
            Marker(MarkerKind.NAVIGATION, 4, 8),
            Marker(MarkerKind.NAVIGATION, 5, 7),
        ),
    )
    assert main_text(pile) == "one\nthree"


PROSE = "A sentence of the text, and more of it, so that it is long enough to be read as prose. "
MENU = "".join(f"<li><a href=/{n}>Menu entry {n}</a></li>" for n in range(8))


def test_main_part_is_told_from_menus_without_any_semantic_mark() -> None:
    """U19, U23: by what the text is like; the rest stays in the pile."""
    html = f"<div><ul>{MENU}</ul></div><div><h1>Head</h1>{f'<p>{PROSE}</p>' * 4}</div><div><ul>{MENU}</ul></div>"
    document = parse_page(ParseJob("https://example.org/", html.encode(), "text/html"), 1_796_083_200.0)
    pile = decode_pile(document.pile_bytes)
    assert main_text(pile) == "\n".join(["Head", *[PROSE.strip()] * 4])
    assert pile.text.count("Menu entry 3") == 2


def test_main_part_of_a_language_without_spaces() -> None:
    """U23."""
    prose = "これは本文の文章であり、句読点を含み、十分に長いので散文として読まれます。" * 2
    menu = "".join(f"<td><a href=/{n}>項目{n}</a></td>" for n in range(9))
    assert main_of(f"<table><tr>{menu}</table><div>{f'<p>{prose}</p>' * 4}</div><div>{menu}</div>") == "\n".join(
        [prose] * 4
    )


def test_parts_of_a_text_in_blocks_of_their_own_are_one_main_part() -> None:
    """U23: and what stands between them, made of links, is not of it."""
    part = f"<div>{f'<p>{PROSE}</p>' * 4}</div>"
    html = f"<div class=menu><ul>{MENU}</ul></div><div class=x>{part}<div><ul>{MENU}</ul></div>{part}{part}</div>"
    assert main_of(html) == "\n".join([PROSE.strip()] * 12)


@pytest.mark.parametrize("name", ["class='Comments-list'", "id=relatedPosts", "class='social-share'"])
def test_what_is_named_for_something_beside_the_text_is_not_main(name: str) -> None:
    """U23."""
    body = f"<div class=article-body>{f'<p>{PROSE}</p>' * 9}<div {name}><p>Aside. {PROSE}</p></div></div>"
    assert main_of(f"{body}<ul>{MENU}</ul>") == "\n".join([PROSE.strip()] * 9)


def test_declared_main_part_is_kept_where_the_text_tells_only_a_small_piece_of_it() -> None:
    """U23: a page of figures and names with one paragraph."""
    rows = "".join(f"<tr><td>{n}<td>value {n}" for n in range(900))
    main = main_of(f"<main><div>{f'<p>{PROSE}</p>' * 4}</div><table>{rows}</table></main><ul>{MENU}</ul>")
    assert "value 899" in main
    assert "Menu entry" not in main


def test_page_without_prose_has_no_main_part_and_loses_nothing() -> None:
    """U23."""
    assert main_of(f"<ul>{MENU}</ul>").count("Menu entry") == 8
