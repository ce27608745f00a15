# ruff: noqa: RUF001 - texts in many scripts are the point of this file
"""Snippets: which part of a page is shown, and what is highlighted in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.index.query import parse_query
from jird_daemon.index.snippet import ELLIPSIS, SNIPPET_CHARS, SNIPPET_SCAN_CHARS, Snippet, make_snippet

FILLER = "Nothing of note stands here, word after word. "


def snippet(text: str, query: str, **options: object) -> Snippet:
    return make_snippet(text, parse_query(query).terms, **options)  # type: ignore[arg-type]


def highlighted(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.highlights]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("The Quick fox", "quick", ["Quick"]),
        ("祝你们新年快乐", "快乐", ["快乐"]),
        ("新年快乐", "年快乐", ["年快乐"]),
        ("半角のﾃｽﾄﾞです", "テスド", ["ﾃｽﾄﾞ"]),
        ("本を読む", "本", ["本"]),
        ("Un résumé court", "resume", ["résumé"]),
        ("plain resume", "résumé", ["resume"]),
        ("e\u0301te\u0301 ici", "été", ["e\u0301te\u0301"]),
        ("In der Straße", "STRASSE", ["Straße"]),
        ("𝄞𝄞 clef 𝄞", "clef", ["clef"]),
        ("call foo_bar now", "foo_bar", ["foo_bar"]),
        ("John’s book", "john", ["John"]),
        ("learn C++ now", "c++", ["C++"]),
        ("철수는 책을", "책", ["책"]),
    ],
)
def test_highlight_covers_exactly_what_matched(text: str, query: str, expected: list[str]) -> None:
    """F105."""
    assert highlighted(snippet(text, query)) == expected


def test_window_holds_the_most_different_terms() -> None:
    text = FILLER * 5 + "alpha alpha alpha. " + FILLER * 20 + "alpha beside beta. " + FILLER * 20 + "beta."
    assert "alpha beside beta." in snippet(text, "alpha beta").text


def test_window_around_main_content_shows_no_menu_and_no_footer() -> None:
    text = "Start\nRhubarb\nThe leaves are poisonous.\nAll about the garden"
    main = [(text.index("Rhubarb"), text.index("\nAll"))]
    assert snippet(text, "leaves", main=main).text == "Rhubarb · The leaves are poisonous."
    assert snippet(text, "absent", main=main).text == "Rhubarb · The leaves are poisonous."
    assert snippet(text, "the leaves", main=main).text == "Rhubarb · The leaves are poisonous."
    assert "All about the garden" in snippet(text, "garden", main=main).text


def test_rare_term_of_the_page_decides_between_windows() -> None:
    text = FILLER * 10 + ("alpha. " + FILLER * 9) * 4 + "beta. " + FILLER * 10
    assert "beta" in snippet(text, "alpha beta").text


def test_earlier_window_wins_a_tie() -> None:
    text = FILLER * 10 + "First alpha. " + FILLER * 20 + "Second alpha. " + FILLER * 10
    assert "First alpha" in snippet(text, "alpha").text


def test_match_in_the_main_content_is_preferred() -> None:
    menu, main = "Menu alpha. " + FILLER * 10, "Main alpha. " + FILLER * 10
    found = snippet(menu + main, "alpha", main=[(len(menu), len(menu + main))])
    assert "Main alpha" in found.text


def test_window_begins_with_a_sentence_and_cuts_no_word() -> None:
    text = FILLER * 20 + "Here is alpha. " + "unbreakable " * 50
    found = snippet(text, "alpha").text
    assert found.startswith(f"{ELLIPSIS} Here is alpha. unbreakable")
    assert found.endswith(f"unbreakable {ELLIPSIS}")
    assert len(found) <= SNIPPET_CHARS + 4


def test_window_begins_with_a_word_and_not_with_what_ends_one() -> None:
    lead = "a super-server, which " * 10
    for shift in range(20):
        found = snippet(lead + "x" * shift + " alpha " + "word " * 80, "alpha").text
        assert found.split()[1] in {"a", "super-server,", "which"}


def test_bigram_alone_is_no_match_of_a_longer_word() -> None:
    assert highlighted(snippet("シャープとハープ", "ハープ")) == ["ハープ"]
    assert highlighted(snippet("日本の話", "日本語")) == ["日本"]


def test_unspaced_text_is_cut_between_characters() -> None:
    text = "漢字ﾃﾞ" * 500
    found = snippet(text, "漢字")
    assert set(found.text) <= set(text + ELLIPSIS + " ")
    assert found.text.startswith("漢字")
    assert not found.text.removesuffix(f" {ELLIPSIS}").endswith("ﾃ")


def test_blocks_become_one_line() -> None:
    """A block that does not end as a sentence does is parted from the next one."""
    assert snippet("One\nalpha.\n\n  two\tthree", "alpha").text == "One · alpha. two three"


def test_without_a_match_the_description_or_the_beginning_is_shown() -> None:
    assert snippet("Text of a page.", "absent", description="What it is.") == Snippet("What it is.", ())
    assert snippet("Text of a page.", "absent") == Snippet("Text of a page.", ())
    assert snippet("Menu. Main.", "absent", main=[(6, 11)]).text == "Main."
    assert snippet("", "absent") == Snippet("", ())


def test_description_is_highlighted_too() -> None:
    """A page can match by its title or its links, with nothing in the body."""
    found = snippet("Body.", "alpha", description="About Alpha.")
    assert highlighted(found) == ["Alpha"]


def test_match_beyond_the_scanned_text_falls_back_to_the_beginning() -> None:
    """J160: the first 65,536 characters are looked at."""
    start = "Begin. " + "x " * (SNIPPET_SCAN_CHARS // 2)
    assert snippet(start + "alpha", "alpha").text.startswith("Begin.")
    assert "alpha" in snippet(start[: SNIPPET_SCAN_CHARS - 8] + " alpha", "alpha").text


def test_first_eight_terms_are_looked_for() -> None:
    """J160."""
    words = [f"w{i}" for i in range(9)]
    found = snippet(" ".join(words), " ".join(words))
    assert highlighted(found) == words[:8]


@given(st.text(alphabet=st.sampled_from("ab é京都ﾃﾞ\n.・-_"), max_size=600), st.sampled_from(["a", "京都", "é b", "ﾃﾞ"]))
def test_highlights_are_ordered_ranges_of_the_snippet(text: str, query: str) -> None:
    found = snippet(text, query, size=40)
    last = 0
    for start, end in found.highlights:
        assert last <= start < end <= len(found.text)
        last = end
    assert len(found.text) <= 40 + 4
    assert "\n" not in found.text
