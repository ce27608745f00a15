"""Links of one page, resolved without a parser where they are plain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.errors import InvalidUrlError
from jird_daemon.url.canonical import URL_CHARS_MAX, html_link
from jird_daemon.url.references import LinkResolver

BASES = (
    "https://example.org/",
    "https://example.org/a/b/c?old=1/2",
    "http://example.org:8080/a//b/",
    "https://[2001:db8::1]/x/%20y/z",
)


def by_parser(href: str, base: str) -> str:
    try:
        return html_link(href, base)
    except InvalidUrlError:
        return ""


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    "href",
    ["", "#top", "x", "x/y.html#z", "/x", "/", "//example.net/x", "../x", "../", "..", "../../../../x", "./x", "x/../y",
     "?q", "?", "x?", "x?a=b&c=/d?e", "a:b", "x/a:b", "mailto:a@b", "http:x", "https://example.net", "/.x/..y", "x//y",
     "https://example.net/x?y", "https://EXAMPLE.net/x", "https://example.net:443/x", "https://127.1/x",
     "https://-x-/y", "https://a..b/y", "https://0x7f/", "x y", " x ", "x #y", " #y", "x\ty", "x\\y", "x%7ey", "x%zz",
     "é", "x'y", "x?'y", "x|y", "x/..", "x/.", "...", "../.../x", "javascript:void(0)", "tel:1",
     "x;y=1,2!$()*+@~", "x^y"],
)  # fmt: skip
def test_short_way_gives_what_the_parser_gives(href: str, base: str) -> None:
    """J141-J146: the same identity on both ways, for links that are plain and for links that only look so."""
    assert LinkResolver(base, "utf-8").resolve(href) == by_parser(href, base)


@given(
    st.text(alphabet="ab./?:#%2e@-~_=&;'Z \\|", max_size=24),
    st.sampled_from(("", "http://", "https://", "//", "/", "../", "../../", "https://example.org/")),
    st.sampled_from(BASES),
)
def test_any_reference_resolves_as_the_parser_says(text: str, start: str, base: str) -> None:
    """J141-J146."""
    assert LinkResolver(base, "utf-8").resolve(start + text) == by_parser(start + text, base)


def test_target_beyond_the_longest_identity_is_none() -> None:
    """J146: also when it is the base that makes it too long."""
    resolver = LinkResolver("https://example.org/" + "a/" * 1_000, "utf-8")
    room = URL_CHARS_MAX - len(resolver.base)
    assert resolver.resolve("x" * room) == resolver.base + "x" * room
    assert resolver.resolve("x" * (room + 1)) == ""
