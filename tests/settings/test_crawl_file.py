"""Crawl files and policy files, and how their faults are told (U5, U106-U118)."""

from pathlib import Path

import pytest

from jird_settings import SettingsError
from jird_settings.crawl_file import read_crawl_file, read_policy_files

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "crawl.toml"
POLICY = """
[[do_not_crawl]]
reason = "the issue tracker"
if.and = [
    { url.host.equals = "h.example" },
    { url.path.has_prefix = "/issues" },
]
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_six_keys_are_enough(tmp_path: Path) -> None:
    """U5, U108, U109, U110, U111, U112."""
    found = read_crawl_file(
        write(
            tmp_path / "crawl.toml",
            'name = "x"\ndefault_delay_ms = 1000\nmax_commands_per_run = 100\nrecrawl_interval = "1 week"\n'
            'user_agent = "x-crawler (for https://x.example)"\nseeds = ["https://h.example/"]\n',
        )
    )
    assert (found.name, found.default_delay_ms, found.max_commands_per_run) == ("x", 1_000, 100)
    assert (found.recrawl_interval, found.user_agent) == (604_800, "x-crawler (for https://x.example)")
    assert (found.seeds, found.do_not_crawl, found.query_urls) == (("https://h.example/",), (), None)


def test_the_example_is_one() -> None:
    """U106, U113, U114."""
    found = read_crawl_file(EXAMPLE)
    assert found.description
    assert found.do_not_crawl[0].reason == "The issue tracker is not documentation"
    assert [policy.allow for policy in found.url_query_parameters] == [("page",)]


def test_the_misspelling_of_other_crawlers_is_an_alias(tmp_path: Path) -> None:
    """U114: url_query_paramters; both may stand in one file."""
    both = "".join(f'[[url_query_{word}]]\nallow = ["{word}"]\nif = "always"\n' for word in ("paramters", "parameters"))
    found = read_crawl_file(write(tmp_path / "c.toml", both))
    assert sorted(policy.allow[0] for policy in found.url_query_parameters) == ["parameters", "paramters"]


def test_policy_files_add_policies(tmp_path: Path) -> None:
    """U118: named by the file, relative to it, or on the command line; a crawl file may serve as one."""
    (tmp_path / "shared").mkdir()
    write(tmp_path / "shared" / "a.toml", POLICY)
    other = write(tmp_path / "b.toml", POLICY.replace("the issue tracker", "again") + 'name = "n"\n'.join([""]))
    path = write(tmp_path / "c.toml", 'policy_files = ["shared/a.toml"]\n' + POLICY.replace("the issue", "own"))
    found = read_crawl_file(path, (other,))
    assert [policy.reason for policy in found.do_not_crawl] == ["own tracker", "the issue tracker", "again"]
    assert read_policy_files((other,)).do_not_crawl[0].reason == "again"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", ":1: x is an unknown table or key"),
        ("\nmax_commands_per_run = -1\n", ":2: max_commands_per_run is -1; it must be 0 to 10000000"),
        ('recrawl_interval = "4 moons"', ":1: recrawl_interval is '4 moons'; it must be \"never\", or a time such as"),
        ("seeds = []", ":1: seeds is []; it must be a list of 1 to 1000"),
        ("seeds = ['a b']", "each a URL of at most 4096 characters"),
        ('user_agent = "a\\nb"', "user_agent is 'a\\nb'; it must be 1 to 200 printable"),
        (POLICY.replace("has_prefix", "has_prefx"), ":4: do_not_crawl[1].if.and[2].url.path.has_prefx is no string"),
        ('[[do_not_crawl]]\nreason = "r"\n', ":1: do_not_crawl[1] has no if"),
        ('[[do_not_crawl]]\nif = "always"\nallow = []', ":3: do_not_crawl.allow is an unknown key"),
        ('[[url_query_paramters]]\nif = "always"', ":1: url_query_paramters[1] has no allow"),
        ('[[url_query_parameters]]\nif = "always"\nallow = [1]', ":3: url_query_parameters[1].allow is [1]"),
        ('[[do_not_crawl]]\nif = "always"\nreason = 3', ":3: do_not_crawl[1].reason is 3"),
        ("do_not_crawl = 3", ":1: do_not_crawl is 3; it must be [[do_not_crawl]] tables"),
        ('policy_files = ["none.toml"]', "none.toml: cannot be read"),
        ("name = ", "is not valid TOML"),
    ],
)
def test_faults_are_told_with_file_line_key_value_and_range(tmp_path: Path, text: str, words: str) -> None:
    """U106-U118."""
    path = write(tmp_path / "crawl.toml", text)
    with pytest.raises(SettingsError) as caught:
        read_crawl_file(path)
    message = str(caught.value)
    assert words in message
    assert message.startswith(str(tmp_path))
    assert "\n" not in message
