"""robots.txt by RFC 9309, with the limits of J109-J119."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.url.robots import (
    BODY_BYTES_MAX,
    GROUP_AGENTS_MAX,
    LINE_CHARS_MAX,
    RULES_MAX,
    RobotsPolicy,
)


def is_allowed(text: str | bytes, path: str, agent: str = "jird") -> bool:
    return RobotsPolicy.parse(text.encode() if isinstance(text, str) else text).is_allowed(agent, path)


def test_longest_match_wins_and_allow_wins_a_tie() -> None:
    """J109. RFC 9309 section 2.2.2."""
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\nDisallow: /tie\nAllow: /tie\n"
    assert not is_allowed(text, "/a/x")
    assert is_allowed(text, "/a/b/x")
    assert not is_allowed(text, "/a/b/c")
    assert is_allowed(text, "/tie/x")


def test_wildcard_rule_competes_by_its_length() -> None:
    """J109."""
    text = "User-agent: *\nDisallow: /*.php\nAllow: /page\nDisallow: /x/*/y\nAllow: /x/longer/y\n"
    assert not is_allowed(text, "/page.php")
    assert not is_allowed(text, "/x/a/y")
    assert is_allowed(text, "/x/longer/y")


def test_groups_of_the_same_agent_are_merged() -> None:
    """J110, F9."""
    text = "User-agent: JIRD\nDisallow: /a\n\nUser-agent: other\nDisallow: /\n\nUser-agent: jird/2.0\nDisallow: /b\n"
    assert not is_allowed(text, "/a")
    assert not is_allowed(text, "/b")
    assert is_allowed(text, "/c")


def test_star_group_counts_only_without_an_own_group() -> None:
    """J110."""
    text = "User-agent: *\nDisallow: /\n\nUser-agent: jird\nDisallow:\n"
    assert is_allowed(text, "/x")
    assert not is_allowed(text, "/x", "other")
    assert not is_allowed(text, "/x", "jird-images")
    assert is_allowed(text, "/x", "Jird/1.0")


def test_blank_and_unknown_lines_do_not_end_a_group() -> None:
    """J110. RFC 9309 section 2.2.4."""
    text = "User-agent: jird\n\n# note\nNoise: 1\nSitemap: https://h/s\n\nUser-agent: b\nDisallow: /x\n\nDisallow: /y\n"
    for agent in ("jird", "b"):
        assert not is_allowed(text, "/x", agent)
        assert not is_allowed(text, "/y", agent)


def test_rules_before_any_agent_are_ignored() -> None:
    assert is_allowed("Disallow: /\nUser-agent: *\nDisallow: /x", "/y")


def test_empty_disallow_is_no_rule_and_wipes_none() -> None:
    """F3."""
    assert is_allowed("User-agent: *\nDisallow:", "/x")
    assert not is_allowed("User-agent: *\nDisallow: /x\nDisallow:", "/x")
    assert is_allowed("User-agent: *\nDisallow:\nUser-agent: b\nDisallow: /", "/x")


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%e3%83%84", "/foo/bar/ツ", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar", True),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3a%2f%2ffoo.bar", True),
        ("/a%2Fb", "/a/b", False),
        ("/*%2F*", "/a%2fb", True),
        ("/*%2F*", "/a/b", False),
        ("/%24", "/%24", True),
        ("/%24", "/$", True),
        ("/%24", "/", False),
        ("/search/%2A/", "/search/*/", True),
        ("/search/%2A/", "/search/%2a/", True),
        ("/search/%2A/", "/search/x/", False),
        ("/a b{c}", "/a%20b%7Bc%7D", True),
        ("/a$b", "/a%24b", True),
        ("/100%", "/100%25", True),
    ],
)
def test_escapes_are_compared_in_one_form(rule: str, path: str, matches: bool) -> None:
    """J114, J115, F7. RFC 9309 section 2.2.2 and the special characters of 2.2.3."""
    assert is_allowed(f"User-agent: *\nDisallow: {rule}", path) is not matches


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ("/fish*", "/fishheads/yummy", True),
        ("*.php", "/a/b.php?x", True),
        ("/*.php$", "/a/b.php", True),
        ("/*.php$", "/a/b.php?x", False),
        ("/*.php$", "/a.php/b.php", True),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/a*b*c", "/a-c-b", False),
        ("/a**b", "/axb", True),
        ("/ab*ab$", "/ab", False),
        ("/ab*ab$", "/abab", True),
        ("*", "/", True),
        ("/*", "/", True),
    ],
)
def test_wildcards_and_the_end_mark(rule: str, path: str, matches: bool) -> None:
    """J109. RFC 9309 section 2.2.3."""
    assert is_allowed(f"User-agent: *\nDisallow: {rule}", path) is not matches


def slow_match(pattern: str, path: str) -> bool:
    """Match by definition: every way to place each wildcard."""
    anchored, pattern = pattern.endswith("$"), pattern.removesuffix("$")
    ends = {0}
    for char in pattern:
        if char == "*":
            ends = {end for start in ends for end in range(start, len(path) + 1)}
        else:
            ends = {end + 1 for end in ends if path[end : end + 1] == char}
    return len(path) in ends if anchored else bool(ends)


@given(st.from_regex(r"/[ab*]{0,8}\$?", fullmatch=True), st.from_regex(r"/[ab]{0,10}", fullmatch=True))
def test_matching_equals_the_definition(pattern: str, path: str) -> None:
    """J109, J113."""
    assert is_allowed(f"User-agent: *\nDisallow: {pattern}", path) is not slow_match(pattern, path)


def test_pathological_wildcards_cost_linear_time() -> None:
    """J113."""
    policy = RobotsPolicy.parse(b"User-agent: *\n" + b"Disallow: /" + b"*a" * 4_000 + b"b$\n")
    before = time.process_time()
    for _ in range(10):
        assert policy.is_allowed("jird", "/" + "a" * 4_000)
    assert time.process_time() - before < 0.5


def test_latin1_comment_does_not_hide_the_rules_below() -> None:
    """F5."""
    assert not is_allowed(b"# caf\xe9\nUser-agent: *\nDisallow: /x\n", "/x")
    assert not is_allowed(b"User-agent: *\nDisallow: /caf\xe9\n", "/caf%E9")


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_lines_end_at_cr_lf_and_crlf(end: str) -> None:
    """F11."""
    assert not is_allowed(end.join(["User-agent: *", "Disallow: /x", "Disallow: /y"]), "/y")


def test_next_line_character_ends_no_line() -> None:
    """F11."""
    assert is_allowed("User-agent: *\nDisallow: /x\u0085Disallow: /y", "/y")


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_byte_order_mark_is_skipped(mark: bytes) -> None:
    assert not is_allowed(mark + b"User-agent: *\nDisallow: /x\n", "/x")


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0.5", 0.5), ("86400", 86400.0), ("10 # seconds", 10.0), ("-1", None), ("abc", None), ("nan", None), ("", None),
     ("1e9", None), ("9" * 400, None)],
)  # fmt: skip
def test_crawl_delay_takes_fractions_and_ignores_garbage(value: str, expected: float | None) -> None:
    """F15."""
    assert RobotsPolicy.parse(f"User-agent: *\nCrawl-delay: {value}".encode()).crawl_delay("jird") == expected


def test_crawl_delay_of_another_group_does_not_leak() -> None:
    """F9."""
    apart = RobotsPolicy.parse(b"User-agent: *\nCrawl-delay: 60\n\nUser-agent: jird\nDisallow: /x\n")
    assert apart.crawl_delay("jird") is None
    assert apart.crawl_delay("other") == 60
    assert not apart.is_allowed("jird", "/x")


def test_sitemap_lines_belong_to_no_group() -> None:
    policy = RobotsPolicy.parse(
        b"Sitemap: https://h.org/a.xml\nUser-agent: x\nsitemap:https://h.org/b.xml\nDisallow: /"
    )
    assert policy.sitemaps == ("https://h.org/a.xml", "https://h.org/b.xml")


def test_sitemap_lines_over_the_line_limit_are_ignored() -> None:
    """J121."""
    policy = RobotsPolicy.parse(
        b"Sitemap: https://h.org/a" + b" " * 8_192 + b"#b\nSitemap: https://h.org/c" + b"d" * 8_192
    )
    assert policy.sitemaps == ("https://h.org/a",)


def test_sitemap_above_4096_characters_is_left_out() -> None:
    """J146."""
    assert RobotsPolicy.parse(b"Sitemap: https://h.org/" + b"a" * 4_096).sitemaps == ()


def test_robots_txt_itself_is_always_allowed() -> None:
    assert is_allowed("User-agent: *\nDisallow: /", "/robots.txt")


def test_limits_on_rules_agents_lines_and_bytes() -> None:
    """J116, J118."""
    rules = "".join(f"Disallow: /{number}/\n" for number in range(RULES_MAX + 1))
    policy = RobotsPolicy.parse(f"User-agent: *\n{rules}".encode())
    assert policy.rule_count == RULES_MAX
    assert policy.is_truncated
    assert not policy.is_allowed("jird", f"/{RULES_MAX - 1}/")
    assert policy.is_allowed("jird", f"/{RULES_MAX}/")
    agents = "".join(f"User-agent: a{number}\n" for number in range(GROUP_AGENTS_MAX + 1))
    many = RobotsPolicy.parse(f"{agents}Disallow: /\n".encode())
    assert not many.is_allowed(f"a{GROUP_AGENTS_MAX - 1}", "/x")
    assert many.is_allowed(f"a{GROUP_AGENTS_MAX}", "/x")
    long = RobotsPolicy.parse(b"User-agent: *\nDisallow: /" + b"a" * LINE_CHARS_MAX + b"\nDisallow: /x\n")
    assert long.rule_count == 1
    assert not long.is_allowed("jird", "/x")
    start = b"User-agent: *\nDisallow: /x\n"
    cut = start + b"#" * (BODY_BYTES_MAX - len(start) - 12) + b"\nDisallow: /yes\nDisallow: /z\n"
    policy = RobotsPolicy.parse(cut)
    assert policy.is_truncated
    assert not policy.is_allowed("jird", "/x")
    assert policy.is_allowed("jird", "/yes")  # no half rule, which would have been "/"
    assert policy.is_allowed("jird", "/z")


def test_rule_that_decides_can_be_named() -> None:
    rule = RobotsPolicy.parse(b"User-agent: *\nAllow: /\nDisallow: /x*y\n").find_rule("jird", "/x-y")
    assert rule is not None
    assert (rule.pattern, rule.line, rule.is_allow) == ("/x*y", 3, False)


@pytest.mark.parametrize("line", ["Disalow: /x", "disallow /x", "DISALLOW\t:\t/x", "disallow:/x"])
def test_common_misspellings_forbid_what_their_owner_meant(line: str) -> None:
    assert not is_allowed(f"User-agent: *\n{line}\n", "/x")


@given(st.binary(max_size=300), st.text(max_size=20))
def test_any_bytes_and_any_path_are_survived(body: bytes, path: str) -> None:
    """F5."""
    assert RobotsPolicy.parse(body).is_allowed("jird", path) in (True, False)
