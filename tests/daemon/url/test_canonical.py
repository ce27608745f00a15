"""URL identity: the URL Standard's parser with the rules of J141-J146 on top."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.errors import InvalidUrlError
from jird_daemon.url.canonical import (
    URL_CHARS_MAX,
    UrlParts,
    canonicalize,
    host_of,
    html_link,
    origin_of,
    parse_href,
    split,
)

BASE = "https://example.org/a/b/c?old=1"


def refusal(text: str, base: str | None = None) -> str:
    with pytest.raises(InvalidUrlError) as caught:
        canonicalize(text, base)
    return caught.value.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.org/a/./b/../c", "https://example.org/a/c"),
        ("https://example.org/a//b///c//", "https://example.org/a//b///c//"),
        ("https://example.org/../../x", "https://example.org/x"),
        ("https://example.org/a/..//b", "https://example.org//b"),
        ("https://example.org/x/%2e%2E/y/%2e", "https://example.org/y/"),
    ],
)
def test_dot_segments_go_and_slashes_stay(text: str, expected: str) -> None:
    """J141, J144."""
    assert canonicalize(text) == expected


def test_query_only_reference_keeps_the_path() -> None:
    """J142."""
    assert canonicalize("?new=2", BASE) == "https://example.org/a/b/c?new=2"


@pytest.mark.parametrize(
    "text", ["mailto:a@b.c", "javascript:alert(1)", "ftp://h.org/", "data:,x", "file:///etc/passwd"]
)
def test_other_schemes_are_refused(text: str) -> None:
    """J143."""
    assert refusal(text, BASE) == "URL_SCHEME"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.org/%7Euser/%41", "https://example.org/~user/A"),
        ("https://example.org/a%2fb", "https://example.org/a%2Fb"),
        ("https://example.org/%c3%bc", "https://example.org/%C3%BC"),
        ("https://example.org/?q=%2d%2b", "https://example.org/?q=-%2B"),
        ("https://example.org/%2541", "https://example.org/%2541"),
        ("https://%65xample.org/", "https://example.org/"),
    ],
)
def test_triplets_of_unreserved_ascii_are_decoded_and_others_kept(text: str, expected: str) -> None:
    """J144, F45: and never decoded twice."""
    assert canonicalize(text) == expected


@pytest.mark.parametrize("text", ["?q=100%", "/p%zz%77%v", "/90%+of", "/%", "/%4"])
def test_malformed_triplets_are_refused(text: str) -> None:
    """J144, F45."""
    assert refusal(text, BASE) == "URL_TRIPLET"


def test_damaged_fragment_does_not_matter() -> None:
    assert canonicalize("/x#100%", BASE) == "https://example.org/x"


def test_encoded_percent_is_not_another_spelling_of_its_text() -> None:
    """F45."""
    assert canonicalize("/%25", BASE) == "https://example.org/%25"
    assert canonicalize("/%252", BASE) == "https://example.org/%252"


@pytest.mark.parametrize(
    "text",
    [" https://example.org/", "https://example.org/ ", "https://example.org/a b", "https://example.org/\t", "/a\nb",
     "https:\\\\evil.com", "/a\\b", "/\x00", "/\x7f", "/\u0085", "/\u00a0", "/\u2003"],
)  # fmt: skip
def test_raw_blanks_controls_and_backslashes_are_refused(text: str) -> None:
    """J145, F49."""
    assert refusal(text, BASE) == "URL_CHARACTER"


def test_identity_ends_at_4096_characters() -> None:
    """J104, J146."""
    longest = "https://example.org/" + "a" * (URL_CHARS_MAX - 20)
    assert canonicalize(longest) == longest
    assert refusal(longest + "a") == "URL_TOO_LONG"
    assert refusal("b" * (URL_CHARS_MAX - 10), BASE) == "URL_TOO_LONG"
    assert refusal("/" + "ü" * 1_000, BASE) == "URL_TOO_LONG"


@pytest.mark.parametrize("text", ["https://user@example.org/", "https://user:secret@example.org/", "https://@@h.org/"])
def test_user_names_and_passwords_are_refused(text: str) -> None:
    assert refusal(text) == "URL_USERINFO"


def test_message_of_a_refused_password_does_not_repeat_it() -> None:
    with pytest.raises(InvalidUrlError) as caught:
        canonicalize("https://user:secret@example.org/")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "text", ["http://[IP-Adresse", "http://www.ghostscript.com]", "//[::1", "http://[http//w.on24.com/r.htm", "http:/",
             "http:////", "https://abc%FEdef.org/", "https://1.2.3.4.5/", "\ud800"],
)  # fmt: skip
def test_what_the_standard_calls_a_failure_is_refused(text: str) -> None:
    """F39, F47, F49."""
    assert refusal(text, None) == "URL_MALFORMED"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://bücher.de", "http://xn--bcher-kva.de/"),
        ("https://faß.de", "https://xn--fa-hia.de/"),
        ("https://☃.net/", "https://xn--n3h.net/"),
        ("https://a_b.example.com", "https://a_b.example.com/"),
        ("HTTPS://EXAMPLE.org:443", "https://example.org/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("https://\uff45xample.org/", "https://example.org/"),
    ],
)
def test_hosts_have_one_ascii_form(text: str, expected: str) -> None:
    """F47, U163."""
    assert canonicalize(text) == expected


@pytest.mark.parametrize("host", ["h.", "a..b", "a" * 64 + ".com", "-a.org", "a!b.org", ".".join(["a" * 60] * 5)])
def test_hosts_that_dns_cannot_carry_are_refused(host: str) -> None:
    """F47."""
    assert refusal(f"https://{host}/") == "URL_HOST"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" \n a.html \t", "https://example.org/a/b/a.html"),
        ("a b.pdf", "https://example.org/a/b/a%20b.pdf"),
        ("?q=a b", "https://example.org/a/b/c?q=a%20b"),
        ("\u00a0x", "https://example.org/a/b/%C2%A0x"),
        ("?x[y]=1", "https://example.org/a/b/c?x[y]=1"),
        ("{{stuff}}", "https://example.org/a/b/%7B%7Bstuff%7D%7D"),
        ("", BASE),
        ("#top", BASE),
    ],
)
def test_link_in_a_document_is_trimmed_and_encoded_first(text: str, expected: str) -> None:
    """J145 with DESIGN's rule for HTML; F49."""
    assert html_link(text, BASE) == expected


@pytest.mark.parametrize("text", ["a\nb", "a\tb", "a\\b", "\\\\evil.com", "a\x00b"])
def test_link_in_a_document_with_controls_or_backslashes_inside_is_refused(text: str) -> None:
    """J145, F49."""
    with pytest.raises(InvalidUrlError):
        html_link(text, BASE)


def test_query_of_a_link_is_encoded_as_its_document_is() -> None:
    assert html_link("/п?q=привет☃", BASE, "windows-1251") == (
        "https://example.org/%D0%BF?q=%EF%F0%E8%E2%E5%F2%26%239731%3B"
    )
    assert html_link("?q=ü", BASE, "utf-16-le") == "https://example.org/a/b/c?q=%C3%BC"


def test_ten_megabytes_of_href_cost_no_time() -> None:
    """F51."""
    before = time.process_time()
    for text in ("%" * 10_000_000, " " * 10_000_000 + "x", "a/../" * 2_000_000):
        with pytest.raises(InvalidUrlError):
            canonicalize(text, BASE)
    with pytest.raises(InvalidUrlError):
        html_link("x" * 10_000_000, BASE)
    assert time.process_time() - before < 0.5


@pytest.mark.parametrize(
    "url", ["https://example.org/", "http://example.org:8080/a?b=//c", "https://[2001:db8::1]:8443/x"]
)
def test_host_alone_is_the_one_among_the_parts(url: str) -> None:
    assert host_of(url) == split(url).host


def test_split_gives_the_parts_of_a_canonical_url() -> None:
    """U163, U164."""
    assert split("https://example.org:8443/a/b?c=/d?e") == UrlParts(
        "https", "example.org", 8443, "/a/b", "c=/d?e", "/a/b?c=/d?e"
    )
    assert split("http://example.org/?") == UrlParts("http", "example.org", 80, "/", "", "/?")
    assert split("https://[2001:db8::1]/").host == "[2001:db8::1]"
    assert split("https://[2001:db8::1]:8443/").port == 8443


def test_origin_is_scheme_host_and_port() -> None:
    """F13, U164."""
    texts = ["https://h.org/a", "https://h.org:443/b", "http://h.org/", "http://h.org:8080/", "https://h.org:8080/?x/y"]
    origins = {origin_of(canonicalize(text)) for text in texts}
    assert origins == {"https://h.org", "http://h.org", "http://h.org:8080", "https://h.org:8080"}
    assert split("https://h.org:8080/x").origin == "https://h.org:8080"
    assert split("https://h.org/x").origin == "https://h.org"


def test_standard_parser_is_reachable_without_our_rules() -> None:
    assert parse_href(" mailto:a b ") == "mailto:a b"


@given(st.text(max_size=60), st.sampled_from([None, BASE, "http://h.org:8080/x//y/"]))
def test_any_text_is_refused_or_has_a_stable_identity(text: str, base: str | None) -> None:
    """J144, J146: canonical strings are their own identity."""
    try:
        url = canonicalize(text, base)
    except InvalidUrlError:
        return
    assert canonicalize(url) == url
    assert url.isascii()
    assert len(url) <= URL_CHARS_MAX
    parts = split(url)
    assert f"{parts.origin}{parts.path_query}" == url
