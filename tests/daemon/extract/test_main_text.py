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
