"""F117: URLs are readable, and cannot pretend to be others."""

import json

import pytest

from jird_client.text import json_text, plain, readable_url, size


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://docs.test/b%C3%BCcher", "https://docs.test/bücher"),
        ("https://docs.test/%E6%97%A5%E6%9C%AC?q=%D1%8F", "https://docs.test/日本?q=я"),
        ("https://docs.test/a%20b", "https://docs.test/a%20b"),
        ("https://docs.test/a%2Fb%3Fc%23d%25", "https://docs.test/a%2Fb%3Fc%23d%25"),
        ("https://docs.test/%FF%FE", "https://docs.test/%FF%FE"),
        ("https://docs.test/%E2%80%AEgpj.exe", "https://docs.test/%E2%80%AEgpj.exe"),  # right-to-left override
        ("https://docs.test/a%E2%80%8Bb", "https://docs.test/a%E2%80%8Bb"),  # zero-width space
        ("https://docs.test/\u202egpj.exe", "https://docs.test/%E2%80%AEgpj.exe"),
        ("https://docs.test/%00%0A", "https://docs.test/%00%0A"),
        ("https://xn--80ak6aa92e.test/", "https://xn--80ak6aa92e.test/"),  # look-alike hosts stay ASCII
        ("https://docs.test/%e3%85%a4", "https://docs.test/%E3%85%A4"),  # Hangul filler looks like nothing
    ],
)
def test_url_is_decoded_only_where_that_is_safe(url: str, shown: str) -> None:
    """F117."""
    assert readable_url(url) == shown


def test_control_and_direction_characters_leave_the_text() -> None:
    assert plain("a\x1b[31mb\u202ec\nd") == "a [31mb c d"


def test_joiners_of_persian_and_emoji_stay() -> None:
    text = "می\u200cخو 👩\u200d🔬"
    assert plain(text) == text


def test_sizes_have_units() -> None:
    assert [size(number) for number in (999, 5_120, 52_428_800)] == ["999 B", "5.1 kB", "52.4 MB"]


@pytest.mark.parametrize("indent", [None, 2])
def test_json_shows_letters_and_escapes_what_a_terminal_would_obey(indent: int | None) -> None:
    """As for words: U+009B is as good as an escape sequence to some terminals."""
    value = {"title": "b\u00fccher \x1b[31m \x9b5n \u202e \u2028 \U000e0041"}
    text = json_text(value, indent)
    assert "bücher" in text
    assert not {*"\x1b\x9b\u202e\u2028\U000e0041"} & set(text)
    assert json.loads(text) == value
