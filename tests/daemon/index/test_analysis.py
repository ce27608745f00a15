"""What of a page is indexed, and by which keywords filters find it."""

import pytest

from jird_daemon.index.analysis import INDEXED_CHARS_MAX, PageText, analyze_page, language_code, url_words
from jird_daemon.url.canonical import split
from jird_native import Field, Namespace, tokenize

PAGE = PageText(
    page_id=7,
    origin_id=3,
    url="https://docs.example.org/guide/b%C3%BCcher_list.html?page=2",
    title="Title",
    headings=("One", "Two"),
    anchors=("the guide",),
    body="Body text",
    language="de-AT",
    date_s=86_400,
)


def test_fields_hold_the_parts_of_a_page() -> None:
    document = analyze_page(PAGE)
    assert document.page_id == 7
    assert document.origin_id == 3
    assert document.date_s == 86_400
    assert document.fields == (
        "Title",
        "One\nTwo",
        "the guide",
        "docs.example.org guide bücher_list page 2",
        "Body text",
    )


def test_keywords_name_host_sites_and_language() -> None:
    """UQ6: site: finds a page by its host and every parent domain, host: by the host alone."""
    keywords = analyze_page(PAGE).keywords
    assert [text for kind, text in keywords if kind == Namespace.HOST] == ["docs.example.org", "docs.example.org:443"]
    assert [text for kind, text in keywords if kind == Namespace.SITE] == ["docs.example.org", "example.org", "org"]
    assert [text for kind, text in keywords if kind == Namespace.LANGUAGE] == ["de"]


def test_address_has_no_parent_domains() -> None:
    for url, host in [("https://127.0.0.1:8443/", "127.0.0.1"), ("https://[::1]/", "[::1]")]:
        keywords = analyze_page(PageText(1, 1, url)).keywords
        assert [text for kind, text in keywords if kind == Namespace.SITE] == [host]


def test_characters_beyond_the_cap_are_cut_from_the_body_first() -> None:
    """J157: title first."""
    page = PageText(1, 1, "https://a.org/", title="t" * 1000, body="b" * INDEXED_CHARS_MAX)
    fields = analyze_page(page).fields
    assert sum(map(len, fields)) == INDEXED_CHARS_MAX
    assert fields[Field.TITLE] == "t" * 1000
    assert len(fields[Field.BODY]) == INDEXED_CHARS_MAX - 1000 - len("a.org")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://www.example.org/", "example.org"),
        ("https://a.org/guide/index.html", "a.org guide"),
        ("https://a.org/how-to/install.php", "a.org how-to install"),
        ("https://a.org/x.tar.gz", "a.org x.tar.gz"),
        ("https://a.org/%FF%E4x", "a.org x"),
        ("https://a.org/search?q=a+b", "a.org search q a b"),
    ],
)
def test_url_words_are_what_a_person_reads(url: str, words: str) -> None:
    assert " ".join(url_words(split(url)).split()) == words


def test_language_code_packs_two_letters() -> None:
    assert language_code("de-AT") == ord("d") << 8 | ord("e")
    assert language_code("") == language_code("haw") == language_code("日本") == 0


def test_nul_in_text_is_a_separator() -> None:
    """F89."""
    assert [token.term for token in tokenize("a\x00b")] == ["a", "b"]
